import assert from "node:assert/strict";
import { test } from "node:test";
import { toHtml, withoutCitations } from "../src/markdown.js";

const CHIP = '<button type="button" class="cite" data-rank="2">2</button>';

test("markers become chips while streaming and after", () => {
  assert.equal(toHtml("Sales grew <source_2>."), `<p>Sales grew ${CHIP}.</p>\n`);
  assert.equal(toHtml('Sales grew <citation id="9b-de">[2]</citation>.'), `<p>Sales grew ${CHIP}.</p>\n`);
});

test("citations work in lists, tables and bold text", () => {
  assert.match(toHtml("- **one <source_2>**"), new RegExp(`<li><strong>one ${CHIP}</strong></li>`));
  assert.match(toHtml("|a|\n|-|\n|x <source_2>|"), new RegExp(`<td>x ${CHIP}</td>`));
});

test("HTML in an answer is text", () => {
  const html = toHtml("<img src=x onerror=alert(1)> <script>alert(1)</script> <citation onclick=x>[1]</citation>");
  assert.doesNotMatch(html, /<(img|script|citation|button)/);
});

test("images are not loaded and links can't run scripts", () => {
  assert.doesNotMatch(toHtml("![pixel](https://evil.example/p.png)"), /<img/);
  assert.doesNotMatch(toHtml("[x](javascript:alert(1))"), /href/);
  assert.match(toHtml("[x](https://example.org)"), /rel="noopener noreferrer nofollow"/);
});

test("table alignment needs no style attribute", () => {
  const html = toHtml("|a|b|\n|:-|-:|\n|1|2|");
  assert.doesNotMatch(html, /style=/);
  assert.match(html, /<td class="align-right">2<\/td>/);
});

test("reading aloud skips the markers", () => {
  assert.equal(withoutCitations('One <source_1> two <citation id="a">[2]</citation>.'), "One  two .");
});
