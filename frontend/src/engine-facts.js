// How an answer came about, behind its ⓘ: in plain words, and then as the engine counts it. Loaded when somebody opens it.
import { allSources } from "./citations.js";
import { h } from "./dom.js";
import { passageCount } from "./format.js";
import { FORMATS } from "./locale.js";
import { timesInWords } from "./stage-words.js";
import { t, tPlural } from "./texts.js";

/** Nodes: sentences for everybody, and a list of details. */
export function engineNodes(state) {
  const facts = engineFacts(state).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))]);
  const story = storyOf(state);
  return [...(story.length ? [h("p", {}, story.join(" "))] : []), h("dl", {}, facts)];
}

/** What was done, step by step: an array of sentences. */
export function storyOf(state) {
  const { phases, result } = state;
  const read = allSources(state).length;
  const reranked = phases.RERANKING?.reranked_count ?? state.trace?.steps?.reranked ?? 0;
  return [
    phases.RETRIEVAL?.retrieved_count ? t("{passages} had words of the question, or a similar meaning.", { passages: passageCount(phases.RETRIEVAL.retrieved_count) }) : null,
    reranked ? tPlural("The best {count} was compared with the question once more.", "The best {count} were compared with the question once more, and put in order.", { count: reranked }) : null,
    read ? tPlural("{count} source was read for the answer.", "{count} sources were read for the answer.", { count: read }) : null,
    result.model === "extractive" ? t("The answer quotes them. No language model has written it.") : null,
    result.model && result.model !== "extractive" ? t("{model} has written the answer. Each citation was checked: its source says what the sentence says.", { model: result.model }) : null,
  ].filter(Boolean);
}

/** What the engine counted: `[[name, value], …]`. */
function engineFacts(state) {
  const { phases, result, trace } = state;
  const { steps = {} } = trace ?? {};
  const cited = allSources(state).filter(({ number }) => number);
  const facts = [
    [t("Found"), phases.RETRIEVAL?.retrieved_count ?? steps.retrieved ?? phases.WEB_SEARCH?.results_count ?? result.total_results],
    [t("Ranked again"), phases.RERANKING?.reranked_count ?? steps.reranked ?? null],
    [t("Read"), allSources(state).length],
    [t("Cited"), result.sources_used?.length ?? null],
    [t("Ranks of the citations"), cited.length ? cited.map(({ number, rank }) => t("{number} is rank {rank}", { number, rank })).join(", ") : null],
    [t("Citations taken out"), result.citations_removed || null],
    [t("Assistant"), result.assistant ? t("{name}, version {number}", { name: result.assistant.name, number: result.assistant.version }) : null],
    [t("Answered by"), result.model ?? null],
    [t("Tokens"), tokensOf(result.usage)],
    [t("Time"), timesInWords(result.timings) || null],
    [t("Execution"), state.id],
  ];
  return facts.filter(([, value]) => value !== null && value !== undefined);
}

const tokensOf = (usage) => (usage?.output_tokens ? t("{tokens} read, {number} written", { tokens: tPlural("{count} token", "{count} tokens", { count: usage.input_tokens }), number: usage.output_tokens.toLocaleString(FORMATS) }) : null);
