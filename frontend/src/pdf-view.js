// A PDF as pdf.js shows it: all pages below each other, with selectable text, and the cited place drawn on them.
import { library, openPdf } from "./pdf-library.js"; // Before the components: they look for the library it loads.
import { EventBus, PDFFindController, PDFViewer } from "pdfjs-dist/legacy/web/pdf_viewer.mjs";
import { h } from "./dom.js";
import { firstPage, fittingZoom, imageWidth, scrollLeftFor, scrollTopFor, turnedBox } from "./geometry.js";
import { FORMATS } from "./locale.js";
import { Passages } from "./passages.js";
import { PdfFind } from "./pdf-find.js";
import { PdfLinks } from "./pdf-links.js";
import { printPdf } from "./pdf-print.js";
import { PdfSide } from "./pdf-side.js";
import { MACHINE_MADE } from "./picture.js";
import { startPinch } from "./pinch.js";
import { markedBoxes, placesNode } from "./places.js";
import { withRecognisedText } from "./recognised-text.js";
import { ScaleList } from "./scale-list.js";
import { t } from "./texts.js";

/** On a stage narrower than this, a whole page is too small to read: the marked place fills it instead. */
const READABLE = 600;
/** A file that shows no page after so long is shown as images of its pages, which the server draws. */
const PATIENCE_MS = 60_000;
/** What the library asks of a translator; our pages are named by `#nameOf`. */
const NO_TRANSLATION = { getLanguage: () => "en", getDirection: () => "ltr", get: async () => "", translate: async () => {}, translateOnce: async () => {}, pause() {}, resume() {}, destroy: async () => {} };

/** This file has to be shown as images of its pages. */
class NeedsPageImages extends Error {
  insteadMode = "page";
}

export class PdfView {
  static words = { stage: t("Pages"), previous: t("Previous page"), next: t("Next page") };
  static tools = ["pages", "zoom", "scale", "find", "side", "turn", "print", "passages"];

  #parts;
  #document;
  #place;
  #events = new EventBus();
  #stop = new AbortController();
  #task = null;
  #pdf = null;
  #viewer = null;
  #links;
  #side = null;
  #passages;
  #scales;
  #layers = new Map();
  #goal = null;

  constructor({ parts, document, place }) {
    this.#parts = parts;
    this.#document = document;
    this.#place = place;
    this.#links = new PdfLinks(this.#events);
    this.find = new PdfFind(this.#events, parts.findCount, () => this.#pdf?.numPages ?? 0);
    this.#scales = new ScaleList(parts.scale);
    this.#passages = new Passages(document.id, (number) => this.#viewer?.getPageView(number - 1)?.div, () => this.#viewer?.pagesRotation ?? 0);
  }

  async show() {
    this.#parts.tools.hidden = false;
    const start = this.#startPage();
    this.#parts.stage.replaceChildren(h("div", { class: "pdf-opening", role: "status" }, t("Opening the document…")));
    this.#showPage(start, this.#document.page_count);
    this.#task = openPdf(this.#document.id);
    try {
      await this.#open(start);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      this.leave();
      throw new NeedsPageImages(error.message);
    }
  }

  /** Another place in the same document. */
  async showPlace(place) {
    this.#place = place;
    if (!this.#viewer) return;
    this.#dressAll();
    await this.#reach(this.#startPage());
  }

  /** Take over a document that has been processed again; where the reader is, and its size, stay. */
  update(document) {
    const isSameFile = document.sha256 === this.#document.sha256;
    this.#document = document;
    if (isSameFile) return undefined;
    this.#place = { ...this.#place, chunkBoxes: [], quoteBoxes: [], headerBoxes: [], pageNumber: this.#viewer?.currentPageNumber };
    this.leave();
    this.#stop = new AbortController();
    return this.show();
  }

  step(by) {
    this.goTo((this.#goal ?? this.#viewer?.currentPageNumber ?? 0) + by);
  }

  goTo(number) {
    if (!this.#viewer) return;
    if (number >= 1 && number <= this.#pdf.numPages) this.#jump(number);
    else this.#parts.number.value = this.#viewer.currentPageNumber;
  }

  /** Pages that were not seen yet have the size of the first one: those around the goal get their own before the jump. */
  async #jump(number) {
    this.#goal = number;
    this.#showPage(number, this.#pdf.numPages);
    const around = [number - 1, number, number + 1].filter((one) => one >= 1 && one <= this.#pdf.numPages);
    await Promise.all(around.map(async (one) => {
      const view = this.#viewer.getPageView(one - 1);
      if (!view.pdfPage) view.setPdfPage(await this.#pdf.getPage(one));
    })).catch(() => {}); // A page that can't be loaded keeps its size.
    if (this.#goal !== number || !this.#viewer) return;
    this.#goal = null;
    this.#viewer.currentPageNumber = number;
    this.#turned(number);
  }

  zoom(step) {
    this.#viewer?.updateScale({ steps: step });
  }

  setScale(value) {
    if (this.#viewer) this.#viewer.currentScaleValue = value;
  }

  turn() {
    if (!this.#viewer) return;
    this.#viewer.pagesRotation = (this.#viewer.pagesRotation + 90) % 360;
    this.#dressAll();
    this.#passages.redraw();
  }

  print() {
    return this.#pdf && printPdf(this.#pdf);
  }

  async toggleSide() {
    if (!this.#side) return;
    const open = await this.#side.toggle(this.#viewer.currentPageNumber);
    this.#parts.toggleSide.setAttribute("aria-expanded", String(open));
  }

  togglePassages() {
    return this.#passages.toggle(this.#drawnPages());
  }

  link() {
    const isAtPlace = this.#place.chunkId && markedBoxes(this.#place).some((box) => box.page_number === this.#viewer?.currentPageNumber);
    return isAtPlace ? { chunk: this.#place.chunkId } : { page: this.#viewer?.currentPageNumber ?? 1 };
  }

  leave() {
    this.#stop.abort();
    this.#side?.leave();
    this.#parts.toggleSide.setAttribute("aria-expanded", "false");
    this.#parts.passages.setAttribute("aria-pressed", "false");
    this.#scales.leave();
    for (const { observer } of this.#layers.values()) observer.disconnect();
    this.#layers.clear();
    this.#viewer?.setDocument(null);
    this.#viewer = null;
    this.#task?.destroy();
    document.querySelectorAll(".hiddenCanvasElement").forEach((canvas) => canvas.remove());
  }

  #startPage() {
    const { quoteBoxes, chunkBoxes, pageNumber } = this.#place;
    return firstPage(quoteBoxes, chunkBoxes, pageNumber);
  }

  async #open(start) {
    this.#pdf = withRecognisedText(await patiently(this.#task.promise), this.#document.id);
    const isHere = () => !this.#stop.signal.aborted;
    if (!isHere()) return;
    const page = Math.min(start, this.#pdf.numPages);
    // The page that is asked for is loaded before any is drawn: where it stands depends on its size.
    const [first, wanted] = await patiently(Promise.all([this.#pdf.getPage(1), this.#pdf.getPage(page)]));
    if (!isHere() || !first) return;
    this.#makeViewer();
    const ready = new Promise((resolve) => this.#events.on("pagesinit", resolve, { once: true }));
    this.#viewer.setDocument(this.#pdf);
    this.#links.setDocument(this.#pdf);
    await patiently(ready);
    if (!isHere()) return;
    this.#nameAll();
    const view = this.#viewer.getPageView(page - 1);
    if (!view.pdfPage) view.setPdfPage(wanted);
    this.#viewer.currentPageNumber = page;
    this.#size(page);
    this.#dressAll();
    await this.#reach(page);
    this.#side = new PdfSide(this.#parts.side, { pdf: this.#pdf, links: this.#links, goTo: (number) => this.goTo(number) });
  }

  #makeViewer() {
    const { stage } = this.#parts;
    const element = h("div", { class: "pdfViewer" });
    stage.replaceChildren(element);
    this.#viewer = new PDFViewer({
      container: stage,
      viewer: element,
      eventBus: this.#events,
      linkService: this.#links,
      findController: new PDFFindController({ eventBus: this.#events, linkService: this.#links }),
      annotationMode: library.AnnotationMode.ENABLE,
      annotationEditorMode: library.AnnotationEditorType.DISABLE,
      removePageBorders: stage.clientWidth < READABLE,
      enableAutoLinking: false,
      l10n: NO_TRANSLATION,
      abortSignal: this.#stop.signal,
    });
    this.#links.setViewer(this.#viewer);
    this.find.watch(this.#viewer.findController);
    startPinch(stage, this.#viewer, this.#stop.signal);
    const on = (name, handle) => this.#events.on(name, handle, { signal: this.#stop.signal });
    on("pagechanging", ({ pageNumber }) => this.#turned(pageNumber));
    on("updateviewarea", () => this.#updateBack());
    on("scalechanging", ({ scale, presetValue }) => this.#scales.show(scale, presetValue));
    on("pagerendered", (event) => this.#rendered(event));
    this.#refitWith(stage);
  }

  /** A size that follows the stage is kept to when the stage changes: a panel beside it opens, a phone is turned. */
  #refitWith(stage) {
    let width = stage.clientWidth;
    const observer = new ResizeObserver(() => {
      const size = this.#viewer?.currentScaleValue;
      if (stage.clientWidth === width || !this.#viewer?.pdfDocument) return;
      width = stage.clientWidth;
      if (ScaleList.isFitting(size)) this.#viewer.currentScaleValue = size;
    });
    observer.observe(stage);
    this.#stop.signal.addEventListener("abort", () => observer.disconnect(), { once: true });
  }

  /** Pages are places to go to; each has its name. */
  #nameAll() {
    for (let at = 0; at < this.#viewer.pagesCount; at += 1) {
      const { div } = this.#viewer.getPageView(at);
      div.setAttribute("role", "group");
      div.setAttribute("aria-label", this.#nameOf(at + 1));
    }
  }

  #nameOf(number) {
    const quoted = this.#place.quoteBoxes.some((box) => box.page_number === number) ? this.#place.quoteText : null;
    const words = quoted && this.#place.isMachineMade ? t("a picture. {maker}: {words}", { maker: MACHINE_MADE, words: quoted }) : quoted;
    return words ? t("Page {number}. Marked: {words}", { number, words }) : t("Page {number}", { number });
  }

  #size(page) {
    const { stage } = this.#parts;
    this.#viewer.currentScaleValue = stage.clientWidth < READABLE ? "page-width" : "auto";
    const marked = markedBoxes(this.#place).filter((box) => box.page_number === page);
    if (stage.clientWidth >= READABLE || !marked.length) return;
    const zoom = fittingZoom(marked);
    if (zoom > 1.05) this.#viewer.currentScale *= zoom;
  }

  /** Scroll to the marked place on a page, or to its top. */
  async #reach(number) {
    const { stage } = this.#parts;
    const view = this.#viewer.getPageView(number - 1);
    if (!view) return;
    if (!view.pdfPage) view.setPdfPage(await this.#pdf.getPage(number));
    if (this.#stop.signal.aborted) return;
    this.#viewer.currentPageNumber = number;
    const boxes = markedBoxes(this.#place).filter((box) => box.page_number === number).map((box) => turnedBox(box, this.#viewer.pagesRotation));
    if (boxes.length) {
      stage.scrollTop = view.div.offsetTop + scrollTopFor(boxes, view.div.clientHeight, stage.clientHeight);
      stage.scrollLeft = view.div.offsetLeft + scrollLeftFor(boxes, view.div.clientWidth, stage.clientWidth);
    }
    this.#turned(number);
  }

  #turned(number) {
    this.#showPage(number, this.#pdf.numPages);
    this.#side?.mark(number);
  }

  #showPage(current, total) {
    const { number, count, previous, next, where } = this.#parts;
    if (document.activeElement !== number) number.value = current;
    count.textContent = total ? t("of {number}", { number: total.toLocaleString(FORMATS) }) : "";
    const words = total ? t("Page {current} of {total}", { current, total }) : t("Page {current}", { current });
    const isCited = this.#place.isMachineMade && current === this.#place.quoteBoxes[0]?.page_number;
    where.textContent = isCited ? `${words} · ${MACHINE_MADE}` : words;
    previous.disabled = current <= 1;
    next.disabled = Boolean(total) && current >= total;
    this.#updateBack();
  }

  /** Offer the way back while no mark is in sight. */
  #updateBack() {
    const { back, stage } = this.#parts;
    const frame = stage.getBoundingClientRect();
    const kind = this.#place.quoteBoxes.length ? "quote" : "chunk";
    const marks = [...stage.querySelectorAll(`[data-place="${kind}"]`)].map((mark) => mark.getBoundingClientRect());
    const isSeen = marks.some(({ top, bottom }) => bottom > frame.top && top < frame.bottom);
    back.hidden = !this.#viewer || isSeen || !markedBoxes(this.#place).length;
  }

  #rendered({ pageNumber, error, source }) {
    if (source.div) source.div.dataset.drawn = pageNumber;
    if (error) this.#showImage(source.div, pageNumber);
    this.#passages.draw(pageNumber);
  }

  /** What the library can't draw, the server may. */
  #showImage(page, number) {
    const width = imageWidth(page.clientWidth, devicePixelRatio);
    const image = h("img", { class: "page-image", alt: "", src: `/api/v1/documents/${this.#document.id}/pages/${number}?width=${width}` });
    page.querySelector(".page-image")?.remove();
    page.append(image);
  }

  #drawnPages() {
    return [...this.#parts.stage.querySelectorAll(".page[data-loaded]")].map((page) => Number(page.dataset.pageNumber));
  }

  /** Draw the place on each page it touches, in place of the one before. */
  #dressAll() {
    for (const [number, { layer, observer }] of this.#layers) {
      observer.disconnect();
      layer.remove();
      this.#viewer.getPageView(number - 1).div.setAttribute("aria-label", t("Page {number}", { number }));
    }
    this.#layers.clear();
    const place = this.#turnedPlace();
    const pages = new Set([...place.chunkBoxes, ...place.quoteBoxes, ...(place.headerBoxes ?? [])].map((box) => box.page_number));
    for (const number of pages) this.#dress(number, placesNode(place, number));
  }

  #dress(number, layer) {
    const page = this.#viewer.getPageView(number - 1)?.div;
    if (!page || !layer) return;
    page.setAttribute("aria-label", this.#nameOf(number));
    page.append(layer);
    // The library empties a page before it draws it anew.
    const observer = new MutationObserver(() => {
      if (layer.isConnected) return;
      layer.classList.add("is-settled");
      page.append(layer);
    });
    observer.observe(page, { childList: true });
    this.#layers.set(number, { layer, observer });
  }

  #turnedPlace() {
    const turned = (boxes) => (boxes ?? []).map((box) => turnedBox(box, this.#viewer.pagesRotation));
    const { chunkBoxes, quoteBoxes, headerBoxes, picture } = this.#place;
    return { chunkBoxes: turned(chunkBoxes), quoteBoxes: turned(quoteBoxes), headerBoxes: turned(headerBoxes), picture: picture && turned([picture])[0] };
  }
}

/** A promise that gives up. */
function patiently(promise) {
  let timer = 0;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("The file took too long to open.")), PATIENCE_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
