import assert from "node:assert/strict";
import { test } from "node:test";
import { changeOf, chosenIn, labelOf, sourceOf, valuesOf } from "../src/setting.js";

const deployment = { value: 5, source: "deployment" };
const workspace = { value: true, source: "workspace" };

test("values have names for people", () => {
  assert.deepEqual([true, false, "auto", "none", 5, "small-model"].map(labelOf), ["On", "Off", "Automatic", "None", "5", "small-model"]);
});

test("what may be chosen depends on the kind", () => {
  assert.deepEqual(valuesOf({ kind: "switch" }), [true, false]);
  assert.deepEqual(valuesOf({ kind: "number", most: 3 }), [1, 2, 3]);
  assert.deepEqual(valuesOf({ kind: "choice", choices: ["auto", "none"] }), ["auto", "none"]);
  assert.deepEqual(valuesOf({ kind: "choice" }), []);
});

test("a control holds a value or, for inheriting, null", () => {
  assert.deepEqual(["true", "8", '"auto"', "null"].map((text) => chosenIn("choice", text)), [true, 8, "auto", null]);
  assert.deepEqual(["12.50", ".5", "0", ""].map((text) => chosenIn("amount", text)), [12.5, 0.5, 0, null]);
});

test("an inherited value says from where", () => {
  assert.equal(sourceOf(null, { inherited: deployment, level: "user", workspace: "Team" }), "From this deployment.");
  assert.equal(sourceOf(null, { inherited: workspace, level: "user", workspace: "Team" }), "From the workspace Team.");
});

test("an own value says what it replaces", () => {
  const own = sourceOf(false, { inherited: workspace, level: "user", workspace: "Team" });
  assert.equal(own, "Your choice. Without it: On, from the workspace Team.");
  const set = sourceOf(8, { inherited: deployment, level: "workspace", workspace: "Team" });
  assert.equal(set, "Set here. Without it: 5, from this deployment.");
});

test("a change names only what was changed, and null inherits", () => {
  const stored = { "rag.contexts": 8, "rag.reflection": null, "web_search.enabled": null };
  assert.deepEqual(changeOf(stored, { ...stored }), {});
  assert.deepEqual(changeOf(stored, { ...stored, "rag.contexts": null, "web_search.enabled": true }), {
    rag: { contexts: null },
    web_search: { enabled: true },
  });
});
