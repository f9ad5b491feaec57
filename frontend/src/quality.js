// The quality report as something to look at: what became of each page or part, and the sentences that say so.
import { clock, listed, percent } from "./format.js";
import { t, tPlural } from "./texts.js";
import { unitCount } from "./units.js";

/** Below this, a recognised page likely has wrong words in every line. */
export const POOR = 0.7;

const WHAT = {
  text: (n, unit) => t("{count} with text", { count: unitCount(n, unit) }),
  ocr: (n, unit, confidence) => t("{count} recognised", { count: unitCount(n, unit) }) + confidence,
  speech: (n, unit, confidence) => t("{count} with speech", { count: unitCount(n, unit) }) + confidence,
  blank: (n, unit) => t("{count} without text", { count: unitCount(n, unit) }),
  unreadable: (n, unit) => t("{count} unreadable", { count: unitCount(n, unit) }),
};
export const SOURCES = Object.keys(WHAT);

/** Each unit in order, as `{number, source, confidence}`; `null` before there is a report. */
export function unitsOf({ units: counts, unreadable, without_text: blank, recognised, seconds }) {
  if (!counts) return null;
  const known = new Map();
  const heard = seconds ? "speech" : "ocr";
  for (const { number, confidence } of recognised) known.set(number, { source: heard, confidence });
  for (const number of blank) known.set(number, { source: "blank" });
  for (const number of unreadable) known.set(number, { source: "unreadable" });
  const plain = { source: counts.speech && !counts.text ? "speech" : "text" };
  return Array.from({ length: counts.total }, (_, index) => ({ number: index + 1, confidence: null, ...(known.get(index + 1) ?? plain) }));
}

/** The sources that occur, each with its count and words: `[{source, count, words}]`. */
export function legendOf(report) {
  const found = unitsOf(report) ?? [];
  return SOURCES.map((source) => {
    const own = found.filter((unit) => unit.source === source);
    const sure = own.map(({ confidence }) => confidence).filter((confidence) => confidence !== null);
    const mean = sure.length ? `, ${t("{percent} sure", { percent: percent(sure.reduce((sum, one) => sum + one, 0) / sure.length) })}` : "";
    return { source, count: own.length, words: own.length ? WHAT[source](own.length, report.unit, mean) : "" };
  }).filter(({ count }) => count);
}

/** One sentence for those who can't see the picture. */
export function summaryOf(report) {
  const total = report.units?.total ?? 0;
  const words = legendOf(report).map((one) => one.words);
  return total ? t("Of {count}: {listed}.", { count: unitCount(total, report.unit), listed: listed(words) }) : "";
}

/** Neighbours of one kind in one run, for more units than can be drawn one by one: `[{source, poor, first, last}]`. */
export function runsOf(found) {
  const runs = [];
  for (const { number, source, confidence } of found) {
    const poor = confidence !== null && confidence < POOR;
    const last = runs.at(-1);
    if (last && last.source === source && last.poor === poor) last.last = number;
    else runs.push({ source, poor, first: number, last: number });
  }
  return runs;
}

/** What a reader may want to check: runs that are blank, unreadable or hard to recognise, by kind. */
export function doubtsOf(report) {
  const runs = runsOf(unitsOf(report) ?? []);
  return [
    { title: t("Unreadable"), runs: runs.filter(({ source }) => source === "unreadable") },
    { title: t("Hard to recognise"), runs: runs.filter(({ poor }) => poor) },
    { title: report.seconds ? t("Without speech") : t("Without text"), runs: runs.filter(({ source }) => source === "blank") },
  ].filter(({ runs: found }) => found.length);
}

/** "Speech in 1:42 of 2:10 min", or null for what is no recording. */
export function speechOf({ seconds }) {
  if (!seconds) return null;
  return { share: seconds.total ? seconds.speech / seconds.total : 0, words: t("Speech in {speech} of {total} minutes", { speech: clock(seconds.speech), total: clock(seconds.total) }) };
}

/** What readers of the document can't see, as `[{number, size, excerpt}]`; `number` is null in a file without parts. */
export function hiddenIn({ unit, units, hidden = [] }) {
  const hasParts = (units?.total ?? 0) > 1 || unit !== "part";
  return hidden.map(({ number, characters, excerpt }) => ({ number: hasParts ? number : null, size: tPlural("{count} character", "{count} characters", { count: characters }), excerpt }));
}

/** How many chunks there are, how long they are, and how many have a flaw; nothing of what an earlier release has read. */
export function chunkFacts(chunks) {
  if (!chunks?.total) return [];
  return [
    t("{chunks} of {characters} (median)", { chunks: tPlural("{count} chunk", "{count} chunks", { count: chunks.total }), characters: tPlural("{count} character", "{count} characters", { count: chunks.characters.median }) }),
    chunks.flawed ? tPlural("{count} chunk with a flaw", "{count} chunks with a flaw", { count: chunks.flawed }) : null,
  ];
}
