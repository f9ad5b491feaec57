// The image of a page with the cited place drawn on it.
import { h } from "./dom.js";
import { boxesOnPage, firstPage, fittingZoom, imageWidth, scrollLeftFor, scrollTopFor } from "./geometry.js";
import { FORMATS } from "./locale.js";
import { MACHINE_MADE } from "./picture.js";
import { placesNode } from "./places.js";
import { t } from "./texts.js";

const ZOOMS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3];
/** On a stage narrower than this, a whole page is too small to read: the marked place fills it instead. */
const READABLE = 600;

export class PageView {
  static words = { stage: t("Page"), previous: t("Previous page"), next: t("Next page") };
  static tools = ["pages", "zoom"];

  #parts;
  #document;
  #place;
  #say;
  #page = 1;
  #zoom = 1;

  constructor({ parts, document, place, say }) {
    this.#parts = parts;
    this.#document = document;
    this.#place = place;
    this.#say = say;
  }

  show() {
    const { quoteBoxes, chunkBoxes, pageNumber } = this.#place;
    this.#showPage(firstPage(quoteBoxes, chunkBoxes, pageNumber));
  }

  step(by) {
    this.goTo(this.#page + by);
  }

  goTo(number) {
    const last = this.#document.page_count ?? Infinity;
    if (number >= 1 && number <= last) this.#showPage(number);
    else this.#parts.number.value = this.#page;
  }

  zoom(step) {
    const sheet = this.#parts.stage.querySelector(".sheet");
    const zoom = step > 0 ? ZOOMS.find((one) => one > this.#zoom) : ZOOMS.findLast((one) => one < this.#zoom);
    if (!sheet || !zoom) return;
    this.#zoom = zoom;
    this.#resize(sheet, sheet.querySelector("img"));
    this.#updateTools();
  }

  /** Take over a document that has changed; the page and its size stay. */
  update(document) {
    this.#document = document;
    this.#showPage(this.#page);
  }

  leave() {}

  link() {
    const { chunkId, quoteBoxes, chunkBoxes } = this.#place;
    const isAtPlace = chunkId && [...quoteBoxes, ...chunkBoxes].some((box) => box.page_number === this.#page);
    return isAtPlace ? { chunk: chunkId } : { page: this.#page };
  }

  #showPage(number) {
    this.#page = number;
    this.#updateTools();
    const { chunkBoxes, quoteBoxes, quoteText } = this.#place;
    const chunk = boxesOnPage(chunkBoxes, number);
    const quote = boxesOnPage(quoteBoxes, number);
    const image = h("img", { class: "sheet-image", alt: this.#altText(quote.length ? quoteText : null) });
    const sheet = h("div", { class: "sheet is-loading" }, image, placesNode(this.#place, number));
    const layout = quote[0] ?? chunk[0];
    if (layout) sheet.style.aspectRatio = `${layout.layout_width} / ${layout.layout_height}`;
    image.addEventListener("load", () => loaded(sheet, image, number));
    image.addEventListener("error", () => this.#say(t("This page can’t be shown here. Open the original file instead.")));
    this.#parts.stage.replaceChildren(sheet);
    const marked = quote.length ? quote : chunk;
    if (this.#parts.stage.clientWidth < READABLE) this.#zoom = fittingZoom(marked);
    this.#resize(sheet, image);
    this.#scrollTo(sheet, marked);
  }

  #altText(quoteText) {
    const page = t("Page {page} of {name}", { page: this.#page, name: this.#document.name });
    const words = this.#place.isMachineMade ? t("a picture. {maker}: {words}", { maker: MACHINE_MADE, words: quoteText }) : quoteText;
    return quoteText ? t("{page}. Marked: {words}", { page, words }) : page;
  }

  #resize(sheet, image) {
    const { stage } = this.#parts;
    sheet.style.width = `${100 * this.#zoom}%`;
    const width = imageWidth(sheet.clientWidth || stage.clientWidth, devicePixelRatio);
    const source = `/api/v1/documents/${this.#document.id}/pages/${this.#page}?width=${width}`;
    if (image.getAttribute("src") !== source) image.src = source;
  }

  #where(total) {
    const page = total ? t("Page {page} of {total}", { page: this.#page, total }) : t("Page {page}", { page: this.#page });
    const isCited = this.#place.isMachineMade && this.#page === this.#place.quoteBoxes[0]?.page_number;
    return isCited ? `${page} · ${MACHINE_MADE}` : page;
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
    count.textContent = total ? t("of {number}", { number: total.toLocaleString(FORMATS) }) : "";
    where.textContent = this.#where(total);
    previous.disabled = this.#page <= 1;
    next.disabled = Boolean(total) && this.#page >= total;
    smaller.disabled = this.#zoom <= ZOOMS[0];
    larger.disabled = this.#zoom >= ZOOMS.at(-1);
    const { quoteBoxes, chunkBoxes } = this.#place;
    const marked = quoteBoxes.length ? quoteBoxes : chunkBoxes;
    back.hidden = !marked.length || marked.some((box) => box.page_number === this.#page);
  }
}

function loaded(sheet, image, number) {
  sheet.classList.remove("is-loading");
  sheet.dataset.drawn = number;
  if (!sheet.style.aspectRatio) sheet.style.aspectRatio = `${image.naturalWidth} / ${image.naturalHeight}`;
}
