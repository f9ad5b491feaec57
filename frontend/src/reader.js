// Tells screen readers how the answer comes along: each step, then each finished sentence.
import { announce } from "./dom.js";
import { COMPLETED, isOver } from "./execution.js";
import { withoutCitations } from "./citations.js";
import { progressSteps } from "./progress.js";
import { t, tPlural } from "./texts.js";

export class Reader {
  #said = "";
  #read = 0;

  follow(state) {
    if (state.status === COMPLETED) return this.#say(closing(state.result));
    if (isOver(state)) return undefined; // The alert in the page says it.
    if (!state.text) return this.#say(progressSteps(state).join(", "));
    const end = Math.max(...[". ", "! ", "? ", "\n"].map((mark) => state.text.lastIndexOf(mark))) + 1;
    if (end <= this.#read) return undefined;
    this.#say(withoutCitations(state.text.slice(this.#read, end)).trim());
    this.#read = end;
    return undefined;
  }

  #say(words) {
    if (words && words !== this.#said) announce(words);
    this.#said = words;
  }
}

function closing({ sources_used: used = [] }) {
  return used.length ? tPlural("Answer complete, {count} source cited.", "Answer complete, {count} sources cited.", { count: used.length }) : t("Answer complete, no source cited.");
}
