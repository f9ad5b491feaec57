// One result of the search bench: where it stands, its rank and score in each stage, and its text with the words that match.
import { h } from "./dom.js";
import { percent, whereOf } from "./format.js";
import { blocksOf } from "./passage.js";
import { tableNode } from "./passage-table.js";
import { cropNode, machineNote } from "./picture.js";
import { figure, piecesOf } from "./stages.js";
import { rankNode } from "./stages-view.js";
import { t } from "./texts.js";

const STAGES = { words: t("Words"), vector: t("Meaning"), fused: t("Fused"), rerank: t("Reranked") };
/** What is longer, in characters, is folded. */
const LONG = 600;

export function hitNode(chunk) {
  const { chunk_id: id, document_id: documentId, rank, metadata } = chunk;
  return h(
    "li",
    { class: "hit", "data-chunk": id, tabindex: -1 },
    rankNode(rank),
    h(
      "div",
      { class: "hit-body" },
      h("h3", { class: "hit-title" }, h("a", { href: `/documents/${documentId}?chunk=${id}` }, whereOf(chunk))),
      metadata.headings?.length ? h("p", { class: "hit-headings" }, metadata.headings.join(" › ")) : null,
      textNode(chunk),
      metadata.picture ? cropNode(documentId, metadata.picture) : null,
    ),
    scoresNode(chunk),
  );
}

/** The document's words and then a machine's, both with the words that match. */
function wordsOf(text, matches, ranges) {
  const points = [...text];
  const start = ranges?.[0]?.[0] ?? points.length;
  const machines = matches.filter(([from]) => from >= start).map((match) => match.map((at) => at - start));
  return [
    piecesOf(points.slice(0, start).join(""), matches.filter(([from]) => from < start)),
    piecesOf(points.slice(start).join(""), machines),
  ].map((pieces) => pieces.map((piece) => (piece.isMatch ? h("mark", { class: "match" }, piece.text) : piece.text)));
}

function scoresNode({ ranks, scores, relevance }) {
  const ran = Object.keys(STAGES).filter((stage) => scores[stage] !== null);
  const stages = ran.map((stage) => fact(STAGES[stage], standing(ranks[stage], scores[stage])));
  return h("dl", { class: "hit-scores" }, stages, fact(t("Relevance"), percent(relevance)));
}

const fact = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));

/** A chunk in which no word stands has no rank among those found by words. */
const standing = (rank, score) => (rank ? [h("b", {}, `#${rank}`), " ", h("span", {}, figure(score))] : t("not found"));

/** Paragraphs, and tables as tables, with the words that match. */
function blockNodes(text, matches) {
  // Matches count code points, blocks are places in a string.
  const pointAt = (index) => [...text.slice(0, index)].length;
  const words = ([start, end]) => {
    const from = pointAt(start);
    const within = matches.map((match) => match.map((at) => at - from)).filter(([first, last]) => last > 0 && first < pointAt(end) - from);
    return piecesOf(text.slice(start, end), within).map((piece) => (piece.isMatch ? h("mark", { class: "match" }, piece.text) : piece.text));
  };
  return blocksOf(text).map((block) => (block.head ? tableNode(block, words) : h("p", { class: "hit-text" }, words(block.text))));
}

function textNode({ text, matches, metadata: { machine_made: ranges, described_by: model } }) {
  const [own, machine] = wordsOf(text, matches, ranges);
  const nodes = machine.length ? [h("p", { class: "hit-text" }, [...own, machineNote(model), " ", ...machine])] : blockNodes(text, matches);
  if (text.length <= LONG) return nodes;
  const folded = h("div", { class: "hit-blocks is-folded" }, nodes);
  const unfold = h("button", { class: "button button-small button-quiet", type: "button", "aria-expanded": "false" }, t("Show all of it"));
  unfold.addEventListener("click", () => {
    const isFolded = folded.classList.toggle("is-folded");
    unfold.setAttribute("aria-expanded", String(!isFolded));
    unfold.textContent = isFolded ? t("Show all of it") : t("Show less");
  });
  return [folded, unfold];
}
