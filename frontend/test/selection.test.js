import assert from "node:assert/strict";
import { test } from "node:test";
import { turnedBox } from "../src/geometry.js";
import { foldedQuote, quotedStart } from "../src/selection.js";

const box = { bbox: [10, 20, 30, 60], page_number: 1, layout_width: 100, layout_height: 200 };

test("a box turns with its page", () => {
  assert.deepEqual(turnedBox(box, 0), box);
  assert.deepEqual(turnedBox(box, 90), { ...box, bbox: [140, 10, 180, 30], layout_width: 200, layout_height: 100 });
  assert.deepEqual(turnedBox(box, 180).bbox, [70, 140, 90, 180]);
  assert.deepEqual(turnedBox(turnedBox(box, 270), 90), box);
});

test("a selection becomes the quoted start of a question", () => {
  assert.equal(foldedQuote("  The ferry\n leaves "), "The ferry leaves");
  assert.equal(foldedQuote(" \n"), null);
  assert.equal(foldedQuote("x".repeat(3000)).length, 1000);
  assert.equal(quotedStart("Noon."), "“Noon.”\n\n");
});
