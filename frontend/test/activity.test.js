import assert from "node:assert/strict";
import { test } from "node:test";
import { countOf, findableWords, remedyOf, statusOf, timeLeft } from "../src/activity.js";

const busy = { status: "extracting", stage: "extracting", activity: null, page_count: null, duration: null, size: 9, url: null };
const counted = { done: 12, total: 40, unit: "page", seconds_left: 61 };

test("a finished document says how it ended", () => {
  assert.deepEqual(statusOf({ status: "ready" }), { words: "Ready", tone: "good", busy: false });
  assert.equal(statusOf({ status: "failed" }).tone, "bad");
});

test("a busy document says what is being done to it", () => {
  assert.deepEqual(statusOf(busy), { words: "Reading", tone: "busy", busy: true });
  assert.equal(statusOf({ ...busy, activity: counted, page_count: 40 }).words, "Reading");
  assert.equal(statusOf({ ...busy, activity: counted, page_count: 200 }).words, "Recognising text");
  assert.equal(statusOf({ ...busy, activity: counted, page_count: 40, searchable: "words" }).words, "Recognising text");
  assert.equal(statusOf({ ...busy, mime_type: "image/png", page_count: 1 }).words, "Recognising text");
  assert.equal(statusOf({ ...busy, duration: 60 }).words, "Listening");
  assert.equal(statusOf({ ...busy, url: "https://example.org/", size: 0 }).words, "Fetching the page");
  assert.equal(statusOf({ ...busy, status: "indexing", stage: "chunking" }).words, "Cutting into chunks");
  assert.equal(statusOf({ ...busy, status: "indexing", stage: "embedding" }).words, "Indexing");
});

test("what is done is counted, with the time that is left", () => {
  assert.equal(countOf({ activity: null }), "");
  assert.equal(countOf({ activity: counted }), "12 of 40 pages, about 1 min left");
  assert.equal(countOf({ activity: { ...counted, done: 0 } }), "0 of 40 pages");
  assert.equal(countOf({ activity: { done: 1, total: 1, unit: "part", seconds_left: 0 } }), "1 of 1 part, a few seconds left");
});

test("the time left is as exact as it can be known", () => {
  assert.deepEqual([3, 21, 59, 150, 7300].map(timeLeft), [
    "a few seconds left",
    "about 30 s left",
    "about 1 min left",
    "about 3 min left",
    "about 2 h left",
  ]);
});

test("what can be found before a document is ready is said, and only then", () => {
  assert.equal(findableWords({ status: "indexing", searchable: "words" }), "Findable by words");
  assert.equal(findableWords({ status: "cancelled", searchable: "full" }), "Findable by words and meaning");
  assert.equal(findableWords({ status: "ready", searchable: "full" }), "");
  assert.equal(findableWords({ status: "queued", searchable: "none" }), "");
});

test("another try is offered only where it may help", () => {
  assert.equal(remedyOf({ status: "failed", error: { code: "timeout" } }), "retry");
  assert.equal(remedyOf({ status: "cancelled", error: null }), "retry");
  assert.equal(remedyOf({ status: "failed", error: { code: "encrypted" } }), "unlock");
  assert.equal(remedyOf({ status: "failed", error: { code: "corrupted" } }), "replace");
  assert.equal(remedyOf({ status: "failed", error: { code: "blocked_url" }, url: "http://a.example/" }), null);
  assert.equal(remedyOf({ status: "ready", error: null }), null);
});
