// Blocks of a document as elements. Only our own elements, and text: nothing of the file itself reaches the page.
import { h } from "../dom.js";
import { piecesOf } from "./stretches.js";
import { t } from "../texts.js";

const OWN_MARK = /^\s*([•●○▪■◦‣·*+–—-]|\(?\d{1,3}[.)]|\(?[a-z][.)]|\([ivx]+\))\s/;
const DEEPEST = 6;

/** Makes the elements of blocks, with the cited chunk and its quote marked: `cited` is `{chunkId, range}` or null. */
export class BlockMaker {
  #cited;
  #level = 1;

  constructor(cited) {
    this.#cited = cited;
  }

  /** Elements for consecutive blocks: list items in lists, parts of a table in one table, slides on cards. */
  nodes(blocks) {
    return grouped(blocks, ({ slide }) => slide).flatMap(({ key, items }) => {
      const made = this.#flow(items);
      if (key === undefined) return made;
      return [h("section", { class: "slide", "data-slide": String(key), "aria-label": t("Slide {number}", { number: key }) }, h("p", { class: "slide-number", "aria-hidden": "true" }, String(key)), made)];
    });
  }

  /** Text with its quote; addresses stay text, so nothing in a document leads anywhere. `piece` is a block or a cell. */
  words(piece, chunkId) {
    const isCited = this.#cited?.chunkId === chunkId;
    const range = isCited ? this.#cited.range : null;
    const nodes = piecesOf(piece.text, piece.start, range).map(({ text, isQuoted }) => (isQuoted ? h("mark", { class: "place-text" }, text) : text));
    return isCited ? h("span", { class: "cited-chunk" }, nodes) : h("span", {}, nodes);
  }

  isQuoted(piece, chunkId) {
    const range = this.#cited?.chunkId === chunkId ? this.#cited.range : null;
    return Boolean(range && piece.start < range[1] && range[0] < piece.end);
  }

  #flow(blocks) {
    const nodes = [];
    for (const { key, items } of grouped(blocks, (block) => block.kind)) {
      if (key === "list_item") nodes.push(h("ul", { class: "reading-list" }, this.#merged(items, "li")));
      else if (key === "table") nodes.push(...this.#tables(items));
      else nodes.push(...this.#merged(items, null));
    }
    return nodes;
  }

  /** A paragraph that goes on in the next chunk is one paragraph. */
  #merged(blocks, tag) {
    const nodes = [];
    for (const block of blocks) {
      const words = remember(this.words(block, block.chunk_id), block);
      if (block.continued && nodes.length) nodes.at(-1).append(block.kind === "code" ? "\n" : " ", words);
      else nodes.push(this.#element(tag, block, words));
    }
    return nodes;
  }

  #element(tag, block, words) {
    const made = { "data-machine": block.machine_made ? "true" : null };
    if (tag === "li") return h("li", { class: OWN_MARK.test(block.text) ? "has-own-mark" : null, ...made }, words);
    if (block.kind === "heading") return this.#heading(block, words);
    if (block.kind === "code") return h("pre", { class: "reading-code", tabindex: "0", role: "group", "aria-label": t("Code") }, words);
    return h("p", { class: `reading-${block.kind}`, ...made }, words);
  }

  /** Levels go down one at a time, for those who hear them; the size says the level of the file. */
  #heading(block, words) {
    this.#level = Math.min(block.level + 1, this.#level + 1, DEEPEST);
    return h(`h${this.#level}`, { class: `reading-heading level-${Math.min(block.level, DEEPEST)}` }, words);
  }

  #tables(blocks) {
    const tables = [];
    for (const block of blocks) {
      if (block.continued && tables.length) tables.at(-1).body.append(...this.#rows(block, block.rows.slice(1), "td"));
      else tables.push(this.#table(block));
    }
    return tables.map(({ element }) => element);
  }

  #table(block) {
    const head = block.has_header ? block.rows.slice(0, 1) : [];
    const body = h("tbody", {}, this.#rows(block, block.rows.slice(head.length), "td"));
    const table = h("table", {}, head.length ? h("thead", {}, this.#rows(block, head, "th")) : null, body);
    return { body, element: h("div", { class: "reading-table", tabindex: "0", role: "region", "aria-label": t("Table") }, table) };
  }

  #rows(block, rows, tag) {
    return rows.map(({ cells }) => h("tr", {}, cells.map((cell) => this.#cell(cell, block, cell.text ? tag : "td"))));
  }

  #cell(cell, block, tag) {
    const marked = this.isQuoted(cell, block.chunk_id) ? "is-quoted" : null;
    return h(tag, { class: marked, scope: tag === "th" ? "col" : null }, remember(this.words(cell, block.chunk_id), cell));
  }
}

const elements = new WeakMap();

/** Keep which element shows a block or cell, so that a match of the search can be found on the page. */
export function remember(element, piece) {
  elements.set(piece, element);
  return element;
}

export const elementOf = (piece) => elements.get(piece);

export function grouped(items, keyOf) {
  const groups = [];
  for (const item of items) {
    const key = keyOf(item);
    if (groups.length && groups.at(-1).key === key) groups.at(-1).items.push(item);
    else groups.push({ key, items: [item] });
  }
  return groups;
}

/** The pieces of a block that hold text: itself, or its cells. */
export function textPieces(block) {
  if (!block.rows) return [block];
  const rows = block.kind === "table" && block.continued ? block.rows.slice(1) : block.rows;
  return rows.flatMap(({ cells }) => cells);
}
