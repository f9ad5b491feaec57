import assert from "node:assert/strict";
import { test } from "node:test";
import { changeOf, labelOf, numberIn, sourceOf } from "../src/setting.js";

const deployment = { value: 5, source: "deployment" };
const workspace = { value: true, source: "workspace" };

test("values have names for people", () => {
  assert.deepEqual([true, false, "auto", "none", 5, "extractive", "small-model"].map((value) => labelOf(value)), ["On", "Off", "Automatic", "None", "5", "Quoted, no model", "small-model"]);
  assert.equal(labelOf(600, 60), "10");
});

test("a field holds a number or, for inheriting, nothing", () => {
  assert.deepEqual(["12.50", ".5", "0", ""].map((text) => numberIn(text)), [12.5, 0.5, 0, null]);
  assert.equal(numberIn("10", 60), 600);
});

test("an inherited value says from where", () => {
  assert.equal(sourceOf(null, { inherited: deployment, level: "user", workspace: "Team" }), "Default");
  assert.equal(sourceOf(null, { inherited: workspace, level: "user", workspace: "Team" }), "Default of the workspace Team");
});

test("an own value says what it replaces", () => {
  const own = sourceOf(false, { inherited: workspace, level: "user", workspace: "Team" });
  assert.equal(own, "Your choice. The default of the workspace Team is: On.");
  const set = sourceOf(8, { inherited: deployment, level: "workspace", workspace: "Team" });
  assert.equal(set, "Set here. The default is: 5.");
});

test("a change names only what was changed, and null inherits", () => {
  const stored = { "rag.contexts": 8, "rag.reflection": null, "web_search.enabled": null };
  assert.deepEqual(changeOf(stored, { ...stored }), {});
  assert.deepEqual(changeOf(stored, { ...stored, "rag.contexts": null, "web_search.enabled": true }), {
    rag: { contexts: null },
    web_search: { enabled: true },
  });
});
