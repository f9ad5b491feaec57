import assert from "node:assert/strict";
import test from "node:test";
import { matchedPieces } from "../src/search-words.js";

const marked = (text, query) => matchedPieces(text, query).filter((piece) => piece.isMatch).map((piece) => piece.text);

test("words of the question are found in their other forms, and short ones are not", () => {
  assert.deepEqual(marked("Reports of the reporting year, reported.", "which reports can I read"), ["Reports", "reporting", "reported"]);
  assert.deepEqual(marked("The can is here.", "who can"), []);
  assert.deepEqual(marked("The EU and 42 of Q1.", "EU 42 Q1"), ["EU", "42", "Q1"]);
});

test("nothing of the text is lost", () => {
  for (const text of ["", "solar", "a solar farm", "solar farm solar"]) {
    assert.equal(matchedPieces(text, "solar").map((piece) => piece.text).join(""), text);
  }
});
