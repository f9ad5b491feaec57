// How far an execution has come, in a few words for each step.
import { DOCUMENTS, isOver, WEB } from "./execution.js";
import { counted } from "./format.js";

const TOOLS = { [DOCUMENTS]: ofDocuments, [WEB]: ofWeb };

/** What is done, in the order it happens, and last what is being done. */
export function progressSteps(state) {
  const { done, now } = TOOLS[state.tool](state);
  const steps = done.filter(Boolean);
  return isOver(state) ? [...steps, ...closingSteps(state)] : [...steps, now];
}

function ofDocuments({ phases: { RETRIEVAL: retrieval, RERANKING: reranking, COMPILING_RESULTS: compiling } }) {
  const done = [retrieval && `${counted(retrieval.retrieved_count, "chunk")} found`, reranking && `${reranking.kept_count} kept`];
  if (compiling) return { done, now: "writing the answer" };
  if (reranking) return { done, now: "reading" };
  return { done, now: retrieval ? "ranking" : "searching" };
}

const isDone = (phase) => phase?.status === "completed";

/** What was found is known from the result, too, of an execution that nobody watched. */
function ofWeb({ phases, sources, result }) {
  const { WEB_SEARCH: search, SCRAPING_URLS: pages, GENERATION: writing } = phases;
  const found = isDone(search) ? search.results_count : (result?.total_results ?? result?.results?.length);
  const kept = sources.length || result?.reranked_results;
  const done = [
    found === undefined ? null : found ? `${counted(found, "page")} found` : "nothing found",
    isDone(pages) && `${pages.scraped_count} read`,
    found && !result?.results && kept ? `${kept} kept` : null,
  ];
  if (writing) return { done, now: "writing the answer" };
  if (pages && !isDone(pages)) return { done, now: `reading ${counted(pages.url_count, "page")}` };
  return { done, now: isDone(search) ? "ranking" : "searching the web" };
}

function closingSteps({ result }) {
  const cited = result?.sources_used?.length;
  return [cited ? `${cited} cited` : null, result?.model ? `answered by ${result.model}` : null].filter(Boolean);
}
