import assert from "node:assert/strict";
import { test } from "node:test";
import { DOCUMENTS, fromStored, newExecution, reduce, WEB } from "../src/execution.js";
import { progressSteps } from "../src/progress.js";

const stepsOf = (tool, updates) =>
  updates.map((_, index) => progressSteps(updates.slice(0, index + 1).map(eventOf).reduce(reduce, newExecution(tool, { query: "Is it?" }))));

const eventOf = (data, index) => ({ event: data.sources_used ? "tool_end" : "tool_update", data, execution_id: "call_1", seq: index + 1 });

test("a search in documents says how far it is", () => {
  const steps = stepsOf(DOCUMENTS, [
    { phase: "SEARCH_PREPARATION", status: "started" },
    { phase: "RETRIEVAL", status: "completed", data: { retrieved_count: 40 } },
    { phase: "RERANKING", status: "completed", data: { initial_count: 40, reranked_count: 20, kept_count: 2 } },
    { phase: "COMPILING_RESULTS", status: "started" },
    { response: "Yes", contexts: [], sources_used: [1], model: "extractive" },
  ]);
  assert.deepEqual(steps, [
    ["searching"],
    ["40 chunks found", "ranking"],
    ["40 chunks found", "2 kept", "reading"],
    ["40 chunks found", "2 kept", "writing the answer"],
    ["40 chunks found", "2 kept", "1 cited", "answered by extractive"],
  ]);
});

test("a search of the web says how far it is", () => {
  const sources = [{ rank: 1 }, { rank: 2 }];
  const steps = stepsOf(WEB, [
    { phase: "WEB_SEARCH", status: "started", query: "Is it?" },
    { phase: "WEB_SEARCH", status: "completed", data: { results_count: 5, sources: [] } },
    { phase: "SCRAPING_URLS", status: "started", data: { url_count: 5 } },
    { phase: "SCRAPING_URLS", status: "completed", data: { scraped_count: 4 } },
    { phase: "RERANKING", status: "started" },
    { phase: "RERANKING", status: "completed", data: { reranked_count: 5 } },
    { sources, output_key: "sources" },
    { phase: "GENERATION", status: "started" },
    { response: "Yes", sources, sources_used: [], model: "extractive", total_results: 5, reranked_results: 2 },
  ]);
  assert.deepEqual(steps, [
    ["searching the web"],
    ["5 pages found", "ranking"],
    ["5 pages found", "reading 5 pages"],
    ["5 pages found", "4 read", "ranking"],
    ["5 pages found", "4 read", "ranking"],
    ["5 pages found", "4 read", "ranking"],
    ["5 pages found", "4 read", "2 kept", "ranking"],
    ["5 pages found", "4 read", "2 kept", "writing the answer"],
    ["5 pages found", "4 read", "2 kept", "answered by extractive"],
  ]);
});

test("a stored search of the web says what was found, or that nothing was", () => {
  const steps = (result) => progressSteps(fromStored({ id: "x", tool: WEB, inputs: { query: "q" }, status: "completed", result }));
  const answer = { response: "Yes", sources: [], sources_used: [1], model: "extractive" };
  assert.deepEqual(steps({ ...answer, total_results: 5, reranked_results: 2 }), ["5 pages found", "2 kept", "1 cited", "answered by extractive"]);
  assert.deepEqual(steps({ ...answer, sources_used: [], total_results: 0, reranked_results: 0 }), ["nothing found", "answered by extractive"]);
  assert.deepEqual(steps({ results: [{ url: "https://a.example/" }] }), ["1 page found"]);
});
