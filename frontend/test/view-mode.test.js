import assert from "node:assert/strict";
import { test } from "node:test";
import { modeOf } from "../src/view-mode.js";

const nowhere = { chunkBoxes: [], quoteBoxes: [] };
const boxed = { chunkBoxes: [{}], quoteBoxes: [] };
const kind = (mime, more) => ({ mime_type: mime, page_count: null, duration: null, ...more });

test("pages are shown as pages", () => {
  assert.equal(modeOf(kind("application/pdf", { page_count: 3 }), nowhere), "pdf");
  assert.equal(modeOf(kind("application/pdf"), boxed), "pdf");
  assert.equal(modeOf(kind("image/tiff", { page_count: 2 }), boxed), "page");
});

test("recordings are played, with or without a place", () => {
  assert.equal(modeOf(kind("audio/wav", { duration: 12 }), nowhere), "media");
  assert.equal(modeOf(kind("video/mp4"), nowhere), "media");
});

test("what has neither is read as text, slides included", () => {
  assert.equal(modeOf(kind("text/plain"), nowhere), "text");
  assert.equal(modeOf(kind("application/vnd.ms-powerpoint", { page_count: 12 }), nowhere), "text");
  assert.equal(modeOf(kind("application/pdf"), nowhere), "text");
});
