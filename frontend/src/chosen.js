// Which documents are chosen: single ones, a range by Shift, or all that the filters match.

export class ChosenDocuments {
  #ids = new Set();
  #anchor = null;
  #all = false;
  #changed;

  /** `changed()` is called after each change. */
  constructor(changed) {
    this.#changed = changed;
  }

  get size() {
    return this.#ids.size;
  }

  get ids() {
    return [...this.#ids];
  }

  /** Whether everything that the filters match is chosen, loaded or not. */
  get isAll() {
    return this.#all;
  }

  has(id) {
    return this.#all || this.#ids.has(id);
  }

  /** Choose or leave out one; with Shift all from the last one that was clicked, in the order of `ids`. */
  set(id, chosen, { range = false, ids = [] } = {}) {
    const from = ids.indexOf(this.#anchor);
    const to = ids.indexOf(id);
    const several = range && from >= 0 && to >= 0 ? ids.slice(Math.min(from, to), Math.max(from, to) + 1) : [id];
    if (this.#all) this.#ids = new Set(ids);
    this.#all = false;
    for (const one of several) {
      if (chosen) this.#ids.add(one);
      else this.#ids.delete(one);
    }
    this.#anchor = id;
    this.#changed();
  }

  choose(ids) {
    this.#ids = new Set(ids);
    this.#all = false;
    this.#changed();
  }

  chooseAll(ids) {
    this.#ids = new Set(ids);
    this.#all = true;
    this.#changed();
  }

  clear() {
    this.#anchor = null;
    this.choose([]);
  }

  /** A document that is gone is no longer chosen. */
  forget(id) {
    if (this.#ids.delete(id)) this.#changed();
  }
}
