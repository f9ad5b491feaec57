import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutCitations } from "../src/citations.js";
import { nodesOf, renderInto, toPlain } from "../src/markdown.js";
import { writtenDocument } from "./written-document.js";

globalThis.document = writtenDocument;
const toHtml = (text) => nodesOf(text).innerHTML;

const chip = (letter) => `<button type="button" class="cite" data-letter="${letter}" data-rank="2"></button>`;
const CHIP = chip("");

test("markers become chips while streaming and after", () => {
  assert.equal(toHtml("Sales grew <source_2>."), `<p>Sales grew ${CHIP}.</p>`);
  assert.equal(toHtml('Sales grew <citation id="9b-de">[2]</citation>.'), `<p>Sales grew ${chip("d")}.</p>`);
});

test("citations work in lists, tables and bold text", () => {
  assert.match(toHtml("- **one <source_2>**"), new RegExp(`<li><strong>one ${CHIP}</strong></li>`));
  assert.match(toHtml("|a|\n|-|\n|x <source_2>|"), new RegExp(`<td>x ${CHIP}</td>`));
});

test("a page of the web becomes the same chip, without its address", () => {
  const cited = '<web_citation url="https://a.example/?x=1&amp;y=2" title="Sales | A &amp; B `s`, [1](//evil.example) *news*">[2]</web_citation>';
  assert.equal(toHtml(`Sales grew ${cited}.`), `<p>Sales grew ${chip("w")}.</p>`);
  assert.match(toHtml(`|a|b|\n|-|-|\n|x ${cited}|y|`), new RegExp(`<td>x ${chip("w")}</td>\\s*<td>y</td>`));
  assert.equal(withoutCitations(`One ${cited} two`), "One  two");
});

test("what only looks like a citation of a page is text", () => {
  for (const cited of ['<web_citation url="https://a.example/" title="x" onclick="y">[1]</web_citation>', '<web_citation url="javascript:x">[1]</web_citation>']) {
    assert.doesNotMatch(toHtml(cited), /<(web_citation|button|a)/);
  }
});

test("blocks that stay the same are not replaced while an answer grows", () => {
  const element = document.createElement("div");
  const texts = ["One <source_1>.\n\nTw", "One <source_1>.\n\nTwo <source_2>.", "One <source_1>.\n\nTwo <source_2>.\n\n- three", "Another."];
  const firsts = texts.map((text) => {
    renderInto(element, text);
    assert.equal(element.innerHTML, toHtml(text));
    return element.childNodes[0];
  });
  assert.equal(new Set(firsts.slice(0, 3)).size, 1);
  assert.notEqual(firsts[3], firsts[0]);
});

test("the first items of a list stay while it goes on", () => {
  const element = document.createElement("div");
  const texts = ["- One <source_1>", "- One <source_1>\n- Two", "- One <source_1>\n- Two <source_2>\n\nEnd", "- Other", "3. Other"];
  const items = texts.map((text) => {
    renderInto(element, text);
    assert.equal(element.innerHTML, toHtml(text));
    return [element.childNodes[0], element.childNodes[0].childNodes[0]];
  });
  const [lists, firsts] = [0, 1].map((at) => items.map((pair) => pair[at]));
  assert.equal(new Set(firsts.slice(0, 3)).size, 1);
  assert.notEqual(firsts[3], firsts[0]);
  assert.equal(new Set(lists).size, 2);
});

test("HTML in an answer is text", () => {
  const html = toHtml("<img src=x onerror=alert(1)> <script>alert(1)</script> <citation onclick=x>[1]</citation>");
  assert.doesNotMatch(html, /<(img|script|citation|button)/);
});

test("names of characters are read, and what is none stays", () => {
  assert.equal(toHtml("M&uuml;ller &#38; S&ouml;hne &notaname; `&amp;`"), "<p>Müller &amp; Söhne &amp;notaname; <code>&amp;amp;</code></p>");
});

test("lists keep their numbers, and narrow ones have no paragraphs", () => {
  assert.equal(toHtml("3. a\n4. b\n   - c"), '<ol start="3"><li>a</li><li>b<ul><li>c</li></ul></li></ol>');
  assert.equal(toHtml("- a\n\n- b"), "<ul><li><p>a</p></li><li><p>b</p></li></ul>");
});

test("code, breaks and rules", () => {
  assert.equal(toHtml("```js\na < b\n```\n\n    c\n\n---\n\nd  \ne\nf"), "<pre><code>a &lt; b\n</code></pre><pre><code>c\n</code></pre><hr><p>d<br>e\nf</p>");
  assert.equal(toHtml("## *a* ~~b~~\n\n> c"), "<h2><em>a</em> <s>b</s></h2><blockquote><p>c</p></blockquote>");
});

test("images are not loaded", () => {
  const html = toHtml("![pixel](https://evil.example/p.png?q=secret) ![p][r]\n\n[r]: https://evil.example/r.png");
  assert.doesNotMatch(html, /<img|src=/);
  assert.equal(html, "<p>pixel (https://evil.example/p.png?q=secret) p (https://evil.example/r.png)</p>");
});

test("links are text that tells where they would lead", () => {
  assert.equal(toHtml("[our **site**](https://evil.example/?a=1&b=2)"), "<p>our <strong>site</strong> (https://evil.example/?a=1&amp;b=2)</p>");
  assert.equal(toHtml("<https://evil.example>"), "<p>https://evil.example</p>");
  assert.equal(toHtml("[a](https://one.example) [b](//two.example)"), "<p>a (https://one.example) b (//two.example)</p>");
  for (const address of ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "//evil.example", "/api/v1/me", "mailto:a@evil.example"]) {
    assert.doesNotMatch(toHtml(`[x](${address})\n\n<${address}>\n\n[x][r]\n\n[r]: ${address}`), /<a|href/);
  }
});

test("table alignment needs no style attribute", () => {
  const html = toHtml("|a|b|\n|:-|-:|\n|1|2|");
  assert.doesNotMatch(html, /style=/);
  assert.match(html, /<td class="align-right">2<\/td>/);
});

test("reading aloud skips the markers", () => {
  assert.equal(withoutCitations('One <source_1> two <citation id="a">[2]</citation>.'), "One  two .");
});

test("plain text has no Markdown", () => {
  const cite = ({ rank }) => `[${rank}]`;
  assert.equal(toPlain("# Title\n\n**One** thing <source_1>.\n\n- a\n- `b`\n\n2. c\n3. d", cite), "Title\n\nOne thing [1].\n\n- a\n- b\n\n2. c\n3. d");
  assert.equal(toPlain("|a|b|\n|-|-|\n|1|2|", cite), "a\tb\n1\t2");
  assert.equal(toPlain("```\ncode  x\n```\n\nand [text](https://a.example)", cite), "code  x\n\nand text");
});

test("formulas are told from prices", () => {
  assert.equal(toHtml("So $x^2$ and \\(\\alpha\\)."), '<p>So <code class="maths">x^2</code> and <code class="maths">\\alpha</code>.</p>');
  for (const text of ["from $5 to $6", "$5, or $10", "US$ 5 = A$ 7", "$1 <source_1> and $2 <source_2>"]) assert.doesNotMatch(toHtml(text), /maths/, text);
});

test("a formula may have lines of its own", () => {
  const html = '<pre class="maths-block"><code class="maths is-block">a = b</code></pre>';
  assert.equal(toHtml("$$\na = b\n$$"), html);
  assert.equal(toHtml("\\[ a = b \\]"), html);
  assert.match(toHtml("Text:\n$$a = b$$\nmore"), /<p>Text:<\/p><pre class="maths-block">/);
  // A note in brackets, as documents have it, is none; nor is one that sets inline styles.
  assert.doesNotMatch(toHtml("\\[1\\]"), /maths/);
  assert.doesNotMatch(toHtml("$\\pmb{x}$"), /maths/);
});

test("many signs of formulas take no time", () => {
  const start = performance.now();
  toHtml("$a ".repeat(20_000));
  toHtml("\\( ".repeat(20_000));
  assert.ok(performance.now() - start < 5000);
});
