// Stretches of a chunk: where the quote stands in a block. No page is needed here.
import { locate } from "../passage.js";

const hasLongPoints = (text) => /[\u{10000}-\u{10FFFF}]/u.test(text);

/** The API counts code points, strings count UTF-16 units: `[start, end]` of the one in the other. */
export function unitsOf(text, [start, end]) {
  if (!hasLongPoints(text)) return [start, end];
  const points = Array.from(text);
  const from = points.slice(0, start).join("").length;
  return [from, from + points.slice(start, end).join("").length];
}

export function pointsOf(text, [start, end]) {
  if (!hasLongPoints(text)) return [start, end];
  const from = Array.from(text.slice(0, start)).length;
  return [from, from + Array.from(text.slice(start, end)).length];
}

/** `[start, end]` of a quote in a chunk's text, in code points; the offsets that the answer gives, or found by its words. */
export function quotedRange(text, { quoteText, quoteRange }) {
  if (!quoteText) return null;
  if (quoteRange) {
    const [start, end] = unitsOf(text, quoteRange);
    if (text.slice(start, end) === quoteText) return quoteRange;
  }
  const found = locate(text, quoteText);
  return found && pointsOf(text, found);
}

/** The pieces of a text: `[{text, isQuoted}]`. */
export function piecesOf(text, start, quote) {
  const quoted = quote ? unitsOf(text, [Math.max(0, quote[0] - start), Math.max(0, quote[1] - start)]) : [0, 0];
  const edges = [0, ...quoted, text.length].map((at) => Math.min(at, text.length));
  const cuts = [...new Set(edges)].sort((a, b) => a - b);
  return cuts.slice(1).map((to, at) => ({ text: text.slice(cuts[at], to), isQuoted: quoted[0] <= cuts[at] && to <= quoted[1] }));
}

/** All `[start, end]` (UTF-16 units) where `query` stands in a text, upper and lower case alike. */
export function matchesIn(text, query) {
  const [hay, needle] = sameLength(text, query);
  const found = [];
  for (let at = hay.indexOf(needle); at >= 0; at = hay.indexOf(needle, at + needle.length)) found.push([at, at + needle.length]);
  return found;
}

/** Some letters are longer in lower case; positions must stay. */
function sameLength(text, query) {
  const lower = text.toLowerCase();
  return lower.length === text.length ? [lower, query.toLowerCase()] : [text, query];
}

/** A column's letters: 1 is A, 27 is AA. */
export function columnName(number) {
  let letters = "";
  for (let left = number; left > 0; left = Math.floor((left - 1) / 26)) letters = String.fromCharCode(65 + ((left - 1) % 26)) + letters;
  return letters;
}
