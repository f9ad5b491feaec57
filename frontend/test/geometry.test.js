import assert from "node:assert/strict";
import { test } from "node:test";
import { boxesOnPage, firstPage, fittingZoom, imageWidth, inPercent, scrollLeftFor, scrollTopFor } from "../src/geometry.js";

const box = (page_number, bbox) => ({ page_number, bbox, layout_width: 600, layout_height: 800 });

test("a box keeps its proportions at every size of the page", () => {
  assert.deepEqual(inPercent(box(1, [60, 200, 360, 220])), { left: 10, top: 25, width: 50, height: 2.5 });
});

test("only the boxes of the page in view are drawn", () => {
  const boxes = [box(3, [0, 0, 1, 1]), box(4, [0, 0, 1, 1])];
  assert.deepEqual(boxesOnPage(boxes, 4), [boxes[1]]);
  assert.deepEqual(boxesOnPage(null, 4), []);
});

test("the quote decides the page, then the chunk, then the document's first", () => {
  assert.equal(firstPage([box(7, [])], [box(6, [])]), 7);
  assert.equal(firstPage(null, [box(6, [])]), 6);
  assert.equal(firstPage([], [], 2), 2);
  assert.equal(firstPage(null, null, null), 1);
});

test("images are sharp on dense screens and within the API's limit", () => {
  assert.equal(imageWidth(700, 1), 720);
  assert.equal(imageWidth(700, 2), 1600);
  assert.equal(imageWidth(3000, 3), 4000);
});

test("the marked place is scrolled to the upper third", () => {
  assert.equal(scrollTopFor([box(1, [0, 400, 10, 410]), box(1, [0, 420, 10, 430])], 1600, 600), 600);
  assert.equal(scrollTopFor([box(1, [0, 10, 10, 20])], 1600, 600), 0);
  assert.equal(scrollTopFor([], 1600, 600), 0);
});

test("on a small screen the marked place fills the width, but never grows without end", () => {
  assert.equal(fittingZoom([box(1, [0, 0, 376, 10])]), 1.5);
  assert.equal(fittingZoom([box(1, [0, 0, 600, 10])]), 1);
  assert.equal(fittingZoom([box(1, [100, 0, 120, 10])]), 2);
  assert.equal(fittingZoom([]), 1);
});

test("the marked place is scrolled to the middle", () => {
  assert.equal(scrollLeftFor([box(1, [300, 0, 480, 10])], 1000, 400), 450);
  assert.equal(scrollLeftFor([box(1, [0, 0, 60, 10])], 1000, 400), 0);
});
