// The palette (Ctrl-K): pages, documents, conversations and actions by a few letters.
import { get } from "./api.js";
import { rememberDraft } from "./draft.js";
import { h, icon } from "./dom.js";
import { entriesFor } from "./palette-entries.js";

const WAIT_MS = 150;
const MOST_FOUND = 6;

let started = null;

export function openPalette() {
  started ??= new Palette(document.querySelector("[data-palette]"));
  started.open();
}

class Palette {
  #dialog;
  #input;
  #list;
  #none;
  #pages = pagesHere();
  #found = { documents: [], conversations: [] };
  #current = 0;
  #asked = 0;
  #timer = 0;

  constructor(dialog) {
    this.#dialog = dialog;
    this.#input = dialog.querySelector("input");
    this.#list = dialog.querySelector("[role=listbox]");
    this.#none = dialog.querySelector(".palette-none");
    this.#input.addEventListener("input", () => this.#typed());
    this.#input.addEventListener("keydown", (event) => this.#key(event));
    this.#list.addEventListener("click", ({ target }) => this.#run(target.closest("[role=option]")));
    // A click beside it closes it.
    dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  }

  open() {
    if (this.#dialog.open) return;
    this.#input.value = "";
    this.#found = { documents: [], conversations: [] };
    this.#dialog.showModal();
    this.#input.focus();
    this.#show();
  }

  #typed() {
    this.#current = 0;
    this.#show();
    clearTimeout(this.#timer);
    const words = this.#input.value.trim();
    this.#asked += 1;
    if (words.length < 2) {
      this.#found = { documents: [], conversations: [] };
      return this.#show();
    }
    this.#timer = setTimeout(() => this.#find(words, this.#asked), WAIT_MS);
    return undefined;
  }

  async #find(words, asked) {
    const listOf = (path, query) => get(path, { ...query, limit: MOST_FOUND }).then(({ results }) => results, () => []);
    const [documents, conversations] = await Promise.all([listOf("/documents", { search: words }), listOf("/sessions", { q: words })]);
    if (asked !== this.#asked) return;
    this.#found = { documents, conversations };
    this.#show();
  }

  #show() {
    const entries = entriesFor(this.#input.value, { pages: this.#pages, ...this.#found });
    this.#current = Math.min(this.#current, Math.max(0, entries.length - 1));
    const nodes = entries.map((entry, index) => optionNode(entry, index));
    this.#list.replaceChildren(...nodes);
    this.#none.hidden = entries.length > 0;
    this.#mark();
  }

  #mark() {
    const options = [...this.#list.children];
    for (const [index, option] of options.entries()) option.setAttribute("aria-selected", String(index === this.#current));
    const current = options[this.#current];
    current?.scrollIntoView({ block: "nearest" });
    if (current) this.#input.setAttribute("aria-activedescendant", current.id);
    else this.#input.removeAttribute("aria-activedescendant");
  }

  #key(event) {
    if (event.isComposing) return;
    const count = this.#list.children.length;
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps && count) {
      event.preventDefault();
      this.#current = (this.#current + steps[event.key] + count) % count;
      this.#mark();
    } else if (event.key === "Enter") {
      event.preventDefault();
      this.#run(this.#list.children[this.#current]);
    }
  }

  #run(option) {
    if (!option) return;
    this.#dialog.close();
    const { href, action } = option.dataset;
    if (action) ACTIONS[action](this.#input.value.trim());
    else location.assign(href);
  }
}

const ACTIONS = {
  ask(words) {
    rememberDraft(words);
    location.assign("/");
  },
  theme: () => document.querySelector("[data-theme-toggle]")?.click(),
  shortcuts: () => document.querySelector("[data-shortcuts]")?.showModal(),
  logout: () => document.querySelector("form[action$='/logout/']")?.requestSubmit(),
};

function optionNode({ title, kind, href, action, icon: name }, index) {
  return h(
    "div",
    { role: "option", id: `palette-${index}`, class: "palette-option", "data-href": href, "data-action": action, "aria-selected": "false" },
    icon(name),
    h("span", { class: "palette-title" }, title),
    h("span", { class: "palette-kind" }, kind),
  );
}

/** The pages that this page's own navigation and menu lead to: those that the reader may open. */
function pagesHere() {
  const links = [...document.querySelectorAll(".tabs a[href], .menu-panel a[href]")];
  const pages = links.map((link) => ({ title: link.textContent.trim(), href: link.getAttribute("href") }));
  return pages.filter((one, index) => pages.findIndex((other) => other.href === one.href) === index);
}
