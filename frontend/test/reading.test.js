import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf } from "../src/media/waveform.js";
import { columnName, matchesIn, piecesOf, pointsOf, quotedRange, unitsOf } from "../src/reading/stretches.js";

const SHIP = "\u{1f6a2}";

test("offsets of the API are code points", () => {
  const text = `${SHIP}${SHIP} leaves ${SHIP} at noon`;
  const range = unitsOf(text, [3, 9]);
  assert.equal(text.slice(...range), "leaves");
  assert.deepEqual(pointsOf(text, range), [3, 9]);
});

test("a quote is where the answer says, or where its words are", () => {
  const text = `One. Two. ${SHIP} One. Two.`;
  assert.deepEqual(quotedRange(text, { quoteText: "Two.", quoteRange: [17, 21] }), [17, 21]);
  assert.deepEqual(quotedRange(text, { quoteText: "Two." }), [5, 9]);
  assert.deepEqual(quotedRange(text, { quoteText: "Two.", quoteRange: [0, 4] }), [5, 9]);
  assert.equal(quotedRange(text, { quoteText: "Three." }), null);
  assert.equal(quotedRange(text, { quoteText: null }), null);
});

test("a block's pieces are its text, cut at the quote", () => {
  const text = `See the ${SHIP} leave.`;
  const pieces = piecesOf(text, 100, [108, 115]);
  assert.equal(pieces.map((piece) => piece.text).join(""), text);
  assert.equal(pieces.filter((piece) => piece.isQuoted).map((piece) => piece.text).join(""), `${SHIP} leave`);
});

test("a quote outside a block marks nothing of it", () => {
  assert.deepEqual(piecesOf("abc", 50, [0, 20]).filter(({ isQuoted }) => isQuoted), []);
  assert.deepEqual(piecesOf("abc", 0, [3, 20]).filter(({ isQuoted }) => isQuoted), []);
  assert.deepEqual(piecesOf("abc", 10, [0, 99]).map(({ isQuoted }) => isQuoted), [true]);
});

test("matches are found whatever the case, each once", () => {
  assert.deepEqual(matchesIn("Sea, SEA, sea", "sea"), [[0, 3], [5, 8], [10, 13]]);
  assert.deepEqual(matchesIn("aaaa", "aa"), [[0, 2], [2, 4]]);
  assert.deepEqual(matchesIn("İstanbul", "istanbul"), []);
});

test("columns have letters", () => {
  assert.deepEqual([1, 26, 27, 52, 703].map(columnName), ["A", "Z", "AA", "AZ", "AAA"]);
});

test("bars are the loudest of their stretch", () => {
  assert.deepEqual(barsOf([0, 50, 100, 0], 2), [0.5, 1]);
  assert.deepEqual(barsOf([], 2), [0, 0]);
  assert.equal(barsOf([10, 20], 5).length, 5);
});
