// A long list of which only the part near the window has rows in the page: the rest are blank spaces of their height.

const NEAR = "1500px";

/**
 * `newBlock()` makes the element that holds a block of rows, `row(item)` a row, `space(height)` what stands for rows
 * that are far away. Items have an `id`.
 */
export class PagedRows {
  #container;
  #make;
  #blocks = new Map();
  #blockOf = new Map();
  #waiting = new Set();
  #frame = 0;
  #observer;

  constructor(container, { newBlock, row, space }) {
    this.#container = container;
    this.#make = { newBlock, row, space };
    this.#observer = new IntersectionObserver((entries) => this.#seen(entries), { rootMargin: NEAR });
  }

  /** The items in their order. */
  get items() {
    return [...this.#blocks.values()].flatMap(({ items }) => items);
  }

  clear() {
    this.#observer.disconnect();
    // The head of a table is in the container, too.
    for (const element of this.#blocks.keys()) element.remove();
    this.#blocks.clear();
    this.#blockOf.clear();
    this.#waiting.clear();
  }

  /** Add a block of rows at the end, or before all others. */
  add(items, { first = false } = {}) {
    if (!items.length) return;
    const element = this.#make.newBlock();
    const block = { element, items, height: 0, shown: true };
    this.#blocks = new Map(first ? [[element, block], ...this.#blocks] : [...this.#blocks, [element, block]]);
    for (const { id } of items) this.#blockOf.set(id, block);
    element.replaceChildren(...items.map(this.#make.row));
    const next = first ? [...this.#blocks.keys()][1] : null;
    if (next) next.before(element);
    else this.#container.append(element);
    this.#observer.observe(element);
  }

  /** Show an item as it is now; false if it is not in the list. */
  update(item) {
    const block = this.#blockOf.get(item.id);
    if (!block) return false;
    const place = block.items.findIndex(({ id }) => id === item.id);
    block.items[place] = item;
    if (block.shown) block.element.children[place].replaceWith(this.#make.row(item));
    return true;
  }

  remove(id) {
    const block = this.#blockOf.get(id);
    if (!block) return false;
    const place = block.items.findIndex((item) => item.id === id);
    block.items.splice(place, 1);
    this.#blockOf.delete(id);
    if (block.shown) block.element.children[place].remove();
    if (block.items.length) return true;
    this.#observer.unobserve(block.element);
    this.#blocks.delete(block.element);
    block.element.remove();
    return true;
  }

  /** The row of an item, if it has one now. */
  rowOf(id) {
    const block = this.#blockOf.get(id);
    return block?.shown ? block.element.children[block.items.findIndex((item) => item.id === id)] : null;
  }

  /** Make all rows again that are there: something about all of them has changed. */
  redraw() {
    for (const { shown, element, items } of this.#blocks.values()) if (shown) element.replaceChildren(...items.map(this.#make.row));
  }

  #seen(entries) {
    for (const { target, isIntersecting } of entries) {
      const block = this.#blocks.get(target);
      if (!block) continue;
      if (isIntersecting && !block.shown) this.#waiting.add(block);
      if (!isIntersecting) this.#leave(block);
    }
    if (this.#waiting.size && !this.#frame) this.#frame = requestAnimationFrame(() => this.#fill());
  }

  /** Make the rows of one block in each frame: the page stays responsive however fast somebody scrolls. */
  #fill() {
    this.#frame = 0;
    const [block] = this.#waiting;
    if (!block) return;
    this.#waiting.delete(block);
    block.shown = true;
    block.element.replaceChildren(...block.items.map(this.#make.row));
    if (this.#waiting.size) this.#frame = requestAnimationFrame(() => this.#fill());
  }

  #leave(block) {
    this.#waiting.delete(block);
    // What the reader is in must stay.
    if (!block.shown || block.element.contains(document.activeElement)) return;
    block.height = block.element.offsetHeight;
    block.shown = false;
    block.element.replaceChildren(this.#make.space(block.height));
  }
}
