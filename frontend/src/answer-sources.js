// How an answer shows what it cites: numbered chips in its text, the list below it, and notes on both.
import { numberer, referenceOf } from "./citations.js";
import { dressPlace } from "./document-source.js";
import { h, icon } from "./dom.js";
import { COMPLETED, quoteOf, PAGE, WEB } from "./execution.js";
import { outcomeOf, WITHHELD } from "./outcome.js";
import { sourceSections } from "./source-list.js";
import { failureWords, ignoredWords, searchedWith } from "./web-answer.js";
import { dressPage } from "./web-source.js";
import { t, tPlural } from "./texts.js";

/** What a chip or an entry of the list stands for: `{kind, rank, source, quote}`. */
export function citedBy(state, element) {
  const reference = referenceOf(state, element.dataset.letter, Number(element.dataset.rank));
  const quote = reference.kind === PAGE ? null : quoteOf(reference.source, occurrence(element));
  return { ...reference, quote };
}

/** Which citation of its source a chip is, from 0: each has a quote of its own. */
function occurrence(element) {
  const { letter, rank } = element.dataset;
  const same = element.closest(".answer")?.querySelectorAll(`.cite[data-letter="${letter}"][data-rank="${rank}"]`);
  return Math.max(0, [...(same ?? [])].indexOf(element));
}

/** Number and name all chips of a text. */
export function dressChips(text, state) {
  const numberOf = numberer(state);
  for (const chip of text.querySelectorAll(".cite")) {
    const { quote, ...reference } = citedBy(state, chip);
    const number = numberOf(reference) ?? reference.rank;
    if (reference.kind === PAGE) dressPage(chip, number, reference.source);
    else dressPlace(chip, number, reference.source, quote);
  }
}

export { sourceSections };

/** Whether the list of sources has to be drawn anew. */
export const listedSources = (state) => (state.sources.length ? [state.contexts, state.sources] : [state.contexts, state.phases.WEB_SEARCH?.sources]);

/** What must be said about the sources of a finished answer. */
export function sourceNotes(state) {
  if (state.status !== COMPLETED) return [];
  return [...failureNotes(state), withheldNote(state), removedNote(state.result), ...webNotes(state.result)].filter(Boolean);
}

/** One of two tools has failed, and the other has answered. */
const failureNotes = ({ failures }) => failures.map((failure) => h("p", { class: "notice" }, failure.tool === WEB ? t("The web could not be searched: {reason}", { reason: failureWords(failure) }) : t("Your documents could not be searched: {reason}", { reason: failureWords(failure) })));

function withheldNote(state) {
  const words = t("This answer can no longer be shown: you can’t see a document that it was made from.");
  return outcomeOf(state) === WITHHELD ? h("p", { class: "notice" }, words) : null;
}

/** For readers who saw a citation come and go. */
function removedNote({ citations_removed: removed }) {
  if (!removed) return null;
  const words = tPlural("{count} citation was taken out: its source does not say that.", "{count} citations were taken out: their sources do not say that.", { count: removed });
  return h("p", { class: "notice" }, words);
}

/** How the search engines did; the result of a conversation has it under `web`. */
function webNotes(result) {
  const searched = result.web ?? result;
  if (!searched.providers) return [];
  const ignored = ignoredWords(searched.ignored_filters ?? []);
  return [
    ignored ? h("p", { class: "notice" }, ignored) : null,
    h("p", { class: "searched-with" }, icon("globe"), searchedWith(searched)),
  ];
}
