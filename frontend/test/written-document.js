// A document for tests, of which only elements can be made; they can be written as HTML.
const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
const EMPTY = ["br", "hr"];

class WrittenElement {
  #tag;
  #attributes = "";
  #children = [];

  constructor(tag) {
    this.#tag = tag;
  }

  setAttribute(name, value) {
    this.#attributes += ` ${name}="${escaped(String(value))}"`;
  }

  append(...children) {
    this.#children.push(...children);
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
