import assert from "node:assert/strict";
import { test } from "node:test";
import { asMarkdown, asPlainText } from "../src/answer-copy.js";
import { allSources, citedSources, numberer } from "../src/citations.js";
import { DOCUMENT, DOCUMENTS, fromStored, newExecution, PAGE, WEB } from "../src/execution.js";
import { ANSWERED, answererWords, CLOSEST, NOTHING, outcomeOf, readingWords, WITHHELD } from "../src/outcome.js";

const context = (rank, more = {}) => ({ rank, document_id: `d${rank}`, document_name: `report ${rank}.pdf`, page_number: rank, quotes: [], ...more });
const stored = (result, tool = DOCUMENTS) => fromStored({ id: "x", tool, inputs: { query: "q" }, status: "completed", result });
const cite = (rank) => `<citation id="c">[${rank}]</citation>`;
const answer = stored({ response: `Two ${cite(4)}, one ${cite(1)}, two again ${cite(4)}.`, contexts: [1, 2, 4].map((rank) => context(rank)), sources_used: [1, 4] });

test("citations are numbered as they appear", () => {
  assert.deepEqual(citedSources(answer).map(({ rank, number }) => [rank, number]), [[4, 1], [1, 2]]);
  assert.deepEqual(allSources(answer).map(({ rank, number }) => [rank, number]), [[4, 1], [1, 2], [2, null]]);
});

test("a chunk and a page of one rank are two sources", () => {
  const both = stored({ response: `A <web_citation url="https://a.example/" title="A">[1]</web_citation> b ${cite(1)}`, contexts: [context(1)], sources: [{ rank: 1, title: "A", url: "https://a.example/" }], sources_used: [1] });
  assert.deepEqual(citedSources(both).map(({ kind, number }) => [kind, number]), [[PAGE, 1], [DOCUMENT, 2]]);
  assert.equal(readingWords(both), "Read 1 passage in 1 document and 1 web result");
});

test("while text streams, its markers are numbered too", () => {
  const state = { ...newExecution(WEB, { query: "q" }), text: "A <source_3> b <source_1>", sources: [{ rank: 1 }, { rank: 3 }] };
  assert.equal(numberer(state)({ kind: PAGE, rank: 3 }), 1);
  assert.deepEqual(allSources(state).map(({ number }) => number), [null, null]);
});

test("what can be copied", () => {
  const quoted = stored({ response: `**Two** ${cite(2)}.`, contexts: [context(2, { quotes: [{ text: "Two\n were sold." }] })], sources_used: [2] });
  assert.equal(asMarkdown(quoted, { citations: true }), "**Two** [1].\n\nSources:\n\n1. report 2.pdf, page 2: “Two were sold.”");
  assert.equal(asMarkdown(quoted, { citations: false }), "**Two**.");
  assert.equal(asPlainText(quoted, { citations: true }), "Two [1].\n\nSources:\n\n1. report 2.pdf, page 2: “Two were sold.”");
  assert.equal(asPlainText(quoted, { citations: false }), "Two.");
});

test("a copied page of the web keeps its address", () => {
  const state = stored({ response: 'A <web_citation url="https://a.example/" title="x">[1]</web_citation>', sources: [{ rank: 1, title: "News [1]", url: "https://a.example/" }], sources_used: [1] }, WEB);
  assert.match(asMarkdown(state, { citations: true }), /1\. \[News \\\[1\\\]\]\(<https:\/\/a\.example\/>\)$/);
  assert.match(asPlainText(state, { citations: true }), /1\. News \[1\], https:\/\/a\.example\/$/);
});

test("answers come out in different ways", () => {
  assert.equal(outcomeOf(answer), ANSWERED);
  assert.equal(outcomeOf(stored({ response: "No.", contexts: [context(1)], sources_used: [] })), CLOSEST);
  assert.equal(outcomeOf(stored({ response: "No.", contexts: [], sources_used: [] })), NOTHING);
  assert.equal(outcomeOf(stored({ response: null, contexts: [], sources_used: [], unavailable: true })), WITHHELD);
  assert.equal(outcomeOf(newExecution(DOCUMENTS, { query: "q" })), null);
  assert.equal(answererWords("extractive"), "Quoted, no model");
  assert.equal(answererWords(undefined), "");
});
