import assert from "node:assert/strict";
import test from "node:test";

globalThis.locusTexts = { "a48a45fb": "„{name}“ umbenennen" };
const { keyOfText, t, translated } = await import("../src/texts.js");

test("a text is found by the key that the server writes", () => {
  // The same text as in `tests/core/test_script_texts.py`.
  assert.equal(keyOfText("Rename “{name}” 🗂"), "a48a45fb");
  assert.equal(t("Rename “{name}” 🗂", { name: "a" }), "„a“ umbenennen");
});

test("a text without a translation stays English", () => {
  assert.equal(t("Delete {name}", { name: "a" }), "Delete a");
  assert.equal(translated("Something else"), "Something else");
});

test("where the server has said nothing, there is nothing to translate", () => {
  assert.equal(translated(undefined), undefined);
  assert.equal(translated(null) ?? "other words", "other words");
  assert.equal(translated(""), "");
});
