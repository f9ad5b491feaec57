// Finding a quote in a chunk's text. Line breaks may differ between the two, so white space is one and the same.

/** `[start, end]` of `quote` in `text`, or null. */
export function locate(text, quote) {
  const words = quote?.trim().split(/\s+/).filter(Boolean) ?? [];
  if (!words.length) return null;
  const match = new RegExp(words.map(escaped).join("\\s+"), "u").exec(text);
  return match && [match.index, match.index + match[0].length];
}

const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\\/]/g, "\\$&");

/** The text before, in and after the quote; everything is "before" if the quote isn't there. */
export function split(text, quote) {
  const place = locate(text, quote);
  if (!place) return [text, "", ""];
  return [text.slice(0, place[0]), text.slice(...place), text.slice(place[1])];
}
