import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionsOf, fromAddress, nextSort, toAddress } from "../src/documents-query.js";

test("an address and what it shows are the same", () => {
  for (const address of ["", "?status=failed", "?workspace=W&tag=a+b&from=2026-01-01", "?type=pdf&sort=name", "?sort=-size&view=grid"]) {
    assert.equal(toAddress(fromAddress(address)), address);
  }
});

test("what nobody knows is left out", () => {
  assert.equal(toAddress(fromAddress("?sort=colour&view=film&x=1")), "");
});

test("the last day counts as a whole", () => {
  const { created_after: after, created_before: before } = conditionsOf({ from: "2026-03-01", to: "2026-03-01" });
  assert.equal(Date.parse(before) - Date.parse(after), 24 * 3600 * 1000);
  assert.deepEqual(conditionsOf({ search: "  ", from: "no day", status: "" }), {});
});

test("a second click turns the order round", () => {
  assert.equal(nextSort("-created_at", "name"), "name");
  assert.equal(nextSort("name", "name"), "-name");
  assert.equal(nextSort("name", "size"), "-size");
});
