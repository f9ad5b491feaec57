// The search in a PDF: all matches on all pages, counted while the pages are read.
import { FindState } from "pdfjs-dist/legacy/web/pdf_viewer.mjs";
import { FORMATS } from "./locale.js";
import { t } from "./texts.js";

export class PdfFind {
  #events;
  #count;
  #pagesOf;
  #controller = null;
  #query = "";

  constructor(events, count, pagesOf) {
    this.#events = events;
    this.#count = count;
    this.#pagesOf = pagesOf;
    events.on("updatefindmatchescount", ({ matchesCount }) => this.#show(matchesCount));
    events.on("updatefindcontrolstate", ({ state, matchesCount }) => this.#show(matchesCount, state));
  }

  watch(controller) {
    this.#controller = controller;
  }

  search(query, { again = false, back = false } = {}) {
    const isSame = query === this.#query;
    this.#query = query;
    if (!query) return this.close();
    return this.#events.dispatch("find", {
      source: this,
      type: again && isSame ? "again" : "",
      query,
      caseSensitive: false,
      entireWord: false,
      highlightAll: true,
      findPrevious: back,
      matchDiacritics: false,
    });
  }

  close() {
    this.#query = "";
    this.#count.textContent = "";
    this.#events.dispatch("findbarclose", { source: this });
  }

  #show({ current = 0, total = 0 } = {}, state = null) {
    if (!this.#query) return;
    const isReading = this.#pagesRead() < this.#pagesOf();
    if (total) this.#count.textContent = t("{number} of {total}", { number: current.toLocaleString(FORMATS), total: total.toLocaleString(FORMATS) }) + (isReading ? "…" : "");
    else if (state === FindState.NOT_FOUND && !isReading) this.#count.textContent = t("Not found");
    else this.#count.textContent = isReading ? t("Searching…") : t("Not found");
  }

  #pagesRead() {
    return this.#controller?.pageMatches?.filter(Boolean).length ?? 0;
  }
}
