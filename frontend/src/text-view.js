// The text of a chunk with the quote marked, for kinds that have neither pages nor time.
import { get, withQuery } from "./api.js";
import { h } from "./dom.js";
import { placeInWords } from "./format.js";
import { passageNodes } from "./passage-view.js";

export class TextView {
  #parts;
  #document;
  #place;
  #say;
  #neighbours = {};
  #left = false;

  constructor({ parts, document, place, say }) {
    this.#parts = parts;
    this.#document = document;
    this.#place = place;
    this.#say = say;
  }

  async show() {
    this.#parts.tools.hidden = true;
    if (this.#place.chunkId) return this.#showChunk(this.#place.chunkId);
    const { results } = await get(withQuery(`/documents/${this.#document.id}/chunks`, { limit: 1 }));
    if (this.#left) return undefined;
    if (results.length) return this.#showChunk(results[0].id);
    this.#parts.where.textContent = "";
    return this.#say(nothingYet(this.#document));
  }

  step(by) {
    const id = by < 0 ? this.#neighbours.before : this.#neighbours.after;
    return id && this.#showChunk(id).catch((error) => this.#say(error.message));
  }

  goTo() {}

  zoom() {}

  leave() {
    this.#left = true;
  }

  async #showChunk(id) {
    const chunk = await get(`/chunks/${id}?neighbors=1`);
    if (this.#left) return;
    this.#neighbours = { before: chunk.neighbors?.before ?? null, after: chunk.neighbors?.after ?? null };
    const { previous, next, back, where, stage, tools } = this.#parts;
    previous.disabled = !this.#neighbours.before;
    next.disabled = !this.#neighbours.after;
    back.hidden = !this.#place.chunkId || id === this.#place.chunkId;
    tools.hidden = previous.disabled && next.disabled;
    const place = placeInWords(chunk);
    where.textContent = place || "Text";
    const quote = id === this.#place.chunkId ? this.#place.quoteText : null;
    stage.replaceChildren(h("article", { class: "passage" }, header(chunk, place), passageNodes(chunk, quote, this.#document.file_type)));
    stage.scrollTop = 0;
    stage.querySelector("mark")?.scrollIntoView({ block: "center" });
  }
}

function header({ metadata: { headings } }, place) {
  if (!place && !headings?.length) return null;
  return h(
    "header",
    { class: "passage-top" },
    headings?.length ? h("p", { class: "passage-headings" }, headings.join(" › ")) : null,
    place ? h("p", { class: "passage-place" }, place) : null,
  );
}

function nothingYet({ status, error }) {
  if (status === "failed") return error?.message ?? "This document could not be read.";
  if (status === "cancelled") return "Processing was cancelled before any text was found.";
  return status === "ready" || status === "partial" ? "This document has no text to show." : "This document has no text to show yet.";
}
