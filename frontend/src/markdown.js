// Answers are Markdown made from other people's documents: HTML in them is text, images are not loaded, and the
// only links are citations, which lead to a source; of others the address is shown. What comes out is sanitised
// once more.
import createDOMPurify from "dompurify";
import MarkdownIt from "markdown-it";
import { MARKER, withMarkers } from "./citations.js";
import { formulas, renderFormulas } from "./maths.js";

function citations(md) {
  md.inline.ruler.before("autolink", "citation", (state, silent) => {
    MARKER.lastIndex = state.pos;
    const match = MARKER.exec(state.src);
    if (!match || MARKER.lastIndex > state.posMax) return false;
    if (!silent) state.push("citation", "", 0).meta = { letter: match[1], rank: match[2] };
    state.pos = MARKER.lastIndex;
    return true;
  });
  md.renderer.rules.citation = (tokens, index) => {
    const { letter, rank } = tokens[index].meta;
    return `<button type="button" class="cite" data-letter="${letter}" data-rank="${rank}"></button>`;
  };
}

/** Table alignment comes as style attributes, which the content security policy refuses. */
function alignByClass(md) {
  md.core.ruler.push("align_by_class", (state) => {
    for (const token of state.tokens) {
      const align = /text-align:(\w+)/.exec(token.attrGet("style") ?? "");
      if (align) token.attrs = [["class", `align-${align[1]}`]];
    }
  });
}

/** An address that a document or a model wrote leads nowhere and loads nothing, but can be read: "text (https://…)". */
function addressesAsText(md) {
  md.renderer.rules.link_open = () => "";
  md.renderer.rules.link_close = (tokens, index) => {
    const open = openingOf(tokens, index);
    return open.markup === "autolink" ? "" : address(open.attrGet("href"));
  };
  md.renderer.rules.image = (tokens, index) => md.utils.escapeHtml(tokens[index].content) + address(tokens[index].attrGet("src"));
  const address = (url) => ` (${md.utils.escapeHtml(url)})`;
}

/** Links don't nest, so the last one opened before is the one that closes. */
const openingOf = (tokens, index) => tokens.slice(0, index).findLast(({ type }) => type === "link_open");

const markdown = new MarkdownIt({ html: false, linkify: false })
  .use(formulas)
  .use(citations)
  .use(alignByClass)
  .use(addressesAsText);

const ALLOWED = {
  ALLOWED_TAGS: [
    "blockquote", "br", "button", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li",
    "ol", "p", "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
  ],
  ALLOWED_ATTR: ["class", "data-letter", "data-rank", "start", "type"],
  // None of them holds an address, and none is to be checked as one.
  ADD_URI_SAFE_ATTR: ["data-letter", "data-rank", "start", "type"],
  ALLOW_DATA_ATTR: false,
};

export const toHtml = (text) => markdown.render(withMarkers(text));

/** Show an answer's text; its citations are empty buttons, which whoever knows the sources dresses. */
export function renderInto(element, text) {
  const fragment = createDOMPurify(window).sanitize(toHtml(text), { ...ALLOWED, RETURN_DOM_FRAGMENT: true });
  element.replaceChildren(fragment);
  renderFormulas(element);
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
