// Answers are Markdown made from other people's documents: HTML in them is text, images are not loaded, and the
// only links are citations, which lead to a source; of others the address is shown. What comes out is sanitised
// once more.
import createDOMPurify from "dompurify";
import MarkdownIt from "markdown-it";

// What a marker becomes at the end (contract §5, §6). The titles and addresses of web pages in it would be read as
// Markdown, "|" as the end of a table's cell: only the rank is of use here, who shows the answer knows its source.
const CITATION = /<citation id="[^"]*">\[(\d+)\]<\/citation>|<web_citation url="[^"<>]*" title="[^"<>]*">\[(\d+)\]<\/web_citation>/g;
const MARKER = /<source_(\d+)>/y;

const withMarkers = (text) => text.replace(CITATION, (_, ofChunk, ofPage) => `<source_${ofChunk ?? ofPage}>`);

function citations(md) {
  md.inline.ruler.before("autolink", "citation", (state, silent) => {
    MARKER.lastIndex = state.pos;
    const match = MARKER.exec(state.src);
    if (!match || MARKER.lastIndex > state.posMax) return false;
    if (!silent) state.push("citation", "", 0).meta = { rank: match[1] };
    state.pos = MARKER.lastIndex;
    return true;
  });
  md.renderer.rules.citation = (tokens, index) => {
    const { rank } = tokens[index].meta;
    return `<button type="button" class="cite" data-rank="${rank}">${rank}</button>`;
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
  .use(citations)
  .use(alignByClass)
  .use(addressesAsText);

const ALLOWED = {
  ALLOWED_TAGS: [
    "blockquote", "br", "button", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li",
    "ol", "p", "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
  ],
  ALLOWED_ATTR: ["class", "data-rank", "start", "type"],
  // None of them holds an address, and none is to be checked as one.
  ADD_URI_SAFE_ATTR: ["data-rank", "start", "type"],
  ALLOW_DATA_ATTR: false,
};

export const toHtml = (text) => markdown.render(withMarkers(text));

export function renderInto(element, text) {
  const fragment = createDOMPurify(window).sanitize(toHtml(text), { ...ALLOWED, RETURN_DOM_FRAGMENT: true });
  element.replaceChildren(fragment);
}

/** The text without citation markup, for reading aloud. */
export const withoutCitations = (text) => withMarkers(text).replace(new RegExp(MARKER.source, "g"), "");
