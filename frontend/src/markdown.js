// Answers are Markdown made from other people's documents: HTML in them is text, images are not loaded, and the
// only links are citations, which lead to a source; of others the address is shown. No HTML is made on the way: each
// token becomes an element of the list below, and its words become text.
import MarkdownIt from "markdown-it";
import { MARKER, withMarkers } from "./citations.js";
import { formulas, renderFormulas } from "./maths.js";

const ELEMENTS = new Set([
  "blockquote", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "strong", "table",
  "tbody", "td", "th", "thead", "tr", "ul",
]);

function citations(md) {
  md.inline.ruler.before("autolink", "citation", (state, silent) => {
    MARKER.lastIndex = state.pos;
    const match = MARKER.exec(state.src);
    if (!match || MARKER.lastIndex > state.posMax) return false;
    if (!silent) state.push("citation", "", 0).meta = { letter: match[1], rank: match[2] };
    state.pos = MARKER.lastIndex;
    return true;
  });
}

const markdown = new MarkdownIt({ html: false, linkify: false }).use(formulas).use(citations);
// Addresses are there to be read, so they stay as they are written.
markdown.normalizeLink = (address) => address;
markdown.normalizeLinkText = (address) => address;

/** A finished answer says of each citation of what kind its source is; while it streams that is not known. */
const LETTER = / data-letter="\w*"/g;

/** Of each element and list, the HTML of what it shows, as it was before anybody dressed the citations. */
const shown = new WeakMap();

/**
 * Show an answer's text; its citations are empty buttons, which whoever knows the sources dresses.
 * The first blocks and items stay as long as they are the same: a click on a citation is lost if its button is replaced.
 */
export function renderInto(element, text) {
  showIn(element, [...nodesOf(text).childNodes]);
  renderFormulas(element);
}

function showIn(container, nodes) {
  const before = shown.get(container) ?? [];
  const now = nodes.map(plainHtml);
  let kept = 0;
  for (; now[kept] && now[kept] === before[kept]; kept += 1) copyLetters(nodes[kept], container.childNodes[kept]);
  if (listTag(nodes[kept]) && listTag(nodes[kept]) === listTag(container.childNodes[kept])) {
    showIn(container.childNodes[kept], [...nodes[kept].childNodes]);
    kept += 1;
  }
  while (container.childNodes[kept]) container.lastChild.remove();
  for (const list of nodes.slice(kept).filter(listTag)) shown.set(list, [...list.childNodes].map(plainHtml));
  container.append(...nodes.slice(kept));
  shown.set(container, now);
}

const plainHtml = (node) => node.outerHTML.replaceAll(LETTER, "");

/** How a list begins; undefined for what is none. */
const listTag = (node) => /^<[uo]l\b[^>]*>/.exec(node?.outerHTML ?? "")?.[0];

function copyLetters(from, to) {
  const chips = to.querySelectorAll(".cite");
  from.querySelectorAll(".cite").forEach((chip, at) => (chips[at].dataset.letter = chip.dataset.letter));
}

/** The elements of a text, in a fragment. */
export function nodesOf(text) {
  const nodes = new Nodes();
  nodes.addAll(markdown.parse(withMarkers(text), {}));
  return nodes.root;
}

/** Makes elements of tokens. */
class Nodes {
  root = document.createDocumentFragment();
  #open = [this.root];
  #links = [];

  addAll(tokens) {
    for (const token of tokens) this.#add(token);
  }

  #add(token) {
    if (token.type === "inline") this.addAll(token.children);
    else if (token.type in LEAVES) this.#append(LEAVES[token.type](token));
    // An address leads nowhere and loads nothing, but can be read: "text (https://…)". Links don't nest.
    else if (token.type === "link_open") this.#links.push(token.markup === "autolink" ? "" : address(token.attrGet("href")));
    else if (token.type === "link_close") this.#append(this.#links.pop());
    else if (token.nesting === 1) this.#begin(token);
    else if (token.nesting === -1) this.#open.pop();
    else this.#append(token.content);
  }

  #append(...nodes) {
    this.#open.at(-1).append(...nodes);
  }

  /** What is in the paragraph of a narrow list, or in an element nobody knows, is put into what is around it. */
  #begin(token) {
    const element = token.hidden || !ELEMENTS.has(token.tag) ? this.#open.at(-1) : elementOf(token);
    if (element !== this.#open.at(-1)) this.#append(element);
    this.#open.push(element);
  }
}

const LEAVES = {
  text: ({ content }) => content,
  softbreak: () => "\n",
  hardbreak: () => make("br"),
  hr: () => make("hr"),
  code_inline: ({ content }) => make("code", {}, content),
  code_block: ({ content }) => make("pre", {}, make("code", {}, content)),
  fence: ({ content }) => make("pre", {}, make("code", {}, content)),
  image: (token) => token.content + address(token.attrGet("src")),
  citation: ({ meta: { letter, rank } }) => make("button", { type: "button", class: "cite", "data-letter": letter, "data-rank": rank }),
  formula: ({ content, meta }) => make("code", { class: meta.isBlock ? "maths is-block" : "maths" }, content),
  formula_block: ({ content }) => make("pre", { class: "maths-block" }, make("code", { class: "maths is-block" }, content)),
};

const address = (url) => ` (${url})`;

/** Table alignment comes as style attributes, which the content security policy refuses. */
function elementOf(token) {
  const align = /text-align:(\w+)/.exec(token.attrGet("style") ?? "");
  const start = token.tag === "ol" ? token.attrGet("start") : null;
  return make(token.tag, { ...(align ? { class: `align-${align[1]}` } : {}), ...(start === null ? {} : { start }) });
}

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** The text as one reads it, without Markdown; `cite({letter, rank})` returns what stands for a citation. */
export function toPlain(text, cite) {
  const lines = new PlainText(cite);
  for (const token of markdown.parse(withMarkers(text), {})) lines.add(token);
  return lines.text;
}

/** Collects the blocks of a Markdown text as plain text. */
class PlainText {
  #cite;
  #written = "";
  #lists = [];
  #cells = 0;

  constructor(cite) {
    this.#cite = cite;
  }

  get text() {
    return this.#written.replace(/\n{3,}/g, "\n\n").trim();
  }

  add(token) {
    if (token.type === "inline") this.#written += token.children.map((child) => this.#inline(child)).join("");
    else if (token.type === "fence" || token.type === "code_block" || token.type === "formula_block") this.#written += `${token.content.trimEnd()}\n\n`;
    else this.#structure(token);
  }

  #inline({ type, content, meta }) {
    if (type === "citation") return this.#cite(meta);
    return type === "softbreak" || type === "hardbreak" ? "\n" : content;
  }

  #structure({ type, attrs }) {
    const start = Number(attrs?.find(([name]) => name === "start")?.[1] ?? 1);
    if (type === "bullet_list_open") this.#lists.push(null);
    else if (type === "ordered_list_open") this.#lists.push(start);
    else if (type === "list_item_open") this.#item();
    else if (type === "tr_open") this.#cells = 0;
    else if (type === "th_open" || type === "td_open") this.#written += this.#cells++ ? "\t" : "";
    else if (type === "tr_close" || type === "list_item_close") this.#written = `${this.#written.trimEnd()}\n`;
    else if (type.endsWith("_list_close")) this.#closeList();
    else if (type === "paragraph_close" || type === "heading_close" || type === "table_close") this.#written += "\n\n";
  }

  #item() {
    const number = this.#lists.at(-1);
    this.#written += `${"  ".repeat(this.#lists.length - 1)}${number === null ? "-" : `${number}.`} `;
    if (number !== null) this.#lists[this.#lists.length - 1] += 1;
  }

  #closeList() {
    this.#lists.pop();
    this.#written += "\n";
  }
}
