// A sheet: cells in their rows and columns, with the letters of the columns on top.
import { h } from "../dom.js";
import { remember } from "./blocks.js";
import { columnName } from "./stretches.js";

const NUMBERS = 3.5;
const [NARROWEST, WIDEST, PER_CHARACTER] = [5, 22, 0.55];
const UNKNOWN = 8;
const LOOKED_AT = 200;
const MOST_COLUMNS = 1000;
const MOST_EMPTY = 50;

/** Whether blocks are cells of a sheet. */
export const isGrid = (blocks) => blocks.some((block) => block.rows?.some(({ cells }) => cells.some((cell) => cell.row)));

/** The columns of one sheet, as wide as their first cells. All parts of the sheet share them. */
export class GridColumns {
  widths = [];

  /** Learn of cells; returns whether anything has changed. */
  learn(blocks) {
    const longest = [];
    for (const block of blocks) {
      for (const { cells } of block.rows ?? []) {
        for (const { text, column } of cells) if (column && column <= MOST_COLUMNS) longest[column - 1] = Math.max(longest[column - 1] ?? 0, text.length);
      }
    }
    const isFirst = !this.widths.length;
    const known = this.widths.length;
    for (let at = known; at < longest.length; at += 1) this.widths.push(isFirst ? widthOf(longest[at] ?? 0) : UNKNOWN);
    return this.widths.length > known;
  }

  get total() {
    return NUMBERS + this.widths.reduce((sum, width) => sum + width, 0);
  }

  group() {
    const columns = [NUMBERS, ...this.widths].map((width) => {
      const column = h("col");
      column.style.width = `${width}rem`;
      return column;
    });
    return h("colgroup", {}, columns);
  }

  /** The row of letters, which stays on top. */
  head() {
    const letters = this.widths.map((_, at) => h("td", {}, columnName(at + 1)));
    return h("table", { class: "grid grid-head", "aria-hidden": "true" }, this.group(), h("tbody", {}, h("tr", {}, h("td", { class: "grid-corner" }), letters)));
  }
}

const widthOf = (characters) => Math.min(WIDEST, Math.max(NARROWEST, Math.min(characters, LOOKED_AT) * PER_CHARACTER + 1.5));

/** A table of the cells of blocks; rows that two blocks share are one row. */
export function gridNode(blocks, columns, maker) {
  const rows = new Map();
  for (const block of blocks) {
    // The header is repeated in each chunk of a long table.
    for (const { cells } of isPart(block) ? block.rows.slice(1) : block.rows ?? []) {
      for (const cell of cells) {
        if (!cell.row || cell.column > MOST_COLUMNS) continue;
        if (!rows.has(cell.row)) rows.set(cell.row, new Map());
        rows.get(cell.row).set(cell.column, { cell, block });
      }
    }
  }
  const numbers = [...rows.keys()].sort((a, b) => a - b);
  const names = h("thead", { class: "visually-hidden" }, h("tr", {}, h("td"), columns.widths.map((_, at) => h("th", { scope: "col" }, columnName(at + 1)))));
  return h("table", { class: "grid" }, columns.group(), names, h("tbody", {}, numbers.map((number) => rowNode(number, rows.get(number), columns, maker))));
}

const isPart = ({ kind, continued }) => kind === "table" && continued;

function rowNode(number, cells, columns, maker) {
  // Lines to the last column, unless a sheet is so wide that they would be most of the work.
  const last = columns.widths.length <= MOST_EMPTY ? columns.widths.length : Math.max(...cells.keys());
  const nodes = Array.from({ length: last }, (_, at) => {
    const found = cells.get(at + 1);
    if (!found) return h("td");
    const { cell, block } = found;
    const isNumber = /^[-+(]?[\d.,\s%$€£]+\)?$/.test(cell.text);
    const names = [maker.isQuoted(cell, block.chunk_id) ? "is-quoted" : "", isNumber ? "is-number" : ""].join(" ").trim();
    return h("td", { class: names || null }, remember(maker.words(cell, block.chunk_id), cell));
  });
  return h("tr", {}, h("th", { scope: "row" }, String(number)), nodes);
}
