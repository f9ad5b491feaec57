// Web pages into the workspace by their addresses: one or several, typed or pasted.

/**
 * What a text holds: `{addresses, refused}`. Addresses are complete with their scheme and without repetitions; refused
 * are the parts that are none. A part ends with its line, or where the next `http://` or `https://` begins.
 */
export function addressesIn(text) {
  const parts = text.split(/[\r\n]+|[\s,;]+(?=https?:\/\/)/i).map((part) => part.replace(/^[\s,;]+|[\s,;]+$/g, "")).filter(Boolean);
  const addresses = parts.map(addressOf);
  return {
    addresses: [...new Set(addresses.filter(Boolean))],
    refused: parts.filter((_, index) => !addresses[index]),
  };
}

/** The address that a part stands for, or null: "example.org/page" is one, "a word" and "ftp://…" are none. */
function addressOf(part) {
  if (/\s/.test(part)) return null;
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(part) ? part : `https://${part}`;
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return null;
  return /[.:]/.test(new URL(address).host) ? address : null;
}
