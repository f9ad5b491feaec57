// The chunks of a page, outlined: what a question finds, and how the document was cut.
import { get } from "./api.js";
import { h } from "./dom.js";
import { inPercent, turnedBox } from "./geometry.js";

export class Passages {
  #documentId;
  #pageOf;
  #rotationOf;
  #shown = false;
  #layers = new Map();
  #order = new Map();

  /** `pageOf(number)` is the element of a page, `rotationOf()` how far readers have turned it, in degrees. */
  constructor(documentId, pageOf, rotationOf) {
    this.#documentId = documentId;
    this.#pageOf = pageOf;
    this.#rotationOf = rotationOf;
  }

  /** Show or hide them; returns whether they are shown. */
  toggle(pages) {
    this.#shown = !this.#shown;
    if (this.#shown) for (const number of pages) this.draw(number);
    else this.#clear();
    return this.#shown;
  }

  redraw() {
    const pages = [...this.#layers.keys()];
    this.#clear();
    for (const number of pages) this.draw(number);
  }

  async draw(number) {
    if (!this.#shown) return;
    const read = await get(`/documents/${this.#documentId}/pages/${number}/text`).catch(() => null);
    const page = this.#pageOf(number);
    if (!this.#shown || !read || !page) return;
    this.#layers.get(number)?.remove();
    const layer = h("div", { class: "passages" }, read.lines.map((line) => this.#box(line, read)));
    this.#layers.set(number, layer);
    page.append(layer);
  }

  #box({ bbox, chunk_id: chunk }, { layout_width, layout_height }) {
    if (!this.#order.has(chunk)) this.#order.set(chunk, this.#order.size);
    const node = h("div", { class: `passage-box passage-box-${this.#order.get(chunk) % 4}` });
    const box = turnedBox({ bbox, layout_width, layout_height }, this.#rotationOf());
    for (const [side, percent] of Object.entries(inPercent(box))) node.style[side] = `${percent}%`;
    return node;
  }

  #clear() {
    for (const layer of this.#layers.values()) layer.remove();
    this.#layers.clear();
  }
}
