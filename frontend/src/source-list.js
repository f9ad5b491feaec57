// The sources below an answer: those it cites, and folded away those it does not.
import { h, icon } from "./dom.js";
import { COMPLETED, isCited } from "./execution.js";
import { counted } from "./format.js";

/** Nodes for all of `sources`; `item` makes the `<li>` of one, `noun` is what one is called. */
export function sourceSections(state, sources, { noun, item }) {
  // Nobody knows what an answer cites before it is written and checked.
  if (state.status !== COMPLETED) return sources.length ? [folded(`${counted(sources.length, noun)} read`, sources.map(item))] : [];
  const used = sources.filter((source) => isCited(state, source));
  const unused = sources.filter((source) => !isCited(state, source));
  const sections = [];
  if (used.length) sections.push(h("h3", {}, "Sources"), listOf(used.map(item)));
  if (unused.length) {
    const title = used.length ? `${counted(unused.length, `more ${noun}`)} read, not cited` : `${counted(unused.length, noun)} read, none cited`;
    sections.push(folded(title, unused.map(item)));
  }
  return sections;
}

const folded = (title, items) => h("details", { class: "disclosure" }, h("summary", {}, icon("chevron-right"), title), listOf(items));

/** A note for readers who saw a citation come and go; none where all citations held. */
export function removedNote({ citations_removed: removed } = {}) {
  if (!removed) return null;
  const words = removed === 1 ? "1 citation was taken out: its source does not say that." : `${counted(removed, "citation")} were taken out: their sources do not say that.`;
  return h("p", { class: "notice" }, words);
}

export const listOf = (items) => h("ol", { class: "source-list" }, items);

export const rankOf = (source) => h("span", { class: source.used_in_response ? "rank" : "rank rank-unused" }, String(source.rank));
