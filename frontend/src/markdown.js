// Answers are Markdown made from other people's documents: HTML in them is text, images are not loaded,
// links leave with no trace of where they were clicked, and what comes out is sanitised once more.
import createDOMPurify from "dompurify";
import MarkdownIt from "markdown-it";

// A marker while the answer streams, and what it becomes at the end (contract §5).
const CITATION = /<source_(\d+)>|<citation id="([^"]*)">\[(\d+)\]<\/citation>/y;

function citations(md) {
  md.inline.ruler.before("autolink", "citation", (state, silent) => {
    CITATION.lastIndex = state.pos;
    const match = CITATION.exec(state.src);
    if (!match || CITATION.lastIndex > state.posMax) return false;
    if (!silent) state.push("citation", "", 0).meta = { rank: match[1] ?? match[3] };
    state.pos = CITATION.lastIndex;
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

function carefulLinks(md) {
  md.renderer.rules.link_open = (tokens, index, options, env, renderer) => {
    tokens[index].attrSet("target", "_blank");
    tokens[index].attrSet("rel", "noopener noreferrer nofollow");
    return renderer.renderToken(tokens, index, options);
  };
}

const markdown = new MarkdownIt({ html: false, linkify: false })
  .disable("image")
  .use(citations)
  .use(alignByClass)
  .use(carefulLinks);

const ALLOWED = {
  ALLOWED_TAGS: [
    "a", "blockquote", "br", "button", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li",
    "ol", "p", "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
  ],
  ALLOWED_ATTR: ["class", "data-rank", "href", "rel", "start", "target", "type"],
  // Only href holds an address; the values of the others are not to be checked as one.
  ADD_URI_SAFE_ATTR: ["data-rank", "rel", "start", "target", "type"],
  ALLOW_DATA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
};

export const toHtml = (text) => markdown.render(text);

export function renderInto(element, text) {
  const fragment = createDOMPurify(window).sanitize(toHtml(text), { ...ALLOWED, RETURN_DOM_FRAGMENT: true });
  element.replaceChildren(fragment);
}

/** The text without citation markup, for reading aloud. */
export const withoutCitations = (text) => text.replace(new RegExp(CITATION.source, "g"), "");
