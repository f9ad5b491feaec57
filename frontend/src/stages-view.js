// Ranks stage by stage: a column for each, lines between them that follow every chunk.
import { h } from "./dom.js";
import { whereOf } from "./format.js";
import { figure, linesBetween, SHOWN } from "./stages.js";
import { t } from "./texts.js";

const SVG = "http://www.w3.org/2000/svg";
const ROW = 10;

/** The picture; `onChoose(chunkId)` is called for the chunk whose result is wanted. */
export function stagesNode(columns, chunks, onChoose) {
  const gaps = columns.slice(1).map((next, index) => linesBetween(columns[index], next, chunks));
  // One row more for the lines that lead below.
  const rows = Math.max(...columns.map((column) => column.chunks.length), ...gaps.flat().flatMap(({ from, to }) => [from + 1, to + 1]));
  const nodes = columns.flatMap((column, index) => [columnNode(column, onChoose), gaps[index] ? linesNode(gaps[index], rows) : null]);
  const picture = h("div", { class: "stages" }, nodes);
  picture.style.setProperty("--rows", rows);
  return picture;
}

function columnNode({ key, name, chunks }, onChoose) {
  return h(
    "div",
    { class: "stage" },
    h("h3", { class: "stage-name" }, name),
    h("ol", { class: "stage-ranks", "aria-label": t("Ranks: {name}", { name }) }, chunks.map((chunk) => h("li", {}, rankButton(chunk, key, onChoose)))),
  );
}

function rankButton(chunk, key, onChoose) {
  const { chunk_id: id, rank, scores, score } = chunk;
  const own = figure(scores[key] ?? score);
  const where = whereOf(chunk);
  return h(
    "button",
    { class: "stage-chunk", type: "button", "data-chunk": id, title: where, onclick: () => onChoose(id) },
    rankNode(rank),
    h("span", { class: "stage-document" }, where),
    h("span", { class: "stage-score" }, h("span", { class: "visually-hidden" }, ` ${t("scores")} `), own),
  );
}

/** A chunk's place among the results. */
export const rankNode = (rank) => h("span", { class: rank <= SHOWN ? "rank" : "rank rank-unused" }, h("span", { class: "visually-hidden" }, `${t("Result")} `), String(rank));

function linesNode(lines, rows) {
  const picture = svg("svg", { class: "stage-lines", viewBox: `0 0 100 ${rows * ROW}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  // The best results lie on top.
  picture.append(...lines.toSorted((one, other) => other.chunk.rank - one.chunk.rank).map(lineNode));
  return picture;
}

function lineNode({ chunk, from, to }) {
  const [start, end] = [from, to].map((row) => (row + 0.5) * ROW);
  const best = chunk.rank <= 3 ? "stage-line is-best" : "stage-line";
  return svg("path", { class: best, "data-chunk": chunk.chunk_id, d: `M0 ${start}C50 ${start} 50 ${end} 100 ${end}` });
}

function svg(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
