import assert from "node:assert/strict";
import { test } from "node:test";
import { arranged } from "../src/arrange.js";

const one = (id, attached_to = null) => ({ id, attached_to });
const order = (documents) => arranged(documents).map(({ document, depth }) => `${"-".repeat(depth)}${document.id}`);

test("attachments stand under their mail, and theirs under them", () => {
  assert.deepEqual(order([one("b", "mail"), one("c", "b"), one("new"), one("a", "mail"), one("mail")]), ["new", "mail", "-b", "--c", "-a"]);
});

test("an attachment stays where it is when its mail is elsewhere", () => {
  assert.deepEqual(order([one("x"), one("a", "mail")]), ["x", "a"]);
  assert.deepEqual(order([]), []);
});
