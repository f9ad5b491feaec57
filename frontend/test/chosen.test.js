import assert from "node:assert/strict";
import { test } from "node:test";
import { runBulk } from "../src/bulk.js";
import { ChosenDocuments } from "../src/chosen.js";

const ids = ["a", "b", "c", "d"];

test("Shift chooses from the last one that was clicked, in either direction", () => {
  const chosen = new ChosenDocuments(() => {});
  chosen.set("c", true, { ids });
  chosen.set("a", true, { ids, range: true });
  assert.deepEqual(chosen.ids.sort(), ["a", "b", "c"]);
  chosen.set("b", false, { ids, range: true });
  assert.deepEqual(chosen.ids, ["c"]);
});

test("who leaves one out of all has chosen those that are loaded", () => {
  const chosen = new ChosenDocuments(() => {});
  chosen.chooseAll(ids);
  assert.ok(chosen.has("never loaded"));
  chosen.set("b", false, { ids });
  assert.deepEqual([chosen.isAll, chosen.ids], [false, ["a", "c", "d"]]);
});

test("many documents go in steps, a filter until its end", async () => {
  const sent = [];
  const send = async (_, body) => {
    sent.push(body);
    return { changed: body.ids ?? ["x"], failed: [], next: body.filter && sent.length < 3 ? `n${sent.length}` : null };
  };
  const many = Array.from({ length: 250 }, (_, number) => `${number}`);
  assert.equal((await runBulk({ ids: many }, { action: "delete" }, () => {}, send)).changed.length, 250);
  assert.deepEqual(sent.map((body) => body.ids.length), [100, 100, 50]);
  sent.length = 0;
  await runBulk({ filter: { tag: "a" } }, { action: "reprocess" }, () => {}, send);
  assert.deepEqual(sent.map((body) => body.after), [undefined, "n1", "n2"]);
});
