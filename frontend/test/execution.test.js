import assert from "node:assert/strict";
import { test } from "node:test";
import { contextOf, fromStored, newExecution, progressSteps, quoteOf, reduce } from "../src/execution.js";

const CONTEXTS = [{ rank: 1, chunk_id: "a" }, { rank: 2, chunk_id: "b" }];
const RESULT = { response: "Yes <citation id=\"a\">[1]</citation>", contexts: [{ rank: 1, chunk_id: "a", used_in_response: true }] };

const STREAM = [
  ["tool_update", { phase: "SEARCH_PREPARATION", status: "started" }],
  ["tool_update", { phase: "RETRIEVAL", status: "completed", data: { retrieved_count: 40 } }],
  ["tool_update", { phase: "RERANKING", status: "completed", data: { initial_count: 40, reranked_count: 20, kept_count: 2 } }],
  ["tool_update", { data: {}, contexts: CONTEXTS, output_key: "contexts" }],
  ["tool_update", { phase: "COMPILING_RESULTS", status: "started" }],
  ["tool_partial_update", { content: "Yes ", output_key: "response" }],
  ["tool_partial_update", { content: "<source_1>", output_key: "response" }],
  ["tool_end", RESULT],
].map(([event, data], index) => ({ event, data, execution_id: "call_1", seq: index + 1 }));

const after = (count) => STREAM.slice(0, count).reduce(reduce, newExecution("Is it?"));

test("each phase says how far the search is", () => {
  assert.deepEqual(progressSteps(after(1)), ["searching"]);
  assert.deepEqual(progressSteps(after(2)), ["40 chunks found", "ranking"]);
  assert.deepEqual(progressSteps(after(3)), ["40 chunks found", "2 kept", "reading"]);
  assert.deepEqual(progressSteps(after(5)), ["40 chunks found", "2 kept", "writing the answer"]);
  assert.deepEqual(progressSteps(after(8)), ["40 chunks found", "2 kept"]);
});

test("the text grows with the partials and ends as the result", () => {
  assert.equal(after(7).text, "Yes <source_1>");
  assert.equal(contextOf(after(7), 2).chunk_id, "b");
  const end = after(8);
  assert.equal(end.status, "completed");
  assert.equal(end.text, RESULT.response);
  assert.equal(end.id, "call_1");
});

test("an event that comes twice counts once", () => {
  const resumed = [...STREAM.slice(0, 7), ...STREAM.slice(4)].reduce(reduce, newExecution("Is it?"));
  assert.deepEqual(resumed, after(8));
});

test("stopping keeps the text so far", () => {
  const stopped = reduce(after(6), { event: "error", data: { code: "cancelled", message: "Stopped." }, seq: 7 });
  assert.equal(stopped.status, "cancelled");
  assert.equal(stopped.text, "Yes ");
});

test("an event of a later version changes nothing", () => {
  const state = reduce(after(2), { event: "tool_thought", data: {}, seq: 3 });
  assert.deepEqual(state.phases, after(2).phases);
});

test("a stored execution reads like one that was watched", () => {
  const stored = fromStored({ id: "call_1", inputs: { query: "Is it?" }, status: "completed", result: RESULT });
  assert.equal(stored.text, after(8).text);
  assert.deepEqual(stored.contexts, after(8).contexts);
  assert.equal(fromStored({ id: "x", inputs: { query: "q" }, status: "queued", result: null }).status, "running");
});

test("the second citation of a chunk opens its second quote", () => {
  const context = { quotes: [{ text: "one" }, { text: "two" }] };
  assert.equal(quoteOf(context, 1).text, "two");
  assert.equal(quoteOf(context, 5).text, "one");
  assert.equal(quoteOf({}, 0), null);
  assert.equal(quoteOf(null), null);
});
