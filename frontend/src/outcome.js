// How an answer came out, and the plain words under its question. Pure.
import { allSources } from "./citations.js";
import { COMPLETED, isOver, DOCUMENT, PAGE } from "./execution.js";
import { documentCount, listed, passageCount } from "./format.js";
import { t, tPlural } from "./texts.js";

export const ANSWERED = "answered";
export const CLOSEST = "closest";
export const NOTHING = "nothing";
export const WITHHELD = "withheld";
export const RESULTS = "results";

/** What an answer turned out to be; null while it is written, and if it was stopped or failed. */
export function outcomeOf(state) {
  if (state.status !== COMPLETED) return null;
  const { result } = state;
  if (result.unavailable) return WITHHELD;
  if (result.results) return result.results.length ? RESULTS : NOTHING;
  if (result.outcome) return result.outcome;
  // Answers stored before 2026-11-23 don't say it.
  if (result.sources_used?.length) return ANSWERED;
  return allSources(state).length ? CLOSEST : NOTHING;
}

/** "Read 5 passages in 3 documents and 2 web results"; "" before anything was read. */
export function readingWords(state) {
  const read = allSources(state);
  const places = read.filter(({ kind }) => kind === DOCUMENT).map(({ source }) => source);
  const pages = read.filter(({ kind }) => kind === PAGE).length;
  const documents = new Set(places.map((context) => context.document_id)).size;
  const words = [
    places.length ? t("{passages} in {documents}", { passages: passageCount(places.length), documents: documentCount(documents) }) : null,
    pages ? tPlural("{count} web result", "{count} web results", { count: pages }) : null,
  ].filter(Boolean);
  if (!words.length) return "";
  const what = listed(words);
  if (state.result?.results) return t("Found {what}", { what });
  return isOver(state) ? t("Read {what}", { what }) : t("Reading {what}", { what });
}

/** Who wrote: "Quoted, no model" where the answer is made of sentences of its sources. */
export function answererWords(model) {
  if (!model) return "";
  return model === "extractive" ? t("Quoted, no model") : t("Written by {model}", { model });
}
