import assert from "node:assert/strict";
import { test } from "node:test";
import { locate, split } from "../src/passage.js";

test("a quote is found across line breaks", () => {
  assert.deepEqual(split("We sold\n  more (12 %) in 2022. Then less.", "sold more (12 %) in 2022."), [
    "We ",
    "sold\n  more (12 %) in 2022.",
    " Then less.",
  ]);
});

test("text of a document can't become a pattern", () => {
  assert.equal(locate("aaaa", "a+"), null);
  assert.deepEqual(locate("1/2 [x] {y}", "[x] {y}"), [4, 11]);
});

test("without a quote nothing is marked", () => {
  assert.deepEqual(split("All of it.", null), ["All of it.", "", ""]);
  assert.deepEqual(split("All of it.", "Something else"), ["All of it.", "", ""]);
  assert.equal(locate("All", "  "), null);
});
