// How an answer from documents shows its citations and sources: each opens its place.
import { h } from "./dom.js";
import { contextOf, isOver, quoteOf } from "./execution.js";
import { placeOf } from "./format.js";
import { rankOf, sourceSections } from "./source-list.js";

/** `onCite(context, quote, button)` is called when a citation or a source is opened. */
export const documentSources = ({ onCite }) => ({
  listed: (state) => (isOver(state) ? state.contexts : []),
  nodes: (state) => sourceSections(state, state.contexts, { noun: "chunk", item: sourceItem }),
  notes: () => [],
  dress: (chip, state) => chip.setAttribute("aria-label", citationLabel(state, chip)),
  open(state, button) {
    const context = contextOf(state, Number(button.dataset.rank));
    if (context) onCite(context, quoteOf(context, occurrence(button)), button);
  },
});

/** Which citation of its source a chip is, from 0: each has a quote of its own. */
function occurrence(button) {
  const same = [...(button.closest(".answer")?.querySelectorAll(`.cite[data-rank="${button.dataset.rank}"]`) ?? [])];
  return Math.max(0, same.indexOf(button));
}

function citationLabel(state, chip) {
  const context = contextOf(state, Number(chip.dataset.rank));
  if (!context) return `Source ${chip.dataset.rank}`;
  const quote = quoteOf(context, occurrence(chip));
  return ["Source " + context.rank, context.document_name, placeOf(context, quote)].filter(Boolean).join(", ");
}

function sourceItem(context) {
  if (context.unavailable) {
    return h("li", { class: "source is-gone" }, rankOf(context), h("span", { class: "source-body" }, "A document you can no longer see"));
  }
  const title = h("span", { class: "source-title" }, h("span", { class: "source-name" }, context.document_name), h("span", { class: "source-place" }, placeOf(context, quoteOf(context))));
  const body = h("span", { class: "source-body" }, title, h("span", { class: "source-preview" }, context.quote ?? context.text_preview));
  return h("li", {}, h("button", { class: "source", type: "button", "data-rank": context.rank }, rankOf(context), body));
}
