import assert from "node:assert/strict";
import { test } from "node:test";
import { ago, bytes, clock, language, listed, percent, placeInWords, placeOf, secondsInWords, whereOf } from "../src/format.js";
import { lengthOf } from "../src/units.js";

test("sizes are short", () => {
  assert.equal(bytes(0), "0 bytes");
  assert.equal(bytes(999), "999 bytes");
  assert.equal(bytes(1_540_000), "1.5 MB");
  assert.equal(bytes(15_400_000), "15 MB");
});

test("shares and seconds are written as their reader writes them", () => {
  assert.equal(percent(0.417), "42%");
  assert.equal(secondsInWords(1234.5), "1,234.50 s");
});

test("in lists the place comes before the name", () => {
  const hit = { document_name: "minutes.pdf", metadata: {}, page_number: 3, start_time: null, end_time: null };
  assert.equal(whereOf(hit), "page 3 · minutes.pdf");
  assert.equal(whereOf({ ...hit, page_number: null }), "minutes.pdf");
  assert.equal(whereOf({ ...hit, metadata: { sheet: "Sales", cells: "A1" } }), "Sheet “Sales”, A1 · minutes.pdf");
});

test("times are near at first and dates later", () => {
  const now = Date.parse("2026-03-10T12:00:00Z");
  assert.equal(ago("2026-03-10T11:59:55Z", now), "just now");
  assert.equal(ago("2026-03-10T11:58:00Z", now), "2 minutes ago");
  assert.equal(ago("2026-03-09T10:00:00Z", now), "yesterday");
  assert.equal(ago("2026-01-05T12:00:00Z", now), "Jan 5, 2026");
});

test("a place is a page or a time", () => {
  assert.equal(placeOf({ page_number: 3, start_time: null }), "page 3");
  assert.equal(placeOf({ page_number: null, start_time: 125.4 }), "2:05");
  assert.equal(placeOf({ page_number: null, start_time: null }), "");
  assert.equal(placeOf({ page_number: 2, start_time: null }, { bbox: [{ page_number: 3 }], start_time: null }), "page 3");
  assert.equal(placeOf({ page_number: null, start_time: 0 }, { bbox: null, start_time: 62 }), "1:02");
  const sheet = { page_number: null, start_time: null, place: { sheet: "Sales", cells: "A1:C7" } };
  assert.equal(placeOf(sheet), "Sheet “Sales”, A1:C7");
  assert.equal(placeOf(sheet, { bbox: null, start_time: null, place: { sheet: "Sales", cells: "A3:C3" } }), "Sheet “Sales”, A3:C3");
  assert.equal(clock(0), "0:00");
});

test("a document's length is what its reader counts in", () => {
  assert.equal(lengthOf({ duration: 62, page_count: null, file_type: "mp3" }), "1:02");
  assert.equal(lengthOf({ duration: null, page_count: 1200, file_type: "pdf" }), "1,200 pages");
  assert.equal(lengthOf({ duration: null, page_count: 1, file_type: "pptx" }), "1 slide");
  assert.equal(lengthOf({ duration: null, page_count: null, file_type: "md" }), "");
});

test("long recordings are counted in hours", () => {
  assert.deepEqual([59, 61, 3600, 3661, 36000].map(clock), ["0:59", "1:01", "1:00:00", "1:01:01", "10:00:00"]);
});

test("a place in a file is said as its readers say it", () => {
  const at = (metadata, times = {}) => placeInWords({ metadata, start_time: null, end_time: null, ...times });
  assert.equal(at({ lines: [10, 34] }), "Lines 10–34");
  assert.equal(at({ lines: [10, 10] }), "Line 10");
  assert.equal(at({ slides: [3] }), "Slide 3");
  assert.equal(at({ slides: [3, 4, 5] }), "Slides 3–5");
  assert.equal(at({ sheet: "Sales", cells: "A1:C7", lines: [1, 7] }), "Sheet “Sales”, A1:C7");
  assert.equal(at({ cells: "B2" }), "Cells B2");
  assert.equal(at({}, { start_time: 42, end_time: 70 }), "0:42 – 1:10");
  assert.equal(at({}), "");
});

test("words are listed and languages named", () => {
  assert.equal(listed(["a", "b", "c"]), "a, b, and c");
  assert.equal(language("de"), "German");
});
