// Web pages into the workspace by their addresses: one or several, typed or pasted.

/** The addresses in a text, complete with their scheme, without repetitions. */
export function addressesIn(text) {
  const words = text.split(/[\s,]+/).filter(Boolean);
  return [...new Set(words.map((word) => (/^[a-z][a-z0-9+.-]*:\/\//i.test(word) ? word : `https://${word}`)))];
}
