// How long a question may be. Pure.

const MOST = 2000;
/** From here on the reader is told how much room is left. */
const NEAR = 1800;

/** `{fits, words}` for a question; `words` is "" while there is plenty of room. */
export function lengthOfQuestion(text) {
  // The server counts code points, not the halves of pairs that JavaScript counts.
  const length = [...text.trim()].length;
  const count = `${length.toLocaleString("en")} of ${MOST.toLocaleString("en")} characters`;
  if (length > MOST) return { fits: false, words: `${count}: shorten the question by ${(length - MOST).toLocaleString("en")}.` };
  return { fits: true, words: length > NEAR ? count : "" };
}
