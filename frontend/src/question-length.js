// How long a question may be. Pure.
import { FORMATS } from "./locale.js";
import { t } from "./texts.js";

const MOST = 2000;
/** From here on the reader is told how much room is left. */
const NEAR = 1800;

/** `{fits, words}` for a question; `words` is "" while there is plenty of room. */
export function lengthOfQuestion(text) {
  // The server counts code points, not the halves of pairs that JavaScript counts.
  const length = [...text.trim()].length;
  const count = t("{length} of {most} characters", { length: length.toLocaleString(FORMATS), most: MOST.toLocaleString(FORMATS) });
  if (length > MOST) return { fits: false, words: t("{count}: shorten the question by {number}.", { count, number: (length - MOST).toLocaleString(FORMATS) }) };
  return { fits: true, words: length > NEAR ? count : "" };
}
