import assert from "node:assert/strict";
import { test } from "node:test";
import { lengthOfQuestion } from "../src/question-length.js";

test("a question of usual length needs no words about it", () => {
  assert.deepEqual(lengthOfQuestion("a".repeat(1800)), { fits: true, words: "" });
});

test("near the limit the reader sees how much room is left", () => {
  assert.deepEqual(lengthOfQuestion("a".repeat(2000)), { fits: true, words: "2,000 of 2,000 characters" });
});

test("a question that is too long is refused in words, not cut", () => {
  assert.deepEqual(lengthOfQuestion("a".repeat(2500)), { fits: false, words: "2,500 of 2,000 characters: shorten the question by 500." });
});

test("characters are counted as the server counts them", () => {
  assert.equal(lengthOfQuestion("😀".repeat(2000)).fits, true);
  assert.equal(lengthOfQuestion(`${"a".repeat(2000)}   \n`).fits, true);
});
