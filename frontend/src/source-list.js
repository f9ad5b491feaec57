// The sources below an answer: those it cites, and folded away those it does not.
import { h, icon } from "./dom.js";
import { isCited } from "./execution.js";
import { counted } from "./format.js";

/** Nodes for all of `sources`; `item` makes the `<li>` of one, `noun` is what one is called. */
export function sourceSections(state, sources, { noun, item }) {
  const used = sources.filter((source) => isCited(state, source));
  const unused = sources.filter((source) => !isCited(state, source));
  const sections = [];
  if (used.length) sections.push(h("h3", {}, "Sources"), listOf(used.map(item)));
  if (unused.length) {
    const title = used.length ? `${counted(unused.length, `more ${noun}`)} read, not cited` : `${counted(unused.length, noun)} read, none cited`;
    sections.push(h("details", { class: "disclosure" }, h("summary", {}, icon("chevron-right"), title), listOf(unused.map(item))));
  }
  return sections;
}

export const listOf = (items) => h("ol", { class: "source-list" }, items);

export const rankOf = (source) => h("span", { class: source.used_in_response ? "rank" : "rank rank-unused" }, String(source.rank));
