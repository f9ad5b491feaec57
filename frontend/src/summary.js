// What a document is about, in its own sentences: loaded when the reader opens it; each sentence opens its place.
import { get, post } from "./api.js";
import { h } from "./dom.js";
import { placeOf } from "./format.js";
import { t } from "./texts.js";

const NONE = {
  pending: t("There is a summary as soon as the document is fully indexed."),
  too_short: t("This document is too short for a summary, or it is mostly tables."),
};

/** `onOpen(place, citations)` shows a place, see `Viewer.showPlace`. */
export function startSummary(page, { onOpen }) {
  const block = page.querySelector("[data-summary]");
  if (!block) return;
  const fold = block.querySelector("[data-part=summaryFold]");
  const body = block.querySelector("[data-part=summaryBody]");
  fold.addEventListener("toggle", () => fold.open && !body.dataset.loaded && load(block.dataset, body, onOpen));
}

async function load({ summary: id, model }, body, onOpen) {
  body.dataset.loaded = "true";
  body.replaceChildren(h("p", { class: "summary-note" }, t("Choosing sentences …")));
  try {
    const summary = await get(`/documents/${id}/summary`);
    show(summary, { id, model }, body, onOpen);
    // There will be more to say the next time.
    if (summary.state === "pending") delete body.dataset.loaded;
  } catch (error) {
    delete body.dataset.loaded;
    body.replaceChildren(h("p", { class: "notice" }, `${error.message} ${t("Close this and open it again to try once more.")}`));
  }
}

function show(summary, { id, model }, body, onOpen) {
  if (summary.written) {
    const own = h("button", { class: "button button-quiet button-small", type: "button" }, t("Show sentences of the document instead"));
    own.addEventListener("click", () => show({ ...summary, written: null }, { id, model: null }, body, onOpen));
    body.replaceChildren(...writtenNodes(summary, id, onOpen), h("p", {}, own));
    return;
  }
  body.replaceChildren(...nodesOf(summary, onOpen));
  if (model && summary.state === "ready") body.append(offer(summary, { id, model }, body, onOpen));
}

/** A button for a summary by the model, which costs: nobody gets one unasked. What is there stays if it fails. */
function offer(summary, { id, model }, body, onOpen) {
  const button = h("button", { class: "button button-small", type: "button" }, t("Let the model write a summary"));
  const note = h("p", { class: "summary-note", role: "status" }, t("{model} reads passages of this document. The workspace pays.", { model }));
  button.addEventListener("click", async () => {
    button.disabled = true;
    note.textContent = t("Writing, and checking each sentence …");
    try {
      const written = await post(`/documents/${id}/summary/written`, {});
      show({ ...summary, written }, { id, model }, body, onOpen);
    } catch (error) {
      button.disabled = false;
      note.textContent = error.message;
    }
  });
  return h("div", { class: "summary-offer" }, button, note);
}

function nodesOf(summary, onOpen) {
  if (summary.state !== "ready") return [h("p", { class: "summary-note" }, NONE[summary.state])];
  const asStatement = (sentence) => ({ text: sentence.text, sources: [sentence] });
  return [
    ...lists(summary.document_id, summary.abstract.map(asStatement), summary.key_points.map(asStatement), onOpen),
    h("p", { class: "summary-note" }, t("Sentences of the document, chosen without a language model. Each opens its place.")),
  ];
}

function writtenNodes({ written }, id, onOpen) {
  const note = t("Written by {model}. Each sentence opens the place that supports it; the model may still have misread it.", { model: written.model });
  return [...lists(id, written.abstract, written.key_points, onOpen), h("p", { class: "summary-note" }, note)];
}

function lists(documentId, abstract, points, onOpen) {
  const all = [...abstract, ...points].map(({ sources }) => sources[0]);
  const open = (at) => onOpen(placeIn(documentId, all[at]), { at, of: all.length, go: open });
  const list = (title, statements, offset) => [
    h("h2", {}, title),
    h("ul", { class: "summary-list" }, statements.map((each, index) => h("li", {}, sentenceNode(each, () => open(offset + index))))),
  ];
  return [...(abstract.length ? list(t("In short"), abstract, 0) : []), ...(points.length ? list(t("Key points"), points, abstract.length) : [])];
}

function sentenceNode({ text, sources: [first] }, open) {
  const where = placeOf(first, first);
  const place = where ? h("span", { class: "summary-place" }, where) : null;
  return h("button", { class: "summary-sentence", type: "button", onclick: open }, h("span", {}, text), place);
}

function placeIn(documentId, sentence) {
  return {
    documentId,
    chunkId: sentence.chunk_id,
    chunkBoxes: [],
    quoteBoxes: sentence.bbox ?? [],
    quoteText: sentence.text,
    headerBoxes: [],
    picture: null,
    isMachineMade: false,
    pageNumber: sentence.page_number,
    startTime: sentence.start_time,
  };
}
