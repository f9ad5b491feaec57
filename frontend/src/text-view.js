// A whole document to read: office, e-mail, e-book, web page, Markdown, text, code; slides on cards, sheets as grids.
import { get, withQuery } from "./api.js";
import { h } from "./dom.js";
import { placeInWords } from "./format.js";
import { BlockMaker, elementOf, textPieces } from "./reading/blocks.js";
import { Contents } from "./reading/contents.js";
import { ReadingFind } from "./reading/find.js";
import { GridColumns, gridNode, isGrid } from "./reading/grid.js";
import { quotedRange } from "./reading/stretches.js";
import { ReadingWindows, bringIntoSight } from "./reading/windows.js";
import { t, translated } from "./texts.js";

const SIZES = [0.8, 0.9, 1, 1.15, 1.3, 1.5, 1.8];
const VERBATIM = new Set(["code", "json", "xml"]);
/** Where a heading or mark comes to stand below the top edge. */
const BELOW_TOP = 24;

export class TextView {
  static words = { stage: t("Text"), previous: t("Previous section"), next: t("Next section") };
  static tools = ["zoom", "find", "side"];

  #parts;
  #document;
  #place;
  #say;
  #outline = null;
  #windows = null;
  #contents = null;
  #maker = null;
  #article = null;
  #head = null;
  #tabs = null;
  #sheet = null;
  #columns = new Map();
  #size = SIZES.indexOf(1);
  #stop = new AbortController();

  constructor({ parts, document, place, say }) {
    this.#parts = parts;
    this.#document = document;
    this.#place = place;
    this.#say = say;
  }

  async show() {
    const { stage, tools, where } = this.#parts;
    tools.hidden = true;
    where.textContent = "";
    stage.setAttribute("aria-busy", "true");
    try {
      await this.#load();
    } finally {
      stage.removeAttribute("aria-busy");
    }
  }

  /** Another place in the same document. */
  async showPlace(place) {
    this.#place = place;
    if (!this.#windows) return;
    const drawn = this.#windows.all.filter(({ isDrawn }) => isDrawn);
    const outline = await this.#fetchOutline();
    if (this.#stop.signal.aborted) return;
    this.#outline.position = outline.position;
    await this.#cite();
    for (const window of drawn) this.#windows.redraw(window);
    await this.#reach();
  }

  /** Take over a document that has been processed again: its text may be another. */
  update(document) {
    this.#document = document;
    this.leave();
    this.#stop = new AbortController();
    return this.show();
  }

  /** To the section before or after; in a document without headings, most of a screen. */
  step(by) {
    const { stage } = this.#parts;
    const headings = this.#headingsInSight();
    if (!headings) return stage.scrollBy({ top: by * stage.clientHeight * 0.85 });
    const at = this.#contents.indexAt(this.#positionInSight());
    const tops = headings.map((element) => element.getBoundingClientRect().top - stage.getBoundingClientRect().top);
    const near = by > 0 ? tops.findIndex((top) => top > BELOW_TOP + 4) : tops.findLastIndex((top) => top < BELOW_TOP - 4);
    if (near >= 0) return this.#scrollTo(headings[near], "start");
    const next = this.#outline.headings[at + (by > 0 ? 1 : -1)];
    return next && this.#goToHeading(next);
  }

  zoom(by) {
    this.#size = Math.min(SIZES.length - 1, Math.max(0, this.#size + by));
    this.#article?.style.setProperty("--size", SIZES[this.#size]);
    this.#updateTools();
  }

  link() {
    return this.#isMarkInSight() ? {} : { chunk: null };
  }

  toggleSide() {
    const open = this.#contents?.toggle(this.#positionInSight()) ?? false;
    this.#parts.toggleSide.setAttribute("aria-expanded", String(open));
  }

  leave() {
    this.#stop.abort();
    this.#windows?.leave();
    this.#contents?.leave();
    this.find?.close();
    this.#parts.toggleSide?.setAttribute("aria-expanded", "false");
  }

  #fetchOutline() {
    return get(withQuery(`/documents/${this.#document.id}/outline`, { chunk_id: this.#place.chunkId }));
  }

  async #load() {
    this.#outline = await this.#fetchOutline();
    if (this.#stop.signal.aborted) return;
    const { stage, side, tools, findCount, toggleSide } = this.#parts;
    if (!this.#outline.chunks) {
      this.#say(nothingYet(this.#document));
      return;
    }
    this.#windows = new ReadingWindows(this.#document.id, this.#outline.windows, stage, (window) => this.#draw(window));
    this.#contents = new Contents(side, this.#outline, (heading) => this.#goToHeading(heading));
    this.find = new ReadingFind(this.#windows, findCount, (window) => this.#bringIn(window));
    await this.#cite();
    const start = this.#startWindow();
    await this.#windows.load(start);
    if (this.#stop.signal.aborted) return;
    this.#frame(start);
    await this.#windows.show(start);
    this.#windows.calibrate(start);
    if (toggleSide) toggleSide.hidden = !this.#outline.headings.length;
    tools.hidden = false;
    await this.#reach();
    this.#windows.watch();
    stage.addEventListener("scroll", () => this.#scrolled(), { signal: this.#stop.signal, passive: true });
  }

  /** Learn which stretch of which chunk is quoted; a replaced chunk is looked for in its successor. */
  async #cite() {
    const { position } = this.#outline;
    const isCited = this.#place.chunkId && position !== null;
    let cited = null;
    if (isCited) {
      await this.#windows.load(this.#windows.at(position));
      const block = this.#windows.at(position).blocks.find((one) => one.position === position);
      const chunk = block && (await get(`/chunks/${block.chunk_id}`));
      cited = chunk && { chunkId: chunk.id, range: quotedRange(chunk.text, this.#place), chunk };
    }
    this.#maker = new BlockMaker(cited);
    this.#parts.where.textContent = cited ? placeInWords(cited.chunk) || cited.chunk.metadata.headings.join(" › ") || t("Text") : "";
  }

  #startWindow() {
    return this.#windows.at(this.#place.chunkId ? this.#outline.position ?? 0 : 0);
  }

  /** The document's frame with all its windows, most of them still empty. */
  #frame(start) {
    const isVerbatim = VERBATIM.has(this.#document.file_type);
    const grid = isGrid(start.blocks);
    const kind = grid ? "is-grid" : isVerbatim ? "is-verbatim" : "is-text";
    this.#article = h("article", { class: `reading ${kind}`, "aria-label": this.#document.name }, this.#windows.all.map(({ element }) => element));
    this.#article.style.setProperty("--size", SIZES[this.#size]);
    const sheets = [...new Set(this.#windows.all.map(({ sheet }) => sheet).filter((name) => name !== undefined))];
    this.#head = grid ? h("div", { class: "grid-top", "aria-hidden": "true" }) : null;
    this.#tabs = grid && sheets.length > 1 ? this.#sheetTabs(sheets) : null;
    const holder = h("div", { class: "reading-holder" }, this.#head, this.#article, this.#tabs);
    this.#parts.stage.replaceChildren(holder);
    if (grid) this.#chooseSheet(start.sheet);
  }

  #draw(window) {
    if (!this.#head) {
      queueMicrotask(() => this.find.refresh());
      return this.#maker.nodes(window.blocks);
    }
    const columns = this.#columnsOf(window.sheet);
    if (columns.learn(window.blocks)) this.#widen(window.sheet);
    // The name of a sheet is in no cell; it is shown only where it is what was quoted.
    const names = window.blocks.filter((block) => !block.rows && this.#maker.isQuoted(block, block.chunk_id));
    return [...names.map((block) => h("p", { class: "grid-name" }, this.#maker.words(block, block.chunk_id))), gridNode(window.blocks, columns, this.#maker)];
  }

  // --- Sheets ----------------------------------------------------------------------------------------------

  #columnsOf(sheet) {
    if (!this.#columns.has(sheet)) this.#columns.set(sheet, new GridColumns());
    return this.#columns.get(sheet);
  }

  /** A part further down has more columns than those above. */
  #widen(sheet) {
    const columns = this.#columnsOf(sheet);
    for (const { element } of this.#windows.all.filter((one) => one.sheet === sheet)) element.querySelector("colgroup")?.replaceWith(columns.group());
    if (sheet === this.#sheet) this.#showHead();
  }

  #showHead() {
    const columns = this.#columnsOf(this.#sheet);
    this.#head.replaceChildren(columns.head());
    this.#article.parentElement.style.setProperty("--grid-width", `${columns.total}rem`);
  }

  #sheetTabs(sheets) {
    const tabs = sheets.map((name) => h("button", { type: "button", role: "tab", "data-sheet": name, onclick: () => this.#openSheet(name) }, name));
    const bar = h("div", { class: "sheet-tabs", role: "tablist", "aria-label": t("Sheets") }, tabs);
    bar.addEventListener("keydown", (event) => {
      if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      const at = tabs.findIndex((tab) => tab.getAttribute("aria-selected") === "true") + (event.key === "ArrowRight" ? 1 : -1);
      tabs[at]?.focus();
      tabs[at]?.click();
    });
    return bar;
  }

  async #openSheet(name) {
    if (name === this.#sheet) return;
    this.#chooseSheet(name);
    this.#parts.stage.scrollTo(0, 0);
    await this.#windows.show(this.#windows.all.find(({ sheet }) => sheet === name));
  }

  #chooseSheet(name) {
    this.#sheet = name;
    for (const { element, sheet } of this.#windows.all) element.hidden = sheet !== name;
    for (const tab of this.#tabs?.children ?? []) {
      const isChosen = tab.dataset.sheet === name;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      if (isChosen) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    this.#showHead();
  }

  // --- Where the reader is ---------------------------------------------------------------------------------

  async #bringIn(window) {
    if (this.#head && window.sheet !== this.#sheet) this.#chooseSheet(window.sheet);
    await this.#windows.show(window);
  }

  /** Scroll to the quote, or to the chunk if no quote was found in it. */
  async #reach() {
    await this.#bringIn(this.#startWindow());
    const mark = this.#mark();
    if (mark) this.#scrollTo(mark, "center");
    else this.#parts.stage.scrollTo(0, 0);
    this.#updateTools();
  }

  #mark() {
    return this.#article?.querySelector("mark.place-text") ?? this.#article?.querySelector(".cited-chunk") ?? null;
  }

  #scrollTo(element, block) {
    return bringIntoSight(element, block);
  }

  async #goToHeading({ position, text }) {
    const window = this.#windows.at(position);
    await this.#bringIn(window);
    const inChunk = window.blocks.filter((block) => block.position === position);
    const block = inChunk.find((one) => one.kind === "heading" && one.text === text) ?? inChunk[0];
    const [piece] = block ? textPieces(block) : [];
    const element = piece && elementOf(piece);
    if (!element) return;
    this.#scrollTo(element.closest(".slide") ?? element.closest(".reading-heading, p, li, tr, pre") ?? element, "start");
    this.#scrolled();
  }

  /** The position of the first chunk in sight. */
  #positionInSight() {
    const top = this.#parts.stage.getBoundingClientRect().top + BELOW_TOP * 2;
    const window = this.#windows?.all.findLast(({ element }) => !element.hidden && element.getBoundingClientRect().top <= top);
    if (!window?.isDrawn) return window?.start ?? 0;
    const passed = window.blocks.findLast((block) => {
      const [piece] = textPieces(block);
      const element = piece && elementOf(piece);
      return element?.isConnected && element.getBoundingClientRect().top <= top;
    });
    return passed?.position ?? window.start;
  }

  #headingsInSight() {
    if (!this.#outline?.headings.length || this.#head) return null;
    return [...this.#article.querySelectorAll(".slide, .reading-heading")].filter((element) => !element.matches(".slide *"));
  }

  #scrolled() {
    if (this.#frameAsked) return;
    this.#frameAsked = true;
    requestAnimationFrame(() => {
      this.#frameAsked = false;
      if (this.#stop.signal.aborted) return;
      this.#updateTools();
      if (!this.#parts.side?.hidden) this.#contents.mark(this.#positionInSight());
    });
  }

  #frameAsked = false;

  #isMarkInSight() {
    const mark = this.#mark()?.getBoundingClientRect();
    const frame = this.#parts.stage.getBoundingClientRect();
    return Boolean(mark && mark.height && mark.bottom > frame.top && mark.top < frame.bottom);
  }

  #updateTools() {
    const { previous, next, back, smaller, larger } = this.#parts;
    previous.disabled = false;
    next.disabled = false;
    smaller.disabled = this.#size === 0;
    larger.disabled = this.#size === SIZES.length - 1;
    const hasPlace = this.#place.chunkId && this.#outline.position !== null;
    back.hidden = !hasPlace || this.#isMarkInSight();
  }
}

function nothingYet({ status, error }) {
  if (status === "failed") return translated(error?.message) ?? t("This document could not be read.");
  if (status === "cancelled") return t("Processing was cancelled before any text was found.");
  return status === "ready" || status === "partial" ? t("This document has no text to show.") : t("This document has no text to show yet.");
}
