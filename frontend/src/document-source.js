// A place in a document as a citation and as a source of an answer.
import { h } from "./dom.js";
import { quoteOf } from "./execution.js";
import { placeOf } from "./format.js";
import { cropNode, MACHINE_MADE, previewNodes } from "./picture.js";
import { t } from "./texts.js";

/** Name the button of a citation; `quote` is what it quotes, if that is known. */
export function dressPlace(chip, number, context, quote) {
  const words = context ? [context.document_name, placeOf(context, quote), quote?.machine_made ? MACHINE_MADE.toLowerCase() : ""] : [];
  chip.textContent = String(number);
  chip.setAttribute("aria-label", [t("Source {number}", { number }), ...words].filter(Boolean).join(", "));
  chip.classList.toggle("is-machine-made", quote?.machine_made ?? false);
}

/** An entry of the list of sources; `badge` shows its number. */
export function placeItem({ source: context }, badge, { isOpened = false } = {}) {
  if (context.unavailable) {
    return h("li", { class: "source is-gone" }, badge, h("span", { class: "source-body" }, t("A document you can no longer see")));
  }
  const title = h("span", { class: "source-title" }, h("span", { class: "source-name" }, context.document_name), " ", h("span", { class: "source-place" }, placeOf(context, quoteOf(context))));
  const crop = context.picture ? cropNode(context.document_id, context.picture) : null;
  const preview = h("span", { class: isOpened ? "source-preview is-whole" : "source-preview" }, previewNodes(context));
  const body = h("span", { class: crop ? "source-body has-picture" : "source-body" }, title, preview, crop);
  return h("li", {}, h("button", { class: "source", type: "button", "data-letter": "d", "data-rank": context.rank }, badge, body));
}
