// A chunk's text on the screen, its quote marked, its tables as tables.
import { h } from "./dom.js";
import { blocksOf, locate, pieces, saysAnything } from "./passage.js";
import { t } from "./texts.js";

/** Kinds whose lines must stay as they are. */
const CODE = new Set(["code", "json", "xml"]);

/** Nodes that show `chunk.text`; a quote is wrapped in `mark.place-text`. */
export function passageNodes(chunk, quote, fileType) {
  const { text } = chunk;
  const range = locate(text, quote);
  const isCode = CODE.has(fileType);
  return blocksOf(text).map((block) => {
    if (block.head) return tableNode(text, block, range);
    return h("p", { class: isCode ? "passage-text passage-code" : "passage-text" }, marked(text, block.text, range));
  });
}

function marked(text, place, range) {
  const [before, quoted, after] = pieces(text, place, range);
  return [before, quoted ? h("mark", { class: "place-text" }, quoted) : null, after];
}

function tableNode(text, { head, rows }, range) {
  const cell = (tag, place) => h(tag, tag === "th" ? { scope: "col" } : {}, marked(text, place, range));
  return h(
    "div",
    { class: "passage-table", tabindex: "0", role: "group", "aria-label": t("Table") },
    h(
      "table",
      {},
      saysAnything(head) ? h("thead", {}, h("tr", {}, head.map((place) => cell("th", place)))) : null,
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((place) => cell("td", place))))),
    ),
  );
}
