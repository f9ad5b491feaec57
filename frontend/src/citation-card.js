// The card of a citation: what it cites, before one goes there. It comes by mouse, by focus, and by a finger's first tap.
import { h, icon } from "./dom.js";
import { PAGE } from "./execution.js";
import { placeOf } from "./format.js";
import { boxesOnPage, frameAround, imageWidth, inCrop, inFrame } from "./geometry.js";
import { previewNodes } from "./picture.js";
import { hostOf } from "./web-answer.js";
import { excerptNodes, outside } from "./web-source.js";
import { t } from "./texts.js";

const DELAY_MS = { mouse: 180, focus: 350, leave: 220 };
const WIDTH = 352;
const GAP = 8;

/**
 * Show cards for the chips in `root`. `lookUp(chip)` returns `{number, kind, source, quote}` or null, `onOpen(chip)`
 * opens the place.
 */
export function startCitationCard(root, { lookUp, onOpen }) {
  new CitationCard(root, lookUp, onOpen);
}

class CitationCard {
  #root;
  #lookUp;
  #onOpen;
  #card = h("div", { class: "citation-card", id: "citation-card", popover: "manual" });
  #chip = null;
  #timer = 0;
  #pointer = "";

  constructor(root, lookUp, onOpen) {
    this.#root = root;
    this.#lookUp = lookUp;
    this.#onOpen = onOpen;
    root.append(this.#card);
    root.addEventListener("pointerover", (event) => this.#over(event));
    root.addEventListener("pointerout", (event) => this.#out(event));
    root.addEventListener("pointerdown", (event) => this.#down(event));
    root.addEventListener("focusin", ({ target }) => this.#focused(target));
    root.addEventListener("focusout", ({ target }) => target === this.#chip && this.#later(DELAY_MS.leave, () => this.#hide()));
    root.addEventListener("click", (event) => this.#clicked(event), { capture: true });
    root.addEventListener("keydown", (event) => this.#key(event), { capture: true });
    root.addEventListener("scroll", ({ target }) => target !== this.#card && this.#hide(), { capture: true, passive: true });
    window.addEventListener("resize", () => this.#hide());
  }

  #over({ target, pointerType }) {
    if (pointerType === "touch") return;
    const chip = target.closest(".answer .cite");
    if (chip) this.#later(chip === this.#chip ? 0 : DELAY_MS.mouse, () => this.#show(chip));
    else if (this.#card.contains(target)) this.#later(0, () => {});
  }

  #out({ target, relatedTarget, pointerType }) {
    if (pointerType === "touch" || this.#isTouched()) return;
    if (!target.closest(".answer .cite, .citation-card")) return;
    if (this.#card.contains(relatedTarget)) return;
    this.#later(DELAY_MS.leave, () => document.activeElement === this.#chip && this.#pointer === "" || this.#hide());
  }

  #down({ target, pointerType }) {
    this.#pointer = pointerType;
    if (this.#chip && !target.closest(".cite") && !this.#card.contains(target)) this.#hide();
  }

  /** Focus that a key has moved; a finger or a mouse has its own way. */
  #focused(target) {
    const chip = target.matches(".answer .cite:focus-visible") ? target : null;
    if (chip) this.#later(DELAY_MS.focus, () => this.#show(chip));
  }

  /** A finger can't hover: its first tap shows the card, the next one opens the place. */
  #clicked(event) {
    const chip = event.target.closest(".answer .cite");
    if (!chip) return;
    if (this.#pointer !== "touch" || chip === this.#chip) return this.#hide();
    event.preventDefault();
    event.stopPropagation();
    this.#show(chip, { isTouched: true });
  }

  #key(event) {
    this.#pointer = "";
    if (event.key !== "Escape" || !this.#chip) return;
    // Only the card goes, not what stands below it.
    event.preventDefault();
    event.stopPropagation();
    this.#hide();
  }

  #later(delay, action) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(action, delay);
  }

  #isTouched() {
    return this.#card.getAttribute("role") === "dialog";
  }

  #show(chip, { isTouched = false } = {}) {
    clearTimeout(this.#timer);
    const cited = chip.isConnected ? this.#lookUp(chip) : null;
    if (!cited?.source || cited.source.unavailable || (chip === this.#chip && !isTouched)) return;
    this.#hide();
    this.#chip = chip;
    const open = () => {
      this.#hide();
      // From here on it is no first tap.
      this.#pointer = "";
      this.#onOpen(chip);
    };
    this.#card.replaceChildren(...cardNodes(cited, isTouched ? open : null));
    // With a button in it the card is more than a description.
    this.#card.setAttribute("role", isTouched ? "dialog" : "tooltip");
    if (isTouched) this.#card.setAttribute("aria-label", t("Source {number}", { number: cited.number }));
    else this.#card.removeAttribute("aria-label");
    chip.setAttribute("aria-describedby", this.#card.id);
    this.#card.showPopover();
    this.#place(chip.getBoundingClientRect());
  }

  #hide() {
    clearTimeout(this.#timer);
    if (!this.#chip) return;
    this.#chip.removeAttribute("aria-describedby");
    this.#chip = null;
    this.#card.hidePopover();
  }

  /** Below the chip, or above it where there is more room. */
  #place({ left, top, bottom }) {
    const { clientWidth: width, clientHeight: height } = document.documentElement;
    const across = Math.min(WIDTH, width - 2 * GAP);
    const down = this.#card.offsetHeight;
    const isBelow = bottom + GAP + down <= height || height - bottom > top;
    this.#card.style.width = `${across}px`;
    this.#card.style.left = `${Math.max(GAP, Math.min(left - 24, width - across - GAP))}px`;
    this.#card.style.top = `${Math.max(GAP, isBelow ? bottom + GAP : top - GAP - down)}px`;
  }
}

function cardNodes({ number, kind, source, quote }, open) {
  const badge = h("span", { class: "rank" }, String(number));
  if (kind === PAGE) {
    const title = h("span", { class: "source-title" }, h("span", { class: "source-name" }, source.title), h("span", { class: "source-place" }, hostOf(source.url)));
    const way = open ? outside(source.url, { class: "button button-small" }, icon("external-link"), t("Open the page")) : null;
    return [h("p", { class: "card-head" }, badge, title), h("p", { class: "card-quote" }, excerptNodes(source)), way].filter(Boolean);
  }
  const title = h("span", { class: "source-title" }, h("span", { class: "source-name" }, source.document_name), h("span", { class: "source-place" }, placeOf(source, quote)));
  const words = quote ? previewNodes({ quotes: [quote] }) : previewNodes(source);
  const way = open ? h("button", { class: "button button-small", type: "button", onclick: open }, icon("book-open-text"), t("Show the place")) : null;
  return [h("p", { class: "card-head" }, badge, title), thumbnail(source, quote), h("p", { class: quote ? "card-quote is-quoted" : "card-quote" }, words), way].filter(Boolean);
}

/** The page cut to the passage, the quote marked in it; null for documents without pages. */
function thumbnail(context, quote) {
  const boxes = quote?.bbox ?? (context.picture ? [context.picture] : context.bbox);
  if (!boxes?.length) return null;
  const frame = frameAround(boxes);
  const { ratio, ...place } = inCrop(frame);
  const width = imageWidth((WIDTH * frame.layout_width) / (frame.bbox[2] - frame.bbox[0]), devicePixelRatio);
  const image = h("img", { src: `/api/v1/documents/${context.document_id}/pages/${frame.page_number}?width=${width}`, alt: "" });
  const marks = quote?.bbox ? boxesOnPage(quote.bbox, frame.page_number).map((box) => markOf(box, frame)) : [];
  const thumb = h("span", { class: "card-page is-loading" }, image, ...marks);
  thumb.style.setProperty("--ratio", ratio);
  Object.assign(image.style, place);
  image.addEventListener("load", () => thumb.classList.remove("is-loading"));
  // The page may be gone, or not be drawn in time: the words remain.
  image.addEventListener("error", () => thumb.remove());
  return thumb;
}

function markOf(box, frame) {
  const mark = h("span", { class: "card-mark" });
  Object.assign(mark.style, inFrame(box, frame));
  return mark;
}
