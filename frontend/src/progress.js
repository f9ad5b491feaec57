// How far an execution has come, in a few plain words.
import { isOver } from "./execution.js";
import { answererWords, readingWords } from "./outcome.js";
import { t, tPlural } from "./texts.js";

/** What is done, and last what is being done. */
export function progressSteps(state) {
  const reading = readingWords(state);
  if (isOver(state)) return [reading, answererWords(state.result?.model)].filter(Boolean);
  const { RETRIEVAL: retrieval, COMPILING_RESULTS: compiling, GENERATION: generation } = state.phases;
  if (compiling || generation) return [reading, t("Writing the answer")].filter(Boolean);
  if (reading) return [reading];
  return [retrieval ? tPlural("Choosing from {count} passage", "Choosing from {count} passages", { count: retrieval.retrieved_count }) : webStep(state.phases) ?? t("Searching")];
}

function webStep({ WEB_SEARCH: search, SCRAPING_URLS: pages }) {
  if (pages && pages.status !== "completed") return tPlural("Reading {count} page", "Reading {count} pages", { count: pages.url_count });
  if (search?.status === "completed") return search.results_count ? tPlural("Choosing from {count} page", "Choosing from {count} pages", { count: search.results_count }) : t("Nothing found");
  return search ? t("Searching the web") : null;
}
