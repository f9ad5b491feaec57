// The page beside the answer: its image with the cited place drawn on it, or the text of kinds without pages.
import { get, withQuery } from "./api.js";
import { h, icon, parts } from "./dom.js";
import { boxesOnPage, firstPage, fittingZoom, imageWidth, inPercent, scrollLeftFor, scrollTopFor } from "./geometry.js";
import { clock } from "./format.js";
import { split } from "./passage.js";

const ZOOMS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3];
/** On a stage narrower than this, a whole page is too small to read: the marked place fills it instead. */
const READABLE = 600;
const NARROW = "(max-width: 60rem)";

/** The place a citation points at, from a context and one of its quotes. */
export function placeOfCitation(context, quote) {
  return {
    documentId: context.document_id,
    chunkId: context.chunk_id,
    chunkBoxes: context.bbox ?? [],
    quoteBoxes: quote?.bbox ?? [],
    quoteText: quote?.text ?? null,
    pageNumber: context.page_number,
  };
}

export class Viewer {
  #dialog;
  #parts;
  #options;
  #documents = new Map();
  #document = null;
  #place = null;
  #page = 1;
  #zoom = 1;
  #neighbours = {};
  #showing = 0;

  /** `asSheet`: cover the screen on a phone. `onClose` is told when the reader closes the viewer. */
  constructor(dialog, { asSheet = true, onClose = () => {} } = {}) {
    this.#dialog = dialog;
    this.#parts = parts(dialog);
    this.#options = { asSheet, onClose };
    const { close, previous, next, smaller, larger, back, number, stage } = this.#parts;
    close.addEventListener("click", () => this.close());
    previous.addEventListener("click", () => this.#step(-1));
    next.addEventListener("click", () => this.#step(1));
    smaller.addEventListener("click", () => this.#zoomBy(-1));
    larger.addEventListener("click", () => this.#zoomBy(1));
    back.addEventListener("click", () => this.showPlace(this.#place));
    number.addEventListener("change", () => this.#goTo(Number.parseInt(number.value, 10)));
    number.addEventListener("focus", () => number.select());
    stage.addEventListener("keydown", (event) => this.#key(event));
    dialog.addEventListener("keydown", (event) => event.key === "Escape" && this.#escape(event));
    dialog.addEventListener("close", () => this.#options.onClose());
  }

  /** Open the viewer at a place: `{documentId, chunkId?, chunkBoxes, quoteBoxes, quoteText?, pageNumber?}`. */
  async showPlace(place) {
    const showing = (this.#showing += 1);
    this.#place = place;
    this.#open();
    try {
      const document = await this.#fetchDocument(place.documentId);
      if (showing !== this.#showing) return;
      this.#document = document;
      this.#describe(document);
      await this.#showIn(document, place);
    } catch (error) {
      if (showing === this.#showing) this.#say(error.message);
    }
    // On a page of its own the viewer is what was asked for; taking the focus there would skip the page's top.
    if (this.#options.asSheet && this.#dialog.open) this.#parts.stage.focus({ preventScroll: true });
  }

  close() {
    if (this.#options.asSheet) this.#dialog.close();
  }

  get isOpen() {
    return this.#dialog.open;
  }

  #open() {
    if (this.#dialog.open) return;
    if (!this.#options.asSheet) this.#dialog.open = true;
    else if (matchMedia(NARROW).matches) this.#dialog.showModal();
    else this.#dialog.show();
  }

  async #fetchDocument(id) {
    if (!this.#documents.has(id)) this.#documents.set(id, get(`/documents/${id}`));
    return this.#documents.get(id).catch((error) => {
      this.#documents.delete(id);
      throw error;
    });
  }

  #describe({ id, name }) {
    this.#parts.name.textContent = name;
    this.#parts.original.href = `/api/v1/documents/${id}/file`;
  }

  #showIn(document, place) {
    const hasPages = place.chunkBoxes.length || place.quoteBoxes.length || document.page_count;
    if (hasPages) return this.#showPage(firstPage(place.quoteBoxes, place.chunkBoxes, place.pageNumber));
    if (place.chunkId) return this.#showChunk(place.chunkId, place.quoteText);
    return this.#showFirstChunk(document);
  }

  #showPage(number) {
    this.#page = number;
    this.#neighbours = {};
    this.#dialog.dataset.mode = "page";
    this.#updateTools();
    const { chunkBoxes, quoteBoxes, quoteText } = this.#place;
    const chunk = boxesOnPage(chunkBoxes, number);
    const quote = boxesOnPage(quoteBoxes, number);
    const image = h("img", { class: "sheet-image", alt: this.#altText(quote.length ? quoteText : null) });
    const places = h("div", { class: "places" }, chunk.map(drawn("chunk")), quote.map(drawn("quote")));
    const sheet = h("div", { class: "sheet is-loading" }, image, places);
    const page = (quote[0] ?? chunk[0]) || null;
    if (page) sheet.style.aspectRatio = `${page.layout_width} / ${page.layout_height}`;
    image.addEventListener("load", () => this.#loaded(sheet, image));
    image.addEventListener("error", () => this.#say("This page can’t be shown here. Open the original file instead."));
    this.#parts.stage.replaceChildren(sheet);
    const marked = quote.length ? quote : chunk;
    if (this.#parts.stage.clientWidth < READABLE) this.#zoom = fittingZoom(marked);
    this.#resize(sheet, image);
    this.#scrollTo(sheet, marked);
  }

  #altText(quoteText) {
    const page = `Page ${this.#page} of ${this.#document.name}`;
    return quoteText ? `${page}. Marked: ${quoteText}` : page;
  }

  #loaded(sheet, image) {
    sheet.classList.remove("is-loading");
    if (!sheet.style.aspectRatio) sheet.style.aspectRatio = `${image.naturalWidth} / ${image.naturalHeight}`;
  }

  #resize(sheet, image) {
    const { stage } = this.#parts;
    sheet.style.width = `${100 * this.#zoom}%`;
    const width = imageWidth(sheet.clientWidth || stage.clientWidth, devicePixelRatio);
    const source = `/api/v1/documents/${this.#document.id}/pages/${this.#page}?width=${width}`;
    if (image.getAttribute("src") !== source) image.src = source;
  }

  #scrollTo(sheet, boxes) {
    const { stage } = this.#parts;
    stage.scrollTop = scrollTopFor(boxes, sheet.clientHeight, stage.clientHeight);
    stage.scrollLeft = scrollLeftFor(boxes, sheet.clientWidth, stage.clientWidth);
  }

  #updateTools() {
    const { number, count, previous, next, smaller, larger, back, where, tools } = this.#parts;
    tools.hidden = false;
    const total = this.#document.page_count;
    number.value = this.#page;
    count.textContent = total ? `of ${total.toLocaleString("en")}` : "";
    where.textContent = total ? `Page ${this.#page} of ${total}` : `Page ${this.#page}`;
    previous.disabled = this.#page <= 1;
    next.disabled = Boolean(total) && this.#page >= total;
    smaller.disabled = this.#zoom <= ZOOMS[0];
    larger.disabled = this.#zoom >= ZOOMS.at(-1);
    const { quoteBoxes, chunkBoxes } = this.#place;
    const marked = quoteBoxes.length ? quoteBoxes : chunkBoxes;
    back.hidden = !marked.length || marked.some((box) => box.page_number === this.#page);
  }

  async #showFirstChunk(document) {
    const { results } = await get(withQuery(`/documents/${document.id}/chunks`, { limit: 1 }));
    if (results.length) return this.#showChunk(results[0].id, null);
    return this.#say("This document has no text to show yet.");
  }

  async #showChunk(id, quote) {
    const chunk = await get(`/chunks/${id}?neighbors=1`);
    this.#dialog.dataset.mode = "text";
    this.#neighbours = neighboursOf(chunk);
    const { previous, next, back, where, stage } = this.#parts;
    previous.disabled = !this.#neighbours.before;
    next.disabled = !this.#neighbours.after;
    back.hidden = !this.#place.chunkId || id === this.#place.chunkId;
    this.#parts.tools.hidden = previous.disabled && next.disabled;
    where.textContent = chunk.start_time === null ? "Text" : `${clock(chunk.start_time)} – ${clock(chunk.end_time)}`;
    const [before, quoted, after] = split(chunk.text, quote);
    const mark = quoted ? h("mark", { class: "place-text" }, quoted) : null;
    const headings = chunk.metadata.headings?.length ? h("p", { class: "passage-headings" }, chunk.metadata.headings.join(" › ")) : null;
    stage.replaceChildren(h("article", { class: "passage" }, headings, h("p", { class: "passage-text" }, before, mark, after)));
    stage.scrollTop = 0;
    mark?.scrollIntoView({ block: "center" });
  }

  #step(by) {
    if (this.#dialog.dataset.mode === "page") return this.#goTo(this.#page + by);
    const id = by < 0 ? this.#neighbours.before : this.#neighbours.after;
    const quote = id === this.#place.chunkId ? this.#place.quoteText : null;
    return id && this.#showChunk(id, quote).catch((error) => this.#say(error.message));
  }

  #goTo(number) {
    const last = this.#document.page_count ?? Infinity;
    if (number >= 1 && number <= last) this.#showPage(number);
    else this.#parts.number.value = this.#page;
  }

  #zoomBy(step) {
    const sheet = this.#parts.stage.querySelector(".sheet");
    const zoom = step > 0 ? ZOOMS.find((one) => one > this.#zoom) : ZOOMS.findLast((one) => one < this.#zoom);
    if (!sheet || !zoom) return;
    this.#zoom = zoom;
    this.#resize(sheet, sheet.querySelector("img"));
    this.#updateTools();
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = {
      ArrowLeft: () => this.#step(-1),
      ArrowRight: () => this.#step(1),
      "+": () => this.#zoomBy(1),
      "-": () => this.#zoomBy(-1),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  #escape(event) {
    event.preventDefault();
    this.close();
  }

  #say(message) {
    this.#parts.stage.replaceChildren(h("p", { class: "notice viewer-notice" }, icon("triangle-alert"), message));
  }
}

const drawn = (kind) => (box) => {
  const place = h("div", { class: `place place-${kind}`, "data-place": kind });
  for (const [side, percent] of Object.entries(inPercent(box))) place.style[side] = `${percent}%`;
  return place;
};

function neighboursOf({ neighbors }) {
  return { before: neighbors?.before ?? null, after: neighbors?.after ?? null };
}
