import assert from "node:assert/strict";
import { test } from "node:test";
import { contentOf } from "../src/shared-files.js";

test("an address is looked for where apps put it", () => {
  const one = ["https://a.example/one"];
  assert.deepEqual(contentOf({ files: [], url: one[0] }).addresses, one);
  assert.deepEqual(contentOf({ files: [], text: `A title\n${one[0]}` }), { files: [], addresses: one });
  assert.deepEqual(contentOf({ files: [], title: one[0], text: "" }).addresses, one);
});

test("text without an address is a file with its title", async () => {
  const { files, addresses } = contentOf({ files: [], title: "A/B ", text: "High water at noon." });
  assert.deepEqual(addresses, []);
  assert.equal(files[0].name, "A B.txt");
  assert.equal(await files[0].text(), "High water at noon.");
  assert.equal(contentOf({ files: [], text: "x" }).files[0].name, "Shared text.txt");
  assert.deepEqual(contentOf({ files: [], text: " " }), { files: [], addresses: [] });
});

test("files stay with their words", () => {
  const file = new File(["x"], "scan.png");
  assert.deepEqual(contentOf({ files: [file], text: "" }).files, [file]);
});
