// The list of documents as a table or as pictures, and its order in the heads of the columns.
import { h } from "./dom.js";
import { PagedRows } from "./paged-rows.js";

/** Show the table or the grid; return its rows, none yet. `row` and `card` make the element of a document. */
export function newRows({ table, grid, tableWrap, viewTable, viewGrid }, { isGrid, row, card }) {
  tableWrap.classList.toggle("is-grid", isGrid);
  viewTable.setAttribute("aria-pressed", String(!isGrid));
  viewGrid.setAttribute("aria-pressed", String(isGrid));
  if (isGrid) return new PagedRows(grid, { newBlock: () => h("div", { class: "cards" }), row: card, space: (height) => sized(h("div", { class: "cards-space" }), height) });
  return new PagedRows(table, { newBlock: () => h("tbody"), row, space: (height) => h("tr", { "aria-hidden": "true" }, sized(h("td", { class: "row-space" }), height)) });
}

/** Say in the heads of columns how the table is sorted. */
export function showOrder(table, sort) {
  for (const button of table.querySelectorAll("[data-sort]")) {
    const is = sort.replace(/^-/, "") === button.dataset.sort;
    button.closest("th").setAttribute("aria-sort", is ? (sort.startsWith("-") ? "descending" : "ascending") : "none");
  }
}

function sized(element, height) {
  element.style.height = `${height}px`;
  return element;
}
