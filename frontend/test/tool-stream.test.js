import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { ToolStream, backoff } from "../src/tool-stream.js";

class FakeSocket {
  static all = [];
  readyState = 0;
  sent = [];

  constructor() {
    FakeSocket.all.push(this);
  }
  open() {
    this.readyState = 1;
    this.onopen();
  }
  send(text) {
    this.sent.push(JSON.parse(text));
  }
  receive(message) {
    this.onmessage({ data: JSON.stringify(message) });
  }
  close(code = 1000) {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.onclose({ code });
  }
}

let events;
let interruptions;
let stream;
const socket = () => FakeSocket.all.at(-1);
const partial = (seq) => ({ event: "tool_partial_update", data: { content: "x" }, execution_id: "call_1", seq });
const END = { event: "tool_end", data: {}, execution_id: "call_1", seq: 9 };

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  FakeSocket.all = [];
  events = [];
  interruptions = 0;
  const handlers = { onEvent: (event) => events.push(event), onInterrupted: () => (interruptions += 1) };
  stream = new ToolStream("ws://here/ws/tools/rag_search", handlers, FakeSocket);
});

test("a run ends with its terminal event and its socket", () => {
  stream.run({ query: "Why?" });
  socket().open();
  assert.deepEqual(socket().sent, [{ type: "run", inputs: { query: "Why?" } }]);
  socket().receive(partial(1));
  socket().receive(END);
  assert.equal(socket().readyState, 3);
  assert.deepEqual(events.map(({ event }) => event), ["tool_partial_update", "tool_end"]);
});

test("a dropped connection resumes after the last event seen", () => {
  stream.run({ query: "Why?" });
  socket().open();
  socket().receive(partial(4));
  socket().close(1006);
  assert.equal(interruptions, 1);
  mock.timers.tick(backoff(0));
  socket().open();
  assert.deepEqual(socket().sent, [{ type: "resume", execution_id: "call_1", after: 4 }]);
  socket().receive(END);
  assert.equal(events.at(-1).event, "tool_end");
});

test("a question that may be running is not asked twice", () => {
  stream.run({ query: "Why?" });
  socket().open();
  socket().close(1006);
  mock.timers.tick(60_000);
  assert.equal(FakeSocket.all.length, 1);
  assert.equal(events[0].data.code, "connection_lost");
});

test("a server that is not there yet is tried again, each time later, and given up in the end", () => {
  stream.run({ query: "Why?" });
  for (let attempt = 0; events.length === 0; attempt += 1) {
    socket().close(1006);
    mock.timers.tick(backoff(attempt));
  }
  assert.equal(FakeSocket.all.length, 8);
  assert.equal(events[0].data.code, "connection_lost");
});

test("a network that is back is used at once, and only once", () => {
  stream.run({ query: "Why?" });
  socket().close(1006);
  stream.wake();
  assert.equal(FakeSocket.all.length, 2);
  stream.wake();
  mock.timers.tick(60_000);
  assert.equal(FakeSocket.all.length, 2);
});

test("a refusal is told in words and not tried again", () => {
  stream.resume("call_1");
  socket().open();
  socket().close(4404);
  mock.timers.tick(60_000);
  assert.equal(FakeSocket.all.length, 1);
  assert.equal(events[0].data.code, "not_found");
});

test("cancelling before the server answered is not forgotten", () => {
  stream.run({ query: "Why?" });
  stream.cancel();
  socket().open();
  assert.deepEqual(socket().sent.map(({ type }) => type), ["run", "cancel"]);
});

test("a closed stream is silent", () => {
  stream.run({ query: "Why?" });
  socket().open();
  stream.close();
  mock.timers.tick(60_000);
  assert.equal(events.length, 0);
  assert.equal(FakeSocket.all.length, 1);
});
