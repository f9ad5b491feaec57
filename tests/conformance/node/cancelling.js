// A response that takes long is cancelled by its id, while it is read.

import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { QUESTION, clientWith, collected } from "./client.js";

test("a stream ends where its response is cancelled", async () => {
  const client = clientWith();
  const asked = { model: "locus", input: QUESTION, tools: [{ type: "rag_search" }], stream: true };
  const events = (await client.responses.create(asked))[Symbol.asyncIterator]();
  const { id } = (await events.next()).value.response;
  assert.equal((await client.responses.cancel(id)).status, "cancelled");
  const rest = collected({ [Symbol.asyncIterator]: () => events });
  await assert.rejects(rest, (error) => error instanceof OpenAI.APIError && /cancelled/.test(error.message));
});
