import assert from "node:assert/strict";
import { test } from "node:test";
import { newestPath, pathThrough, pathTo, siblingsOf } from "../src/thread-tree.js";

const message = (id, parent_id) => ({ id, parent_id });
// a ─ b ─ c, an edited b: d ─ e, and another beginning: f
const ALL = [message("a", null), message("b", "a"), message("c", "b"), message("d", "a"), message("e", "d")];
const ids = (messages) => messages.map(({ id }) => id).join("");

test("the newest branch is shown at first", () => {
  assert.equal(ids(newestPath(ALL)), "ade");
  assert.equal(ids(newestPath([])), "");
});

test("another branch is shown to its end", () => {
  assert.equal(ids(pathThrough(ALL, "b")), "abc");
  assert.equal(ids(pathThrough(ALL, "a")), "ade");
  assert.equal(ids(pathTo(ALL, "d")), "ad");
});

test("edits of a question are siblings", () => {
  assert.equal(ids(siblingsOf(ALL, ALL[3])), "bd");
  assert.equal(ids(siblingsOf([...ALL, message("f", null)], ALL[0])), "af");
});

test("a broken tree ends", () => {
  assert.ok(pathTo([message("a", "b"), message("b", "a")], "a").length <= 3);
});
