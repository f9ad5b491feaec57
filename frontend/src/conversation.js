// The conversation of a page: none at first, begun by the first question or file.
import { post } from "./api.js";

export class Conversation {
  /** As the API has it, or null. */
  session = null;
  #first;
  #onBegun;
  #beginning = null;

  /** `first()` returns what a new one begins with, `onBegun(session)` is called when it has begun. */
  constructor({ first, onBegun }) {
    this.#first = first;
    this.#onBegun = onBegun;
  }

  /** Another member's, which is shared. */
  get isReadOnly() {
    return this.session?.is_own === false;
  }

  /** The session, begun if there is none; also if several ask at once. */
  async ensure() {
    if (this.session) return this.session;
    this.#beginning ??= post("/sessions", this.#first());
    try {
      const session = await this.#beginning;
      if (!this.session) {
        this.session = session;
        this.#onBegun(session);
      }
      return session;
    } finally {
      this.#beginning = null;
    }
  }
}
