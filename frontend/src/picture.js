// A picture chunk on the screen: the picture cut out of its page, and which of its words a machine has written.
import { h } from "./dom.js";
import { imageWidth, inCrop } from "./geometry.js";
import { locate, pieces, rowOf } from "./passage.js";
import { t } from "./texts.js";

/** How wide a crop is at most, in CSS pixels. */
const CROP_WIDTH = 160;

/** So long the API lets a preview be. */
const PREVIEW_CHARS = 300;

export const MACHINE_MADE = t("Described by a machine");

/** The picture as an image; `box` is an entry of `bbox`. The words beside it say what it is of. */
export function cropNode(documentId, box) {
  const [x1, , x2] = box.bbox;
  const width = imageWidth((CROP_WIDTH * box.layout_width) / (x2 - x1), devicePixelRatio);
  const image = h("img", { src: `/api/v1/documents/${documentId}/pages/${box.page_number}?width=${width}`, alt: "", loading: "lazy" });
  const crop = h("span", { class: "crop" }, image);
  const { ratio, ...place } = inCrop(box);
  crop.style.setProperty("--ratio", ratio);
  Object.assign(image.style, place);
  // The page may be gone, or not be drawn in time: the words remain.
  image.addEventListener("error", () => crop.remove());
  return crop;
}

/**
 * The words of a source: those of the quote, or of the chunk, with the sentence marked that comes nearest; a machine's come
 * with a note.
 */
export function previewNodes({ quotes, closest, text_preview: preview, machine_made: ranges }) {
  const parts = closest && !closest.machine_made && !rowOf(closest) ? aroundSentence(preview, closest) : null;
  if (parts) return [parts[0], h("mark", { class: "nearest" }, parts[1]), parts[2]];
  const quote = quotes?.[0] ?? closest;
  if (quote) return quote.machine_made ? [machineNote(), " ", quote.text] : quoteNodes(quote);
  const { own, machine } = toldApart(shortened(preview), ranges);
  return machine ? [own, own ? " " : null, machineNote(), " ", machine] : [own];
}

/** The words before the sentence that comes nearest, it, and those behind; null if the preview does not hold it. */
export function aroundSentence(preview, { text, chunk_start: start }) {
  const shown = shortened(preview);
  const range = locate(shown, text);
  if (!range) return null;
  const [before, ...rest] = pieces(shown, [0, shown.length], range);
  return [[...before].length === start ? before : `… ${before}`, ...rest];
}

/** The API cuts a preview anywhere; a reader is shown whole words. */
const shortened = (preview) => ([...(preview ?? "")].length < PREVIEW_CHARS ? preview : preview.replace(/\s+\S*$/, "…"));

/** The words of a quote; a row of a table cell by cell, each with the name of its column. */
function quoteNodes(quote) {
  return rowOf(quote)?.flatMap(({ name, value }) => [name ? h("span", { class: "cell-label" }, name) : null, h("span", { class: "cell" }, value), " "]) ?? [quote.text];
}

export const machineNote = (model = null) => h("span", { class: "machine-made" }, model ? `${MACHINE_MADE}, ${model}` : MACHINE_MADE);

/** A text without and with what a machine has written; `ranges` count code points, as Python does. */
export function toldApart(text, ranges) {
  const points = [...(text ?? "")];
  const start = ranges?.[0]?.[0] ?? points.length;
  return { own: points.slice(0, start).join("").trim(), machine: points.slice(start).join("").trim() };
}
