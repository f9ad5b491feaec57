import assert from "node:assert/strict";
import { test } from "node:test";
import { contextOf, DOCUMENTS, fromStored, newExecution, quoteOf, reduce, sourceOf, WEB } from "../src/execution.js";

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

const asked = () => newExecution(DOCUMENTS, { query: "Is it?" });
const after = (count) => STREAM.slice(0, count).reduce(reduce, asked());

test("the text grows with the partials and ends as the result", () => {
  assert.equal(after(7).text, "Yes <source_1>");
  assert.equal(contextOf(after(7), 2).chunk_id, "b");
  const end = after(8);
  assert.equal(end.status, "completed");
  assert.equal(end.text, RESULT.response);
  assert.equal(end.id, "call_1");
});

test("an event that comes twice counts once", () => {
  const resumed = [...STREAM.slice(0, 7), ...STREAM.slice(4)].reduce(reduce, asked());
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
  const stored = fromStored({ id: "call_1", tool: DOCUMENTS, workspace_id: "w", inputs: { query: "Is it?" }, status: "completed", result: RESULT });
  assert.equal(stored.text, after(8).text);
  assert.deepEqual(stored.contexts, after(8).contexts);
  assert.equal(fromStored({ id: "x", tool: DOCUMENTS, inputs: { query: "q" }, status: "queued", result: null }).status, "running");
});

test("pages of the web take the place of chunks, the refined ones that of those first found", () => {
  const found = [{ rank: 1, url: "https://a.example/" }, { rank: 2, url: "https://b.example/" }];
  const refined = [{ rank: 1, url: "https://b.example/" }];
  const events = [
    ["tool_update", { phase: "WEB_SEARCH", status: "completed", output_key: "sources", data: { results_count: 2, sources: found } }],
    ["tool_update", { reranked_results: 1, output_key: "reranked_results" }],
    ["tool_update", { sources: refined, output_key: "sources" }],
  ].map(([event, data], index) => ({ event, data, execution_id: "call_2", seq: index + 1 }));
  const [first, , last] = events.map((_, count) => events.slice(0, count + 1).reduce(reduce, newExecution(WEB, { query: "Is it?" })));
  assert.deepEqual(first.phases.WEB_SEARCH.sources, found);
  assert.equal(sourceOf(first, 1), null);
  assert.equal(sourceOf(last, 1).url, "https://b.example/");
});

test("a stored search of the web can be asked again as it was, where it was", () => {
  const inputs = { query: "Is it?", freshness: "week" };
  const stored = fromStored({ id: "call_2", tool: WEB, workspace_id: "w", inputs, status: "failed", result: null, error: { code: "timeout", message: "Late." } });
  assert.deepEqual(stored.inputs, { ...inputs, workspace_id: "w" });
  assert.deepEqual([stored.status, stored.text, stored.sources], ["failed", "", []]);
});

test("results without an answer are listed in their order", () => {
  const result = { results: [{ url: "https://a.example/" }, { url: "https://b.example/" }] };
  const stored = fromStored({ id: "call_2", tool: WEB, inputs: { query: "q" }, status: "completed", result });
  assert.equal(sourceOf(stored, 2).url, "https://b.example/");
  assert.equal(stored.text, "");
});

test("the second citation of a chunk opens its second quote", () => {
  const context = { quotes: [{ text: "one" }, { text: "two" }] };
  assert.equal(quoteOf(context, 1).text, "two");
  assert.equal(quoteOf(context, 5).text, "one");
  assert.equal(quoteOf({}, 0), null);
  assert.equal(quoteOf(null), null);
});
