// The box for questions: it grows with its text, says how much room is left, and keeps a draft in this tab.
import { parts as partsOf } from "./dom.js";
import { recallDraft, rememberDraft } from "./draft.js";
import { lengthOfQuestion } from "./question-length.js";

export class Composer {
  #parts;

  /** `onSubmit(content)` gets a question that fits, `onStop()` is called by the button in the place of “Ask”. */
  constructor(page, { onSubmit, onStop }) {
    this.#parts = partsOf(page);
    const { composer, question, stop } = this.#parts;
    composer.addEventListener("submit", (event) => {
      event.preventDefault();
      const content = question.value.trim();
      if (content && this.#showLength()) onSubmit(content);
    });
    question.addEventListener("keydown", (event) => this.#key(event));
    question.addEventListener("input", () => this.#typed());
    stop.addEventListener("click", onStop);
    openWhileWriting(composer, question);
  }

  get text() {
    return this.#parts.question.value;
  }

  set text(text) {
    this.#parts.question.value = text;
    this.#typed();
  }

  /** Begin with what the page was opened with, else with the draft. */
  start() {
    this.text ||= recallDraft();
  }

  /** Put the cursor behind the last word. */
  focus(how) {
    const { question } = this.#parts;
    question.focus(how);
    question.setSelectionRange(question.value.length, question.value.length);
  }

  /** Offer to stop what is running, or to ask. */
  setRunning(isRunning) {
    const { ask, stop, question } = this.#parts;
    const hadFocus = document.activeElement === stop;
    ask.hidden = isRunning;
    stop.hidden = !isRunning;
    // The button that was pressed is gone: the next thing to do is to ask.
    if (hadFocus) question.focus();
  }

  #key(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.#parts.composer.requestSubmit();
  }

  #typed() {
    const { question } = this.#parts;
    rememberDraft(question.value);
    question.style.height = "auto";
    question.style.height = `${question.scrollHeight}px`;
    this.#showLength();
  }

  /** Say how much room is left; returns whether the question fits. */
  #showLength() {
    const { question, length } = this.#parts;
    const { fits, words } = lengthOfQuestion(question.value);
    length.textContent = words;
    length.classList.toggle("is-over", !fits);
    question.setAttribute("aria-invalid", String(!fits));
    return fits;
  }
}

/** On a phone the box is one row until one writes in it; it stays open while its buttons are used. */
function openWhileWriting(composer, question) {
  const setOpen = (isOpen) => composer.classList.toggle("is-writing", isOpen);
  // What one of its buttons has opened belongs to it: the choice is read in the box.
  const belongs = (node) => composer.contains(node) || node.closest("dialog:modal") !== null;
  // Whoever taps the words of a switch gives the focus to what is around the box.
  const isOutside = (node) => node !== null && !belongs(node) && !node.contains(composer);
  question.addEventListener("focus", () => setOpen(true));
  composer.addEventListener("focusout", ({ relatedTarget }) => isOutside(relatedTarget) && setOpen(false));
  document.addEventListener("pointerdown", ({ target }) => belongs(target) || setOpen(false));
}
