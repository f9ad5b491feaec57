// Names of the stages of a search and of an answer, for those who want to know where the time went.
import { secondsInWords } from "./format.js";
import { t } from "./texts.js";

const NAMES = {
  follow_up: t("understanding the question"),
  prepare: t("preparation"),
  scope: t("permitted documents"),
  embedding: t("meaning of the question"),
  words: t("search by words"),
  vector: t("search by meaning"),
  fuse: t("merging"),
  passages: t("loading passages"),
  rerank: t("second reading"),
  reranking: t("second reading"),
  read: t("reading"),
  retrieval: t("search"),
  search: t("web search"),
  pages: t("reading pages"),
  gathering: t("gathering"),
  generation: t("writing"),
  verification: t("checking citations"),
  total: t("in all"),
};

/** "search by words" for "words"; a stage that has no name here keeps its own. */
export const stageName = (stage) => NAMES[stage] ?? stage;

/** "search 1.20 s, writing 0.31 s, in all 1.51 s", without the parts of a stage. */
export function timesInWords(timings) {
  const stages = Object.entries(timings ?? {}).filter(([stage]) => !stage.includes(".") && stage !== "total");
  const all = timings?.total === undefined ? stages : [...stages, ["total", timings.total]];
  return all.map(([stage, secs]) => `${stageName(stage)} ${secondsInWords(secs)}`).join(", ");
}
