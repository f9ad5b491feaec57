// Functions of the caller; the chat model behind the server asks for one in every second conversation.

import assert from "node:assert/strict";
import { test } from "node:test";
import { clientWith } from "./client.js";

const client = clientWith();
const parameters = { type: "object", properties: { day: { type: "string" } }, required: ["day"] };
const question = "How long did the sun shine on 3 May?";
const SUNNY = "On 3 May the sun shone for eleven hours.";
const ANSWER = "The sun shone for eleven hours. [1]";

test("a response asks for a call, and goes on with its output", async () => {
  const tools = [{ type: "function", name: "weather", parameters, strict: false }];
  const input = [{ role: "user", content: question }];
  const tool_choice = { type: "function", name: "weather" };
  const first = await client.responses.create({ model: "locus", input, tools, tool_choice });
  const call = first.output.find((item) => item.type === "function_call");
  assert.deepEqual([call.name, JSON.parse(call.arguments)], ["weather", { day: "3 May" }]);
  input.push(...first.output, { type: "function_call_output", call_id: call.call_id, output: SUNNY });
  const second = await client.responses.create({ model: "locus", input, tools });
  assert.equal(second.output_text, ANSWER);
});

test("the client runs functions by itself", async () => {
  const called = [];
  const weather = {
    name: "weather",
    parameters,
    parse: JSON.parse,
    function: (given) => {
      called.push(given.day);
      return SUNNY;
    },
  };
  const messages = [{ role: "user", content: question }];
  const tools = [{ type: "function", function: weather }];
  const runner = client.chat.completions.runTools({ model: "locus", messages, tools, stream: true });
  assert.equal(await runner.finalContent(), ANSWER);
  assert.deepEqual(called, ["3 May"]);
});
