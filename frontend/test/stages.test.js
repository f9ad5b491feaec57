import assert from "node:assert/strict";
import { test } from "node:test";
import { chunksOf, columnsOf, figure, linesBetween, milliseconds, piecesOf, readingOf, timesOf } from "../src/stages.js";

const hit = (id, rank) => ({ chunk_id: id, rank });
const why = (words, vector, fused, rerank = null) => ({ ranks: { words, vector, fused, rerank }, matches: [] });
const explained = (...rows) => ({
  results: rows.map((_, index) => hit(`c${index + 1}`, index + 1)),
  explanation: { chunks: Object.fromEntries(rows.map((row, index) => [`c${index + 1}`, why(...row)])) },
});
const idsOf = ({ chunks }) => chunks.map(({ chunk_id: id }) => id);

test("a column holds a stage's best chunks in its order; stages that did not run have none", () => {
  const columns = columnsOf(chunksOf(explained([2, 1, 1], [1, 3, 2], [null, 2, 3])));
  assert.deepEqual(columns.map(({ name }) => name), ["Words", "Meaning", "Fused"]);
  assert.deepEqual(columns.map(idsOf), [["c2", "c1"], ["c1", "c3", "c2"], ["c1", "c2", "c3"]]);
});

test("the results are a column of their own where no stage has their order", () => {
  const columns = columnsOf(chunksOf(explained([1, 1, 1, 2], [2, 2, 2, 1])));
  assert.deepEqual(columns.map(({ name }) => name), ["Words", "Meaning", "Fused", "Reranked", "Result"]);
});

test("nothing found makes an empty picture", () => {
  assert.deepEqual(columnsOf([]), []);
});

test("lines join the ranks of a chunk, and lead below what is shown", () => {
  const chunks = chunksOf(explained([12, 1, 1], [null, 2, 2], [40, 11, 3]));
  const [words, meaning, fused] = ["words", "vector", "fused"].map((key) => ({ key }));
  const ends = (lines) => lines.map(({ chunk, from, to }) => [chunk.chunk_id, from, to]);
  assert.deepEqual(ends(linesBetween(words, meaning, chunks)), [["c1", 10, 0]]);
  assert.deepEqual(ends(linesBetween(meaning, fused, chunks)), [["c1", 0, 0], ["c2", 1, 1], ["c3", 10, 2]]);
});

test("matches count code points", () => {
  const pieces = piecesOf("🙂 Almería, revenue", [[2, 9], [11, 18]]);
  assert.deepEqual(pieces.map(({ text }) => text), ["🙂 ", "Almería", ", ", "revenue"]);
  assert.deepEqual(pieces.map(({ isMatch }) => isMatch), [false, true, false, true]);
  assert.deepEqual(piecesOf("none", []), [{ text: "none", isMatch: false }]);
});

test("a word of the question says how it was read", () => {
  const term = (name, readAs, candidates) => ({ looked_for: [readAs ?? name], read_as: readAs, candidates, weight: 1.25 });
  assert.deepEqual(readingOf({ word: "the", terms: [] }), { word: "the", kind: "silent", words: "too common to count" });
  assert.equal(readingOf({ word: "zzz", terms: [term("zzz", null, 0)] }).kind, "missing");
  assert.equal(readingOf({ word: "solar", terms: [term("solar", null, 1)] }).words, "in 1 candidate, weight 1.3");
  assert.equal(readingOf({ word: "reveneu", terms: [term("reveneu", "revenu", 3)] }).words, "read as “revenu”, in 3 candidates, weight 1.3");
  assert.equal(readingOf({ word: "E-505", terms: [term("e505", null, 2), term("e", "ee", 1)] }).kind, "found");
});

test("times are in order, in words and without the total", () => {
  assert.deepEqual(timesOf({ scope: 0.001, total: 0.05, vector: 0.049 }), [
    { name: "permitted documents", seconds: 0.001 },
    { name: "search by meaning", seconds: 0.049 },
  ]);
  assert.deepEqual([0.0004, 0.0123, 1.5].map(milliseconds), ["0.4 ms", "12 ms", "1,500 ms"]);
});

test("scores have two digits and no negative zero", () => {
  assert.deepEqual([0.625, -0.001, -1.5, 12].map(figure), ["0.63", "0.00", "-1.50", "12.00"]);
});
