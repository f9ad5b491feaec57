import assert from "node:assert/strict";
import { test } from "node:test";
import { ago, bytes, clock, placeOf, statusOf } from "../src/format.js";

test("sizes are short", () => {
  assert.equal(bytes(0), "0 bytes");
  assert.equal(bytes(999), "999 bytes");
  assert.equal(bytes(1_540_000), "1.5 MB");
  assert.equal(bytes(15_400_000), "15 MB");
});

test("times are near at first and dates later", () => {
  const now = Date.parse("2026-03-10T12:00:00Z");
  assert.equal(ago("2026-03-10T11:59:55Z", now), "just now");
  assert.equal(ago("2026-03-10T11:58:00Z", now), "2 minutes ago");
  assert.equal(ago("2026-03-09T10:00:00Z", now), "yesterday");
  assert.equal(ago("2026-01-05T12:00:00Z", now), "Jan 5, 2026");
});

test("a document's status says what can be done with it", () => {
  assert.deepEqual(statusOf({ status: "ready" }), { words: "Ready", tone: "good", busy: false });
  assert.equal(statusOf({ status: "indexing", searchable: "words" }).words, "Indexing, findable by words");
  assert.equal(statusOf({ status: "indexing", stage: "chunking" }).words, "Cutting into chunks");
  assert.equal(statusOf({ status: "failed" }).tone, "bad");
});

test("a place is a page or a time", () => {
  assert.equal(placeOf({ page_number: 3, start_time: null }), "page 3");
  assert.equal(placeOf({ page_number: null, start_time: 125.4 }), "2:05");
  assert.equal(placeOf({ page_number: null, start_time: null }), "");
  assert.equal(clock(0), "0:00");
});
