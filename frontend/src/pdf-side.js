// The panel beside a PDF: small pictures of its pages, and its outline. Both are made when they are looked at.
import { h } from "./dom.js";
import { t } from "./texts.js";

const WIDTH = 120;

export class PdfSide {
  #element;
  #pdf;
  #links;
  #goTo;
  #tabs = {};
  #buttons = [];
  #observer = null;
  #queue = Promise.resolve();
  #left = false;

  /** `goTo(page)` turns to a page; `links` follows the outline's destinations. */
  constructor(element, { pdf, links, goTo }) {
    this.#element = element;
    this.#pdf = pdf;
    this.#links = links;
    this.#goTo = goTo;
  }

  /** Open or close the panel; returns whether it is open now. */
  async toggle(page) {
    this.#element.hidden = !this.#element.hidden;
    if (this.#element.hidden) return false;
    if (!this.#tabs.pages) await this.#make();
    this.mark(page, { scroll: true });
    return true;
  }

  /** Mark the page that is in sight. */
  mark(page, { scroll = false } = {}) {
    const button = this.#buttons[page - 1];
    if (!button) return;
    this.#element.querySelector("[aria-current]")?.removeAttribute("aria-current");
    button.setAttribute("aria-current", "page");
    if (this.#element.hidden || this.#tabs.pages.panel.hidden) return;
    const [box, frame] = [button.getBoundingClientRect(), this.#element.getBoundingClientRect()];
    if (scroll || box.top < frame.top || box.bottom > frame.bottom) button.scrollIntoView({ block: "nearest" });
  }

  leave() {
    this.#left = true;
    this.#observer?.disconnect();
    this.#element.replaceChildren();
    this.#element.hidden = true;
  }

  async #make() {
    const outline = await this.#pdf.getOutline().catch(() => null);
    if (this.#left) return;
    const bar = h("div", { class: "side-tabs", role: "tablist", "aria-label": t("What to show") });
    this.#tabs.pages = this.#tab("pages", t("Pages"), h("div", {}, this.#thumbnails()));
    if (outline?.length) this.#tabs.outline = this.#tab("outline", t("Outline"), h("div", {}, this.#entries(outline)));
    bar.append(...Object.values(this.#tabs).map(({ tab }) => tab));
    this.#element.replaceChildren(bar, ...Object.values(this.#tabs).map(({ panel }) => panel));
    bar.addEventListener("keydown", (event) => this.#key(event));
    this.#choose("pages");
  }

  #tab(name, words, panel) {
    const tab = h("button", { type: "button", role: "tab", id: `side-${name}-tab`, "aria-controls": `side-${name}`, onclick: () => this.#choose(name) }, words);
    panel.id = `side-${name}`;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    return { tab, panel };
  }

  #choose(chosen) {
    for (const [name, { tab, panel }] of Object.entries(this.#tabs)) {
      tab.setAttribute("aria-selected", String(name === chosen));
      tab.tabIndex = name === chosen ? 0 : -1;
      panel.hidden = name !== chosen;
    }
  }

  #key(event) {
    if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    const other = Object.keys(this.#tabs).find((name) => this.#tabs[name].tab.tabIndex !== 0);
    if (!other) return;
    this.#choose(other);
    this.#tabs[other].tab.focus();
  }

  #thumbnails() {
    this.#observer = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) this.#draw(target);
    }, { root: this.#element, rootMargin: "100px" });
    this.#buttons = Array.from({ length: this.#pdf.numPages }, (_, at) => this.#thumbnail(at + 1));
    return h("ol", { class: "thumbnails" }, this.#buttons.map((button) => h("li", {}, button)));
  }

  #thumbnail(number) {
    const button = h("button", { type: "button", class: "thumbnail", "data-number": number, "aria-label": t("Page {number}", { number }), onclick: () => this.#goTo(number) }, h("span", { class: "thumbnail-paper" }), h("span", {}, String(number)));
    this.#observer.observe(button);
    return button;
  }

  /** One after the other: the page that is read comes first. */
  #draw(button) {
    this.#observer.unobserve(button);
    this.#queue = this.#queue.then(async () => {
      if (this.#left) return;
      const page = await this.#pdf.getPage(Number(button.dataset.number));
      const { width, height } = page.getViewport({ scale: 1 });
      const viewport = page.getViewport({ scale: (WIDTH * Math.min(devicePixelRatio, 2)) / Math.max(width, height) });
      const canvas = h("canvas", { width: Math.ceil(viewport.width), height: Math.ceil(viewport.height), "aria-hidden": "true" });
      await page.render({ canvas, viewport }).promise;
      button.firstElementChild.replaceChildren(canvas);
    }).catch(() => {}); // A page that can't be drawn keeps its number.
  }

  #entries(items) {
    return h("ul", { class: "outline" }, items.map((item) => h("li", {}, this.#entry(item), item.items.length ? this.#entries(item.items) : null)));
  }

  #entry(item) {
    if (item.dest) return h("button", { type: "button", onclick: () => this.#links.goToDestination(item.dest) }, item.title || t("Untitled"));
    const link = h("a", {}, item.title || t("Untitled"));
    if (item.url) this.#links.addLinkAttributes(link, item.url);
    return link;
  }
}
