// The outline of a readable document: its headings in the panel beside it.
import { h } from "../dom.js";
import { t } from "../texts.js";

export class Contents {
  #element;
  #headings;
  #goTo;
  #buttons = [];

  /** `goTo(heading)` brings a heading of the API's outline into sight. */
  constructor(element, outline, goTo) {
    this.#element = element;
    this.#headings = outline.headings;
    this.#goTo = goTo;
    this.hasMore = outline.more_headings;
  }

  /** Open or close; returns whether it is open now. */
  toggle(position) {
    this.#element.hidden = !this.#element.hidden;
    if (this.#element.hidden) return false;
    if (!this.#buttons.length) this.#make();
    this.mark(position);
    return true;
  }

  /** The number of the heading under which a position stands, -1 before the first. */
  indexAt(position) {
    return this.#headings.findLastIndex((heading) => heading.position <= position);
  }

  mark(position) {
    if (this.#element.hidden) return;
    this.#element.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const button = this.#buttons[this.indexAt(position)];
    button?.setAttribute("aria-current", "location");
    button?.scrollIntoView({ block: "nearest" });
  }

  leave() {
    this.#element.replaceChildren();
    this.#element.hidden = true;
  }

  #make() {
    this.#buttons = this.#headings.map((heading) => {
      const words = heading.slide ? `${heading.slide}. ${heading.text}` : heading.text;
      return h("button", { type: "button", class: `contents-entry depth-${Math.min(heading.level, 6)}`, onclick: () => this.#goTo(heading) }, words);
    });
    const rest = this.hasMore ? h("p", { class: "contents-more" }, t("More headings follow in the document.")) : null;
    this.#element.replaceChildren(h("p", { class: "contents-title" }, t("Outline")), h("ol", { class: "contents" }, this.#buttons.map((button) => h("li", {}, button))), rest ?? "");
  }
}
