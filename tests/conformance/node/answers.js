// Responses, chat completions, models and embeddings; and what goes wrong, as the client's own errors.

import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { QUESTION, clientWith, collected } from "./client.js";

const client = clientWith();
const asked = { model: "locus", input: QUESTION, tools: [{ type: "rag_search" }] };
const messages = [{ role: "user", content: QUESTION }];
const SAID = /42 gigawatt hours in 2023\. \[1\]/;

test("a response cites its source", async () => {
  const made = await client.responses.create(asked);
  assert.match(made.output_text, SAID);
  assert.equal(made.status, "completed");
  const [annotation] = made.output.at(-1).content[0].annotations;
  assert.equal(annotation.type, "file_citation");
  const { start_index: start, end_index: end } = annotation;
  assert.equal([...made.output_text].slice(start, end).join(""), "[1]");
  const again = await client.responses.retrieve(made.id);
  assert.equal(again.output_text, made.output_text);
});

test("a stream has its events in order, and its parts add up", async () => {
  const events = await collected(await client.responses.create({ ...asked, stream: true }));
  assert.deepEqual(
    events.map((event) => event.sequence_number),
    [...events.keys()],
  );
  const kinds = events.map((event) => event.type);
  assert.deepEqual(kinds.slice(0, 2), ["response.created", "response.in_progress"]);
  assert.equal(kinds.at(-1), "response.completed");
  assert.ok(kinds.indexOf("response.content_part.added") < kinds.indexOf("response.output_text.delta"));
  const deltas = events.filter((event) => event.type === "response.output_text.delta");
  const done = events.find((event) => event.type === "response.output_text.done");
  assert.equal(deltas.map((event) => event.delta).join(""), done.text);
  assert.match(done.text, SAID);
  const added = events.find((event) => event.type === "response.output_text.annotation.added");
  assert.equal(added.annotation.filename, "solar.pdf");
});

test("the client's own reader of streams", async () => {
  const seen = [];
  const stream = client.responses.stream(asked).on("response.output_text.delta", ({ delta }) => seen.push(delta));
  const final = await stream.finalResponse();
  assert.match(final.output_text, SAID);
  assert.equal(seen.join(""), final.output_text);
});

test("the web is cited by addresses", async () => {
  const made = await client.responses.create({ ...asked, tools: [{ type: "web_search" }] });
  const [annotation] = made.output.at(-1).content[0].annotations;
  assert.deepEqual([annotation.type, annotation.url], ["url_citation", "https://solar.example/farm"]);
});

test("chat completions, whole and streamed", async () => {
  const tools = [{ type: "rag_search" }];
  const whole = await client.chat.completions.create({ model: "locus", messages, tools });
  assert.match(whole.choices[0].message.content, SAID);
  const stream = client.chat.completions.stream({ model: "locus", messages, tools });
  assert.equal(await stream.finalContent(), whole.choices[0].message.content);
});

test("models and embeddings", async () => {
  const models = (await collected(client.models.list())).map((model) => model.id);
  assert.deepEqual(models.slice(0, 2), ["locus", "extractive"]);
  // The client asks for base64, and decodes it.
  const made = await client.embeddings.create({ model: models[2], input: [QUESTION, "Bread."] });
  const lengths = made.data.map((each) => Math.hypot(...each.embedding).toFixed(3));
  assert.deepEqual(lengths, ["1.000", "1.000"]);
});

test("errors are their exceptions", async () => {
  const refused = (more, error) => assert.rejects(client.responses.create({ ...asked, ...more }), error);
  await refused({ tools: [{ type: "computer" }] }, (error) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.deepEqual([error.code, error.param], ["unsupported_tool", "tools[0].type"]);
    return true;
  });
  await refused({ tools: [{ type: "rag_search", document_ids: [crypto.randomUUID()] }] }, OpenAI.NotFoundError);
  await refused({ session_id: crypto.randomUUID() }, OpenAI.NotFoundError);
  await assert.rejects(client.responses.retrieve("resp_unknown"), OpenAI.NotFoundError);
  const stranger = clientWith({ apiKey: "locus_0000000000_no" });
  await assert.rejects(stranger.responses.create(asked), OpenAI.AuthenticationError);
});
