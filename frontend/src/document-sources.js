// How an answer from documents shows its citations and sources: each opens its place.
import { h } from "./dom.js";
import { contextOf, quoteOf } from "./execution.js";
import { placeOf } from "./format.js";
import { cropNode, MACHINE_MADE, previewNodes } from "./picture.js";
import { rankOf, removedNote, sourceSections } from "./source-list.js";

/** `onCite(context, quote, button)` is called when a citation or a source is opened. */
export const documentSources = ({ onCite }) => ({
  listed: (state) => state.contexts,
  nodes: (state) => sourceSections(state, state.contexts, { noun: "chunk", item: sourceItem }),
  notes: (state) => [withheldNote(state.result), removedNote(state.result ?? {})].filter(Boolean),
  dress(chip, state) {
    const context = contextOf(state, Number(chip.dataset.rank));
    const quote = context ? quoteOf(context, occurrence(chip)) : null;
    const words = context ? [context.document_name, placeOf(context, quote), quote?.machine_made ? MACHINE_MADE.toLowerCase() : ""] : [];
    chip.setAttribute("aria-label", [`Source ${chip.dataset.rank}`, ...words].filter(Boolean).join(", "));
    chip.classList.toggle("is-machine-made", quote?.machine_made ?? false);
    if (quote?.machine_made) chip.title = MACHINE_MADE;
  },
  open(state, button) {
    const context = contextOf(state, Number(button.dataset.rank));
    if (context) onCite(context, quoteOf(context, occurrence(button)), button);
  },
});

/** Says why a stored answer has no text. */
function withheldNote(result) {
  const words = "This answer can no longer be shown: you can't see a document that it was made from.";
  return result?.unavailable ? h("p", { class: "notice" }, words) : null;
}

/** Which citation of its source a chip is, from 0: each has a quote of its own. */
function occurrence(button) {
  const same = [...(button.closest(".answer")?.querySelectorAll(`.cite[data-rank="${button.dataset.rank}"]`) ?? [])];
  return Math.max(0, same.indexOf(button));
}

function sourceItem(context) {
  if (context.unavailable) {
    return h("li", { class: "source is-gone" }, rankOf(context), h("span", { class: "source-body" }, "A document you can no longer see"));
  }
  const title = h("span", { class: "source-title" }, h("span", { class: "source-name" }, context.document_name), h("span", { class: "source-place" }, placeOf(context, quoteOf(context))));
  const crop = context.picture ? cropNode(context.document_id, context.picture) : null;
  const body = h("span", { class: crop ? "source-body has-picture" : "source-body" }, title, h("span", { class: "source-preview" }, previewNodes(context)), crop);
  return h("li", {}, h("button", { class: "source", type: "button", "data-rank": context.rank }, rankOf(context), body));
}
