// A document for tests, of which only elements can be made; they can be written as HTML.
const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
const EMPTY = ["br", "hr"];

class WrittenElement {
  #tag;
  #attributes = "";
  #children = [];
  #parent = null;

  constructor(tag) {
    this.#tag = tag;
  }

  setAttribute(name, value) {
    this.#attributes += ` ${name}="${escaped(String(value))}"`;
  }

  append(...children) {
    for (const child of children) if (child instanceof WrittenElement) child.#parent = this;
    this.#children.push(...children);
  }

  remove() {
    this.#parent.#children = this.#parent.#children.filter((child) => child !== this);
  }

  get childNodes() {
    return this.#children;
  }

  get lastChild() {
    return this.#children.at(-1);
  }

  querySelectorAll() {
    return [];
  }

  get innerHTML() {
    return this.#children.map((child) => (child instanceof WrittenElement ? child.outerHTML : escaped(String(child)))).join("");
  }

  get outerHTML() {
    return `<${this.#tag}${this.#attributes}>${EMPTY.includes(this.#tag) ? "" : `${this.innerHTML}</${this.#tag}>`}`;
  }
}

export const writtenDocument = {
  createElement: (tag) => new WrittenElement(tag),
  createDocumentFragment: () => new WrittenElement("fragment"),
};
