import assert from "node:assert/strict";
import { test } from "node:test";
import { addressesIn } from "../src/web-pages.js";

test("addresses are found in what people paste", () => {
  assert.deepEqual(addressesIn(" https://example.org/a\nexample.org/b, http://x.test/?q=1  example.org/b "), [
    "https://example.org/a",
    "https://example.org/b",
    "http://x.test/?q=1",
  ]);
  assert.deepEqual(addressesIn("  "), []);
});

test("a scheme we don't know is left for the server to refuse", () => {
  assert.deepEqual(addressesIn("ftp://example.org/file"), ["ftp://example.org/file"]);
});
