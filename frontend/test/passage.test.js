import assert from "node:assert/strict";
import { test } from "node:test";
import { blocksOf, locate, pieces, rowOf, saysAnything } from "../src/passage.js";

const split = (text, quote) => pieces(text, [0, text.length], locate(text, quote));

test("a quote is found across line breaks", () => {
  assert.deepEqual(split("We sold\n  more (12 %) in 2022. Then less.", "sold more (12 %) in 2022."), [
    "We ",
    "sold\n  more (12 %) in 2022.",
    " Then less.",
  ]);
});

test("text of a document can't become a pattern", () => {
  assert.equal(locate("aaaa", "a+"), null);
  assert.deepEqual(locate("1/2 [x] {y}", "[x] {y}"), [4, 11]);
});

test("without a quote nothing is marked", () => {
  assert.deepEqual(split("All of it.", null), ["All of it.", "", ""]);
  assert.deepEqual(split("All of it.", "Something else"), ["All of it.", "", ""]);
  assert.equal(locate("All", "  "), null);
});

test("a piece shows the part of the quote that lies in it", () => {
  assert.deepEqual(pieces("one two three", [4, 13], [0, 7]), ["", "two", " three"]);
  assert.deepEqual(pieces("one two three", [0, 3], [4, 7]), ["one", "", ""]);
});

test("a header without words is none", () => {
  const [table] = blocksOf("|  |  |\n| --- | --- |\n| Adult | 4.80 |");
  assert.equal(saysAnything(table.head), false);
  assert.equal(saysAnything(table.rows[0]), true);
});

test("a Markdown table is seen as cells, the text around it as text", () => {
  const text = "Sales\n| Year | Sum |\n| --- | --- |\n| 2022 |  |\n| 2023 | 42 \\| 43 |\nand more\ntext";
  const [before, table, after] = blocksOf(text);
  const words = (cells) => cells.map((cell) => text.slice(...cell));
  assert.equal(text.slice(...before.text), "Sales");
  assert.deepEqual(words(table.head), ["Year", "Sum"]);
  assert.deepEqual(table.rows.map(words), [
    ["2022", ""],
    ["2023", "42 \\| 43"],
  ]);
  assert.equal(text.slice(...after.text), "and more\ntext");
});

test("bars alone make no table", () => {
  const text = "| not a table |\nbut text | with bars";
  assert.deepEqual(blocksOf(text), [{ text: [0, text.length] }]);
  assert.deepEqual(blocksOf(""), []);
});

test("a quoted row tells its cells under the names of their columns", () => {
  const header = { text: "| (in millions) | 2023 | 2022 | 2021 |" };
  assert.deepEqual(rowOf({ text: "| Net revenue | $ 3,200 $ |  | 7 |", header }), [
    { name: "(in millions)", value: "Net revenue" },
    { name: "2023", value: "$ 3,200" },
    { name: "2021", value: "7" },
  ]);
});

test("columns that have no names, or not as many, give their cells none", () => {
  const cells = [{ name: "", value: "Net revenue" }, { name: "", value: "3,200" }];
  assert.deepEqual(rowOf({ text: "| Net revenue | 3,200 |" }), cells);
  assert.deepEqual(rowOf({ text: "| Net revenue | 3,200 |", header: { text: "| 2023 |" } }), cells);
});

test("what is no row of a table has no cells", () => {
  assert.equal(rowOf({ text: "We sold | more." }), null);
  assert.equal(rowOf({ text: "| a |\n| --- |\n| b |" }), null);
});
