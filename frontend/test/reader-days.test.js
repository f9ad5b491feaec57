import assert from "node:assert/strict";
import { test } from "node:test";
import { startOfDay } from "../src/reader-days.js";

test("a day begins at the reader's midnight, also when the clock is put forward or back", () => {
  assert.equal(startOfDay("2026-03-01", 0, "UTC"), "2026-03-01T00:00:00.000Z");
  assert.equal(startOfDay("2026-03-01", 0, "Asia/Kolkata"), "2026-02-28T18:30:00.000Z");
  assert.equal(startOfDay("2026-03-01", 0, "America/New_York"), "2026-03-01T05:00:00.000Z");
  assert.equal(startOfDay("2026-03-29", 0, "Europe/Berlin"), "2026-03-28T23:00:00.000Z");
  assert.equal(startOfDay("2026-03-29", 1, "Europe/Berlin"), "2026-03-29T22:00:00.000Z");
  assert.equal(startOfDay("2026-12-31", 1, "UTC"), "2027-01-01T00:00:00.000Z");
  assert.equal(startOfDay(""), "");
});
