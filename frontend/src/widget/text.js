// An answer's Markdown as elements: paragraphs, lists, code, emphasis and citations. Everything else stays text.
import { h } from "./elements.js";

const CITATION = /<(web_)?citation ([^<>]*)>\\?\[(\d+)\\?\]<\/(?:web_)?citation>|<source_(\d+)>/;
const ATTRIBUTE = /(\w+)="([^"]*)"/g;
const INLINE = /(\*\*[^*]+\*\*|`[^`]+`)/;

/** `cite({rank, chunk, url, title})` returns the element of a citation; null while the answer is being written. */
export function rendered(markdown, cite) {
  const blocks = [];
  let list = null;
  for (const line of markdown.split("\n")) {
    const [, bullet, item] = /^\s*([-*]|\d+[.)])\s+(.*)$/.exec(line) ?? [];
    if (bullet) {
      const tag = /\d/.test(bullet) ? "ol" : "ul";
      if (list?.localName !== tag) blocks.push((list = h(tag)));
      list.append(h("li", {}, inline(item, cite)));
      continue;
    }
    list = null;
    const words = line.replace(/^#{1,6}\s+(.*)$/, "**$1**").trim();
    if (words) blocks.push(h("p", {}, inline(words, cite)));
  }
  return blocks;
}

function inline(text, cite) {
  const found = CITATION.exec(text);
  if (!found) return plain(text);
  const [whole, isWeb, attributes, rank, raw] = found;
  const rest = text.slice(found.index + whole.length);
  return [...plain(text.slice(0, found.index)), citation(isWeb, attributes ?? "", Number(rank ?? raw), cite), ...inline(rest, cite)];
}

function citation(isWeb, attributes, rank, cite) {
  const given = Object.fromEntries([...attributes.matchAll(ATTRIBUTE)].map(([, name, value]) => [name, decoded(value)]));
  const made = cite && (isWeb || given.id) ? cite({ rank, chunk: given.id, url: isWeb && given.url, title: given.title }) : null;
  return made ?? h("span", { class: "cite" }, String(rank));
}

const plain = (text) =>
  text.split(INLINE).map((part) => {
    if (part.startsWith("**") && part.length > 4) return h("strong", {}, unescaped(part.slice(2, -2)));
    if (part.startsWith("`") && part.length > 2) return h("code", {}, part.slice(1, -1));
    return unescaped(part);
  });

/** What looks like markup in a document is escaped in answers. */
const unescaped = (text) => decoded(text.replace(/\\([!-/:-@[-`{-~])/g, "$1"));

const CHARACTERS = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'", "&#39;": "'", "&amp;": "&" };
const decoded = (text) => text.replace(/&(?:lt|gt|quot|#x27|#39|amp);/g, (name) => CHARACTERS[name]);
