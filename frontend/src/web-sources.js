// How an answer from the web shows its citations and sources: each leads to its page, in a tab of its own.
import { h, icon } from "./dom.js";
import { COMPLETED, sourceOf } from "./execution.js";
import { listOf, rankOf, removedNote, sourceSections } from "./source-list.js";
import { excerptOf, hostOf, ignoredWords, linkOf, searchedWith } from "./web-answer.js";

const isAnswered = (state) => state.status === COMPLETED && !state.result.results;
const NEW_TAB = " (opens in a new tab)";

export const webSources = () => ({
  listed: (state) => (state.sources.length ? state.sources : (state.phases.WEB_SEARCH?.sources ?? [])),
  nodes(state) {
    const found = this.listed(state);
    if (!isAnswered(state)) return found.length ? [h("h3", {}, "Found"), listOf(found.map(sourceItem))] : [];
    return sourceSections(state, state.sources, { noun: "page", item: sourceItem });
  },
  notes: (state) => (state.status === COMPLETED ? notesOf(state.result) : []),
  dress: (chip, state) => chip.replaceWith(citation(chip, sourceOf(state, Number(chip.dataset.rank)))),
  open() {},
});

/** The one way out of an answer: to a page that was searched, wherever the text would like to lead. */
function outside(url, attributes, ...children) {
  const href = linkOf(url);
  if (!href) return h("span", attributes, ...children);
  return h("a", { ...attributes, href, target: "_blank", rel: "noopener noreferrer nofollow" }, ...children);
}

function citation(chip, source) {
  const { rank } = chip.dataset;
  const words = source ? `Source ${rank}, ${source.title}, ${hostOf(source.url)}` : `Source ${rank}`;
  const about = source ? { title: `${source.title} – ${hostOf(source.url)}` } : {};
  return outside(source?.url, { class: "cite", "data-rank": rank, ...about }, h("span", { "aria-hidden": "true" }, rank), hidden(words + (source ? NEW_TAB : "")));
}

const hidden = (words) => h("span", { class: "visually-hidden" }, words);

function sourceItem(source) {
  const [before, quoted, after] = excerptOf(source);
  const name = outside(source.url, { class: "source-name" }, source.title, hidden(NEW_TAB));
  const title = h("span", { class: "source-title" }, name, h("span", { class: "source-place" }, hostOf(source.url), icon("external-link")));
  const excerpt = h("span", { class: "source-preview" }, before, quoted ? h("mark", { class: "marked" }, quoted) : null, after);
  return h("li", { class: "source source-web" }, rankOf(source), h("span", { class: "source-body" }, title, excerpt));
}

function notesOf(result) {
  const ignored = ignoredWords(result.ignored_filters);
  return [
    removedNote(result),
    ignored ? h("p", { class: "notice" }, ignored) : null,
    h("p", { class: "searched-with" }, icon("globe"), searchedWith(result)),
  ].filter(Boolean);
}
