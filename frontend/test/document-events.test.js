import assert from "node:assert/strict";
import { test } from "node:test";
import { followDocument } from "../src/document-events.js";

class Source {
  listeners = {};
  closed = false;

  constructor(url) {
    this.url = url;
    Source.last = this;
  }

  addEventListener(name, listener) {
    this.listeners[name] = listener;
  }

  close() {
    this.closed = true;
  }

  send(name, data) {
    this.listeners[name]({ data: JSON.stringify({ event: name, data }) });
  }
}

function follow() {
  const seen = [];
  followDocument("d1", { onUpdate: (document) => seen.push(document), onGone: () => seen.push("gone") }, Source);
  return { seen, source: Source.last };
}

test("every state is passed on until the end", () => {
  const { seen, source } = follow();
  assert.equal(source.url, "/api/v1/documents/d1/events");
  source.send("document_update", { status: "extracting" });
  source.send("document_update", { status: "ready" });
  assert.equal(source.closed, false);
  source.send("document_end", { status: "ready" });
  assert.equal(source.closed, true);
  assert.deepEqual(seen, [{ status: "extracting" }, { status: "ready" }]);
});

test("a large state comes in slices", () => {
  const { seen, source } = follow();
  const whole = JSON.stringify({ event: "document_update", data: { name: "x".repeat(40) } });
  const slice = (index, chunk) => source.send("_delta_sse", { delta_id: "a", index, total: 2, chunk });
  slice(0, whole.slice(0, 20));
  assert.deepEqual(seen, []);
  source.onerror();
  slice(0, whole.slice(0, 20));
  slice(1, whole.slice(20));
  assert.deepEqual(seen, [{ name: "x".repeat(40) }]);
});

test("a document that can't be seen any more is gone", () => {
  const { seen, source } = follow();
  source.send("document_end", { id: "d1", status: null });
  assert.deepEqual([seen, source.closed], [["gone"], true]);
});
