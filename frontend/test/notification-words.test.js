import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.document = { documentElement: { dataset: {} } };
const { entriesOf } = await import("../src/notification-words.js");

const at = (minutes) => new Date(Date.UTC(2026, 10, 23, 12, -minutes)).toISOString();
const about = (name, minutes, more = {}) => ({
  kind: "document.indexed",
  workspace_id: "w",
  workspace_name: "Team",
  document_id: name,
  document: { name, error_message: null },
  is_read: true,
  created_at: at(minutes),
  ...more,
});

test("a few stay apart, and say what happened", () => {
  const failed = about("b.pdf", 2, { kind: "document.failed", document: { name: "b.pdf", error_message: "It is encrypted." } });
  const [one, two] = entriesOf([about("a.pdf", 1), failed]);
  assert.equal(one.title, "a.pdf is ready");
  assert.deepEqual([two.title, two.text, two.address], ["b.pdf could not be read", "It is encrypted.", "/documents/b.pdf"]);
});

test("many of one upload are one entry, unread if one of them is", () => {
  const many = ["a", "b", "c", "d", "e"].map((name, index) => about(name, index, { is_read: index !== 3 }));
  const entries = entriesOf([...many, about("old", 60)]);
  assert.deepEqual(entries.map(({ title }) => title), ["5 documents are ready", "old is ready"]);
  assert.equal(entries[0].text, "a, b, c, and 2 more");
  assert.equal(entries[0].isUnread, true);
});

test("kinds and workspaces do not mix", () => {
  const mixed = [0, 1, 2, 3, 4].map((n) => about(`${n}`, n, { workspace_id: n % 2 ? "w" : "v" }));
  assert.equal(entriesOf(mixed).length, 5);
});

test("a webhook that was switched off leads to its settings", () => {
  const [entry] = entriesOf([about("x", 0, { kind: "webhook.disabled", document: null, document_id: null })]);
  assert.equal(entry.address, "/workspaces/w/webhooks");
});
