import assert from "node:assert/strict";
import { test } from "node:test";
import { DOCUMENTS, fromStored, newExecution, reduce, WEB } from "../src/execution.js";
import { progressSteps } from "../src/progress.js";

const stepsOf = (tool, updates) =>
  updates.map((_, index) => progressSteps(updates.slice(0, index + 1).map(eventOf).reduce(reduce, newExecution(tool, { query: "Is it?" }))));

const eventOf = (data, index) => ({ event: data.sources_used ? "tool_end" : "tool_update", data, execution_id: "call_1", seq: index + 1 });

test("a search in documents says how far it is", () => {
  const contexts = [{ rank: 1, document_id: "a" }, { rank: 2, document_id: "b" }, { rank: 3, document_id: "a" }];
  const steps = stepsOf(DOCUMENTS, [
    { phase: "SEARCH_PREPARATION", status: "started" },
    { phase: "RETRIEVAL", status: "completed", data: { retrieved_count: 40 } },
    { contexts, output_key: "contexts" },
    { phase: "COMPILING_RESULTS", status: "started" },
    { response: "Yes", contexts, sources_used: [1], model: "extractive" },
  ]);
  assert.deepEqual(steps, [
    ["Searching"],
    ["Choosing from 40 passages"],
    ["Reading 3 passages in 2 documents"],
    ["Reading 3 passages in 2 documents", "Writing the answer"],
    ["Read 3 passages in 2 documents", "Quoted, no model"],
  ]);
});

test("a search of the web says how far it is", () => {
  const sources = [{ rank: 1 }, { rank: 2 }];
  const steps = stepsOf(WEB, [
    { phase: "WEB_SEARCH", status: "started", query: "Is it?" },
    { phase: "WEB_SEARCH", status: "completed", data: { results_count: 5, sources: [] } },
    { phase: "SCRAPING_URLS", status: "started", data: { url_count: 5 } },
    { phase: "SCRAPING_URLS", status: "completed", data: { scraped_count: 4 } },
    { sources, output_key: "sources" },
    { phase: "GENERATION", status: "started" },
    { response: "Yes", sources, sources_used: [], model: "some-model", total_results: 5, reranked_results: 2 },
  ]);
  assert.deepEqual(steps, [
    ["Searching the web"],
    ["Choosing from 5 pages"],
    ["Reading 5 pages"],
    ["Choosing from 5 pages"],
    ["Reading 2 web results"],
    ["Reading 2 web results", "Writing the answer"],
    ["Read 2 web results", "Written by some-model"],
  ]);
});

test("a stored search of the web says what was found, or nothing", () => {
  const steps = (result) => progressSteps(fromStored({ id: "x", tool: WEB, inputs: { query: "q" }, status: "completed", result }));
  const answer = { response: "Yes", sources: [], sources_used: [], model: "extractive" };
  assert.deepEqual(steps({ ...answer, total_results: 0, reranked_results: 0 }), ["Quoted, no model"]);
  assert.deepEqual(steps({ results: [{ url: "https://a.example/" }] }), ["Found 1 web result"]);
});
