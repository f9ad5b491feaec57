// The questions and answers of a conversation, one branch at a time.
import { createAnswer } from "./answer.js";
import { branchSwitch } from "./branch-switch.js";
import { CHAT, newExecution } from "./execution.js";
import { t } from "./texts.js";
import { siblingsOf } from "./thread-tree.js";
import { statesOf } from "./thread-messages.js";

export class Thread {
  /** Every message that is known, of all branches. */
  messages = [];
  #page;
  #container;
  #handlersOf;
  #onBranch;
  /** What is shown, in order: `{message, view, states, index}`; `states` are the answers to the message. */
  #turns = [];

  /** `handlersOf(entry)` returns what `createAnswer` takes; `onBranch(message)` is called when another branch is chosen. */
  constructor(page, container, { handlersOf, onBranch }) {
    this.#page = page;
    this.#container = container;
    this.#handlersOf = handlersOf;
    this.#onBranch = onBranch;
  }

  get size() {
    return this.#turns.length;
  }

  get first() {
    return this.#turns[0] ?? null;
  }

  get last() {
    return this.#turns.at(-1) ?? null;
  }

  /** The last message that the server has. */
  get lastMessage() {
    return this.#turns.findLast(({ message }) => message.id)?.message ?? null;
  }

  /** What a citation's button stands for, or undefined. */
  citedBy(chip) {
    return this.#turns.find(({ view }) => view.element.contains(chip))?.view.citedBy(chip);
  }

  /** Show these messages with their answers. */
  show(path) {
    this.cut(0);
    for (const message of path) this.add(message, statesOf(message));
  }

  /** Take turns off the page from a position on. */
  cut(at) {
    for (const { view } of this.#turns.splice(at)) view.element.remove();
  }

  /** Take off what follows a message; all turns, if it is null. */
  cutAfter(parentId) {
    this.cut(parentId ? this.#turns.findIndex(({ message }) => message.id === parentId) + 1 : 0);
  }

  add(message, states) {
    // A question whose run never began has no answer.
    const known = states.length ? states : [{ ...newExecution(CHAT, { query: message.content ?? "" }), status: "cancelled" }];
    // Whoever comes back to this branch finds what was answered since the page was loaded.
    message.states = known;
    const entry = { message, states: known, index: known.length - 1, view: null };
    entry.view = createAnswer(known.at(-1), this.#handlersOf(entry));
    this.#turns.push(entry);
    this.#page.classList.remove("is-empty");
    this.#container.append(entry.view.element);
    this.showBranches();
    document.title = `${this.first.message.content || t("Conversation")} · Locus`;
    return entry;
  }

  /** The newest answer of a turn has changed. */
  changed(entry, state) {
    entry.states[entry.states.length - 1] = state;
    if (entry.index === entry.states.length - 1) entry.view.update(state);
  }

  showVersion(entry, index) {
    entry.index = index;
    entry.view.show(entry.states[index]);
    this.showBranches();
  }

  showBranches() {
    for (const entry of this.#turns) {
      const { message, states, index } = entry;
      const siblings = message.id ? siblingsOf(this.messages, message) : [];
      entry.view.setBranches({
        question: branchSwitch({ index: siblings.indexOf(message), count: siblings.length, noun: "question", onChoose: (at) => this.#onBranch(siblings[at]) }),
        answer: branchSwitch({ index, count: states.length, noun: "answer", onChoose: (at) => this.showVersion(entry, at) }),
      });
    }
  }

  /** Bring a message to the top, and give the focus to the buttons by which one came to it. */
  goTo(id) {
    const { element } = this.#turns.find(({ message }) => message.id === id).view;
    element.scrollIntoView({ block: "start" });
    element.querySelector(".branch button:not(:disabled)")?.focus({ preventScroll: true });
  }
}
