// What an explained search says of its stages, as columns and the lines between them.
import { FORMATS } from "./locale.js";
import { stageName } from "./stage-words.js";
import { t, tPlural } from "./texts.js";

const STAGES = [
  { key: "words", name: t("Words") },
  { key: "vector", name: t("Meaning") },
  { key: "fused", name: t("Fused") },
  { key: "rerank", name: t("Reranked") },
];
const RESULT = { key: "result", name: t("Result") };

/** How many chunks a column shows; what a stage ranks lower stands below. */
export const SHOWN = 10;

/** The results with what explains them: `ranks` by stage, the place among the results included, `relevance` and `matches`. */
export function chunksOf({ results, explanation }) {
  return results.map((result) => {
    const { ranks, ...why } = explanation.chunks[result.chunk_id];
    return { ...result, ...why, ranks: { ...ranks, result: result.rank } };
  });
}

/** The stages that ran, each with its best chunks: `[{key, name, chunks}]`; the results last, if no stage has their order. */
export function columnsOf(chunks) {
  const ran = STAGES.filter(({ key }) => chunks.some(({ ranks }) => ranks[key])).map((stage) => column(stage, chunks));
  const result = column(RESULT, chunks);
  const last = ran.at(-1)?.chunks ?? [];
  return result.chunks.every((chunk, index) => chunk === last[index]) ? ran : [...ran, result];
}

function column({ key, name }, chunks) {
  const best = chunks.filter(({ ranks }) => ranks[key] && ranks[key] <= SHOWN);
  return { key, name, chunks: best.sort((one, other) => one.ranks[key] - other.ranks[key]) };
}

/** The lines from one column to the next, `{chunk, from, to}` by row from 0; row `SHOWN` is the one below all. */
export function linesBetween(left, right, chunks) {
  return chunks
    .filter(({ ranks }) => ranks[left.key] && ranks[right.key])
    .map((chunk) => ({ chunk, from: row(chunk.ranks[left.key]), to: row(chunk.ranks[right.key]) }))
    .filter(({ from, to }) => from < SHOWN || to < SHOWN);
}

const row = (rank) => Math.min(rank - 1, SHOWN);

/** The text in pieces, `{text, isMatch}`; `matches` count code points, as Python does. */
export function piecesOf(text, matches) {
  const points = [...text];
  const pieces = [];
  let at = 0;
  const add = (end, isMatch) => {
    if (end > at) pieces.push({ text: points.slice(at, end).join(""), isMatch });
    at = Math.max(at, end);
  };
  for (const [start, end] of matches) {
    add(start, false);
    add(end, true);
  }
  add(points.length, false);
  return pieces;
}

/** How a word of the question was read: `{word, kind, words}`; `kind` is found, similar, missing or silent. */
export function readingOf({ word, terms }) {
  if (!terms.length) return { word, kind: "silent", words: t("too common to count") };
  const [best] = terms.toSorted((one, other) => rankOf(other) - rankOf(one) || other.weight - one.weight);
  if (!best.candidates) return { word, kind: "missing", words: t("stands nowhere") };
  const held = t("in {candidates}, weight {weight}", { candidates: tPlural("{count} candidate", "{count} candidates", { count: best.candidates }), weight: best.weight.toLocaleString(FORMATS, { minimumFractionDigits: 1, maximumFractionDigits: 1 }) });
  if (best.read_as) return { word, kind: "similar", words: t("read as “{read_as}”, {held}", { read_as: best.read_as, held }) };
  return { word, kind: "found", words: held };
}

/** Of a compound, what was found as it is tells more than what was found as something similar. */
const rankOf = ({ candidates, read_as: readAs }) => (candidates ? (readAs ? 1 : 2) : 0);

/** Where the time went: `[{name, seconds}]` in order, without the total. */
export function timesOf(timings) {
  return Object.entries(timings)
    .filter(([stage]) => stage !== "total")
    .map(([stage, seconds]) => ({ name: stageName(stage), seconds }));
}

const figures = new Intl.NumberFormat(FORMATS, { minimumFractionDigits: 2, maximumFractionDigits: 2, signDisplay: "negative" });

/** A score: "0.63", and never "-0.00". */
export const figure = (score) => figures.format(score);

export const milliseconds = (seconds) => `${(1000 * seconds).toLocaleString(FORMATS, { maximumFractionDigits: seconds < 0.01 ? 1 : 0 })} ms`;
