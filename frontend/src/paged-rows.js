// A long list of which only the part near the window has rows in the page: the rest are blank spaces of their height.

const NEAR = "1500px";
// So many rows are made at once: that takes less than a tenth of a second, on a slow machine too.
const BLOCK = 20;
// The height of a row before one is seen.
const FIRST_GUESS_PX = 48;

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
  #itemHeight = FIRST_GUESS_PX;

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

  /** Add items at the end, or before all others. Those at the end get their rows when the window comes near. */
  add(items, { first = false } = {}) {
    const blocks = [];
    for (let start = 0; start < items.length; start += BLOCK) blocks.push(this.#newBlock(items.slice(start, start + BLOCK)));
    if (!blocks.length) return;
    const before = first ? this.#blocks.keys().next().value : null;
    const isFirst = first || !this.#blocks.size;
    const entries = blocks.map((block) => [block.element, block]);
    this.#blocks = new Map(first ? [...entries, ...this.#blocks] : [...this.#blocks, ...entries]);
    // What comes first is what the reader waits for.
    if (isFirst) this.#draw(blocks[0]);
    const elements = blocks.map(({ element }) => element);
    if (before) before.before(...elements);
    else this.#container.append(...elements);
    for (const element of elements) this.#observer.observe(element);
  }

  #newBlock(items) {
    const element = this.#make.newBlock();
    const block = { element, items, shown: false };
    for (const { id } of items) this.#blockOf.set(id, block);
    element.replaceChildren(this.#make.space(items.length * this.#itemHeight));
    return block;
  }

  #draw(block) {
    block.shown = true;
    block.element.replaceChildren(...block.items.map(this.#make.row));
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
    for (const block of this.#blocks.values()) if (block.shown) this.#draw(block);
  }

  #seen(entries) {
    for (const { target, isIntersecting, boundingClientRect } of entries) {
      const block = this.#blocks.get(target);
      if (!block) continue;
      if (block.shown && boundingClientRect.height) this.#itemHeight = boundingClientRect.height / block.items.length;
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
    this.#draw(block);
    if (this.#waiting.size) this.#frame = requestAnimationFrame(() => this.#fill());
  }

  #leave(block) {
    this.#waiting.delete(block);
    // What the reader is in must stay.
    if (!block.shown || block.element.contains(document.activeElement)) return;
    const height = block.element.offsetHeight;
    block.shown = false;
    block.element.replaceChildren(this.#make.space(height));
  }
}
