// Files and vector stores: uploaded, searched, asked about, deleted.

import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI, { toFile } from "openai";
import { QUESTION, clientWith, collected } from "./client.js";

const client = clientWith();
const TOWN = "The solar farm in Almería produced 42 gigawatt hours in 2023. Its owner is the town itself.";
const pollIntervalMs = 200;

test("from upload to answer", async () => {
  const store = await client.vectorStores.create({ name: "Energy" });
  const file = await client.files.create({ file: await toFile(Buffer.from(TOWN), "town.txt"), purpose: "assistants" });
  const put = await client.vectorStores.files.createAndPoll(store.id, { file_id: file.id }, { pollIntervalMs });
  assert.equal(put.status, "completed");
  const [hit] = await collected(client.vectorStores.search(store.id, { query: QUESTION }));
  assert.equal(hit.filename, "town.txt");
  const tools = [{ type: "file_search", vector_store_ids: [store.id] }];
  const made = await client.responses.create({ model: "locus", input: QUESTION, tools });
  const [annotation] = made.output.at(-1).content[0].annotations;
  assert.deepEqual([annotation.type, annotation.file_id], ["file_citation", file.id]);
  const content = await client.files.content(file.id);
  assert.equal(await content.text(), TOWN);
  assert.ok((await client.files.delete(file.id)).deleted);
  await assert.rejects(client.files.retrieve(file.id), OpenAI.NotFoundError);
  assert.ok((await client.vectorStores.delete(store.id)).deleted);
});
