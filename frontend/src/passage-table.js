// A table within a passage, which scrolls by itself.
import { h } from "./dom.js";
import { saysAnything } from "./passage.js";
import { t } from "./texts.js";

/** `head` and `rows` are places of cells, `[start, end]`; `words(place)` returns what stands there: strings and nodes. */
export function tableNode({ head, rows }, words) {
  const row = (tag, places) => h("tr", {}, places.map((place) => cellNode(tag, words(place))));
  return h(
    "div",
    { class: "passage-table", tabindex: "0", role: "group", "aria-label": t("Table") },
    h("table", {}, saysAnything(head) ? h("thead", {}, row("th", head)) : null, h("tbody", {}, rows.map((places) => row("td", places)))),
  );
}

/** Tables often have nothing above their first column: a header without words helps nobody. */
const cellNode = (tag, content) => h(content.length ? tag : "td", {}, content);
