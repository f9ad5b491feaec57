import assert from "node:assert/strict";
import { test } from "node:test";
import { addressesIn } from "../src/web-pages.js";

test("addresses are found in what people paste", () => {
  assert.deepEqual(addressesIn(" https://example.org/a, http://x.test/?q=1  https://x.test/b\nexample.org/b\r\nexample.org/b \n"), {
    addresses: ["https://example.org/a", "http://x.test/?q=1", "https://x.test/b", "https://example.org/b"],
    refused: [],
  });
  assert.deepEqual(addressesIn("  \n"), { addresses: [], refused: [] });
  assert.deepEqual(addressesIn("localhost:8080/x [::1]/y http://[::1]:80/").addresses.length, 1);
});

test("words are no addresses", () => {
  for (const words of ["not a url", "hello", "ftp://example.org/file", "javascript:alert(1)", "http://", "https://exa mple.org"]) {
    assert.deepEqual(addressesIn(words), { addresses: [], refused: [words] }, words);
  }
});

test("what is refused is named, and what is good beside it is found", () => {
  assert.deepEqual(addressesIn("example.org\nsee also this one\nhttps://a.example/"), {
    addresses: ["https://example.org", "https://a.example/"],
    refused: ["see also this one"],
  });
});
