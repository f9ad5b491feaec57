import assert from "node:assert/strict";
import { test } from "node:test";
import { inCrop, isSameBox } from "../src/geometry.js";
import { aroundSentence, toldApart } from "../src/picture.js";

const box = { page_number: 2, bbox: [60, 200, 360, 400], layout_width: 600, layout_height: 800 };

test("a page lies in the frame of a crop so that the box fills it", () => {
  assert.deepEqual(inCrop(box), { ratio: 1.5, width: "200%", height: "400%", left: "-20%", top: "-100%" });
});

test("boxes are the same on the same page only", () => {
  assert.ok(isSameBox(box, { ...box }));
  assert.ok(!isSameBox(box, { ...box, page_number: 3 }));
  assert.ok(!isSameBox(box, { ...box, bbox: [60, 200, 360, 401] }));
  assert.ok(!isSameBox(box, null));
});

test("what a machine has written is told apart, counted in code points", () => {
  assert.deepEqual(toldApart("📈 Figure 1.\n\nBars.", [[13, 18]]), { own: "📈 Figure 1.", machine: "Bars." });
  assert.deepEqual(toldApart("Bars.", [[0, 5]]), { own: "", machine: "Bars." });
  assert.deepEqual(toldApart("Figure 1.", undefined), { own: "Figure 1.", machine: "" });
  // A preview may end before that.
  assert.deepEqual(toldApart("Figure", [[13, 18]]), { own: "Figure", machine: "" });
  assert.deepEqual(toldApart(null, [[0, 5]]), { own: "", machine: "" });
});

test("the sentence that comes nearest is told apart from the words around it", () => {
  assert.deepEqual(aroundSentence("📈 Quiet.\nNo dogs. No cats.", { text: "No dogs.", chunk_start: 9 }), ["📈 Quiet.\n", "No dogs.", " No cats."]);
  // The preview begins amid the passage.
  assert.deepEqual(aroundSentence("Quiet. No dogs.", { text: "No dogs.", chunk_start: 400 }), ["… Quiet. ", "No dogs.", ""]);
  assert.equal(aroundSentence("No cats.", { text: "No dogs.", chunk_start: 0 }), null);
  assert.equal(aroundSentence(null, { text: "No dogs.", chunk_start: 0 }), null);
});
