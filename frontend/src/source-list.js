// The sources below an answer: those it cites by their numbers, and folded away those it does not.
import { allSources } from "./citations.js";
import { placeItem } from "./document-source.js";
import { h, icon } from "./dom.js";
import { COMPLETED, DOCUMENT, PAGE } from "./execution.js";
import { listed } from "./format.js";
import { CLOSEST, NOTHING, outcomeOf, RESULTS } from "./outcome.js";
import { pageItem } from "./web-source.js";
import { t, tPlural } from "./texts.js";

/** So many of the closest passages are shown where nothing answers the question. */
const CLOSEST_SHOWN = 3;
const NAMES = {
  [DOCUMENT]: (v) => tPlural("{count} passage", "{count} passages", v),
  [PAGE]: (v) => tPlural("{count} web result", "{count} web results", v),
};
const MORE = {
  [DOCUMENT]: (v) => tPlural("{count} more passage", "{count} more passages", v),
  [PAGE]: (v) => tPlural("{count} more web result", "{count} more web results", v),
};

/** Nodes for everything an execution has read. */
export function sourceSections(state) {
  const all = allSources(state);
  // Nobody knows what an answer cites before it is written and checked.
  if (state.status !== COMPLETED) return unwritten(state, all);
  const outcome = outcomeOf(state);
  if (outcome === RESULTS) return [h("h3", {}, t("Found")), listOf(all)];
  if (outcome === CLOSEST) return closest(all);
  if (outcome === NOTHING) return all.length ? [folded(t("The closest passages all the same"), all)] : [];
  const [used, unused] = [all.filter(({ number }) => number), all.filter(({ number }) => !number)];
  const cited = used.length ? [h("h3", {}, t("Sources")), listOf(used)] : [];
  return unused.length ? [...cited, folded(t("{what} read, not cited", { what: namesOf(unused, true) }), unused)] : cited;
}

/** Pages of the web are worth a look while an answer is written; passages are not without their document. */
function unwritten({ contexts }, all) {
  if (!all.length) return [];
  return contexts.length ? [folded(t("{what} read", { what: namesOf(all) }), all)] : [h("h3", {}, t("Found")), listOf(all)];
}

function closest(all) {
  const [shown, rest] = [all.slice(0, CLOSEST_SHOWN), all.slice(CLOSEST_SHOWN)];
  const title = h("h3", { class: "closest-title" }, shown.length === 1 ? t("The closest passage, it may not answer this") : t("Closest passages, none may answer this"));
  return [title, listOf(shown, { isOpened: true }), ...(rest.length ? [folded(t("{what} read", { what: namesOf(rest, true) }), rest)] : [])];
}

/** "3 more passages and 2 web results". */
function namesOf(sources, areMore = false) {
  const count = (kind) => sources.filter((each) => each.kind === kind).length;
  const found = [DOCUMENT, PAGE].map((kind) => ({ kind, count: count(kind) })).filter((each) => each.count);
  return listed(found.map(({ kind, count: number }, at) => (areMore && !at ? MORE : NAMES)[kind]({ count: number })));
}

const folded = (title, sources) => h("details", { class: "disclosure" }, h("summary", {}, icon("chevron-right"), title), listOf(sources));

const listOf = (sources, options) => h("ol", { class: "source-list" }, sources.map((each) => (each.kind === PAGE ? pageItem : placeItem)(each, badge(each), options)));

const badge = ({ number }) => (number ? h("span", { class: "rank" }, String(number)) : h("span", { class: "rank rank-unused", "aria-hidden": "true" }, "–"));
