// Which words of a passage are those of the question. The index knows better; this is for the eye.
const WORD = /[\p{L}\p{N}]+/gu;
/** Shorter words are mostly “who”, “can” and the like; numbers and abbreviations are not. */
const SHORTEST = 4;
const TELLING = /\p{N}|^\p{Lu}{2,}$/u;

/** `[{text, isMatch}]`: the pieces of a text; a word matches if it begins as one of the query's words does. */
export function matchedPieces(text, query) {
  const roots = [...query.matchAll(WORD)].map(([word]) => word).filter((word) => word.length >= SHORTEST || TELLING.test(word)).map((word) => rootOf(word.toLowerCase()));
  const pieces = [];
  let at = 0;
  for (const { 0: word, index } of text.matchAll(WORD)) {
    const folded = word.toLowerCase();
    if (!roots.some((root) => folded.startsWith(root) && folded.length <= root.length + 4)) continue;
    if (index > at) pieces.push({ text: text.slice(at, index), isMatch: false });
    pieces.push({ text: word, isMatch: true });
    at = index + word.length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), isMatch: false });
  return pieces;
}

/** "reports" and "reporting" begin with "report"; short words are taken as they are. */
const rootOf = (word) => (word.length > 5 ? word.replace(/(ings?|ed|es|s)$/u, "") : word);
