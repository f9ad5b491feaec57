// The search in a readable document: all matches in all of it, also in parts that nobody has looked at.
import { FORMATS } from "../locale.js";
import { elementOf, textPieces } from "./blocks.js";
import { matchesIn } from "./stretches.js";
import { bringIntoSight } from "./windows.js";
import { t } from "../texts.js";

const MOST_MATCHES = 20_000;
const canHighlight = "highlights" in CSS;

export class ReadingFind {
  #windows;
  #count;
  #goTo;
  #query = "";
  #matches = [];
  #current = -1;
  #run = 0;

  /** `goTo(window)` brings a window into the page; `count` is the element that says how many matches there are. */
  constructor(windows, count, goTo) {
    this.#windows = windows;
    this.#count = count;
    this.#goTo = goTo;
  }

  async search(query, { again = false, back = false } = {}) {
    const words = query.trim().replace(/\s+/g, " ");
    if (!words) return this.close();
    if (words !== this.#query) await this.#start(words);
    else if (again) await this.#step(back ? -1 : 1);
    return undefined;
  }

  close() {
    this.#run += 1;
    this.#query = "";
    this.#matches = [];
    this.#current = -1;
    this.#count.textContent = "";
    this.#highlight();
  }

  /** Mark the matches in what has been drawn since. */
  refresh() {
    if (this.#query) this.#highlight();
  }

  async #start(query) {
    const run = (this.#run += 1);
    this.#query = query;
    this.#matches = [];
    this.#current = -1;
    this.#count.textContent = t("Searching…");
    const isWanted = () => run === this.#run;
    try {
      await this.#windows.loadAll(() => {}, isWanted);
    } catch (error) {
      if (isWanted()) this.#count.textContent = error.message;
      return;
    }
    if (!isWanted()) return;
    this.#matches = this.#found();
    await this.#step(1);
  }

  #found() {
    const found = [];
    for (const window of this.#windows.all) {
      for (const piece of window.blocks.flatMap(textPieces)) {
        for (const range of matchesIn(piece.text, this.#query)) found.push({ window, piece, range });
        if (found.length >= MOST_MATCHES) return found;
      }
    }
    return found;
  }

  async #step(by) {
    const total = this.#matches.length;
    if (!total) {
      this.#count.textContent = t("Not found");
      return this.#highlight();
    }
    this.#current = (this.#current + by + total) % total;
    const more = total >= MOST_MATCHES ? "+" : "";
    this.#count.textContent = t("{number} of {total}", { number: (this.#current + 1).toLocaleString(FORMATS), total: total.toLocaleString(FORMATS) }) + more;
    const { window, piece, range } = this.#matches[this.#current];
    await this.#goTo(window);
    this.#highlight();
    const place = rangeIn(piece, range);
    if (place) await bringIntoSight(place.startContainer.parentElement, "center");
    return undefined;
  }

  #highlight() {
    if (!canHighlight) return;
    CSS.highlights.delete("found");
    CSS.highlights.delete("found-now");
    const drawn = this.#matches.filter(({ window }) => window.isDrawn).slice(0, 5000);
    const ranges = drawn.map(({ piece, range }) => rangeIn(piece, range)).filter(Boolean);
    if (ranges.length) CSS.highlights.set("found", new Highlight(...ranges));
    const now = this.#matches[this.#current];
    const current = now && rangeIn(now.piece, now.range);
    if (!current) return;
    const highlight = new Highlight(current);
    highlight.priority = 1;
    CSS.highlights.set("found-now", highlight);
  }
}

/** The stretch of the page where `[start, end]` of a piece's text stands; null while it is not drawn. */
function rangeIn(piece, [start, end]) {
  const element = elementOf(piece);
  if (!element?.isConnected) return null;
  const range = document.createRange();
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let at = 0;
  let hasStart = false;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const next = at + node.length;
    if (!hasStart && start < next) {
      range.setStart(node, start - at);
      hasStart = true;
    }
    if (hasStart && end <= next) {
      range.setEnd(node, end - at);
      return range;
    }
    at = next;
  }
  return null;
}
