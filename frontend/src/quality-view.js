// The quality report on the screen: a strip with a mark for each page or part, its legend, and what to check.
import { h, icon } from "./dom.js";
import { language, percent } from "./format.js";
import { chunkFacts, doubtsOf, hiddenIn, legendOf, POOR, runsOf, speechOf, summaryOf, unitsOf } from "./quality.js";
import { t, tPlural, translated } from "./texts.js";
import { nounOf } from "./units.js";

/** More units than this are drawn as runs: single ones would be too thin to see. */
const DRAWN_ONE_BY_ONE = 160;
const NAMED = 12;

const NONE = {
  failed: t("Nothing could be read."),
  cancelled: t("Reading was cancelled before its end."),
  ready: t("There is no report yet: process the document again to get one."),
  partial: t("There is no report yet: process the document again to get one."),
};

/** Nodes that show the report; `onOpen(number)` is called when a page is chosen, and null where pages can't be shown. */
export function qualityNodes(report, onOpen) {
  const found = unitsOf(report);
  if (!found) return [h("p", { class: "details-none" }, NONE[report.status] ?? t("The report comes when the whole document has been read."))];
  // Of a file without parts, or a short recording, the strip and its legend would say nothing.
  const hasUnits = found.length > 1 || report.unit !== "part";
  return [
    report.seconds ? speechBar(report) : null,
    hasUnits && !report.seconds ? strip(report, found, onOpen) : null,
    hasUnits ? legend(report) : null,
    facts(report),
    ...doubtsOf(report).map((doubt) => doubtNode(doubt, report, onOpen)),
    hiddenNode(report, onOpen),
    ...report.warnings.map(({ message }) => h("p", { class: "quality-warning" }, icon("triangle-alert"), translated(message))),
  ].filter(Boolean);
}

function strip(report, found, onOpen) {
  const many = found.length > DRAWN_ONE_BY_ONE;
  const marks = many ? runsOf(found).map(runMark) : found.map(unitMark(report.unit));
  const picture = h("div", { class: many ? "strip strip-runs" : "strip", role: "img", "aria-label": summaryOf(report) }, marks);
  if (onOpen) {
    // A short cut for the mouse; who uses the keyboard finds the pages worth a look as buttons below.
    picture.classList.add("is-clickable");
    picture.addEventListener("click", ({ target }) => target.dataset.number && onOpen(Number(target.dataset.number)));
  }
  return picture;
}

const unitMark = (unit) => ({ number, source, confidence }) => {
  const sure = confidence === null ? "" : `, ${t("{percent} sure", { percent: percent(confidence) })}`;
  const mark = h("span", { class: `unit unit-${source}`, "data-number": number, title: `${nounOf(unit)} ${number}: ${TITLES[source]}${sure}` });
  mark.classList.toggle("is-poor", confidence !== null && confidence < POOR);
  if (confidence !== null) mark.style.setProperty("--sure", `${Math.round(100 * confidence)}%`);
  return mark;
};

function runMark({ source, poor, first, last }) {
  const mark = h("span", { class: `unit unit-${source}`, "data-number": first, title: `${first}–${last}: ${TITLES[source]}` });
  mark.classList.toggle("is-poor", poor);
  mark.style.flexGrow = last - first + 1;
  return mark;
}

const TITLES = { text: t("text"), ocr: t("recognised"), speech: t("speech"), blank: t("nothing"), unreadable: t("unreadable") };

function speechBar(report) {
  const { share, words } = speechOf(report);
  const fill = h("span", { class: "speech-fill" });
  fill.style.width = `${100 * share}%`;
  return h("div", { class: "speech" }, h("div", { class: "speech-bar", "aria-hidden": "true" }, fill), h("p", {}, words));
}

function legend(report) {
  const items = legendOf(report).map(({ source, words }) => h("li", {}, h("span", { class: `unit unit-${source}`, "aria-hidden": "true" }), words));
  return h("ul", { class: "legend" }, items);
}

function facts({ tables, pictures, characters, chunks, language: code }) {
  const words = [
    tPlural("{count} character", "{count} characters", { count: characters }),
    tables ? tPlural("{count} table", "{count} tables", { count: tables }) : null,
    pictures ? tPlural("{count} picture", "{count} pictures", { count: pictures }) : null,
    ...chunkFacts(chunks),
    code ? language(code) : null,
  ];
  return h("p", { class: "quality-facts" }, words.filter(Boolean).join(" · "));
}

function doubtNode({ title, runs }, { unit }, onOpen) {
  const shown = runs.slice(0, NAMED).map((run) => (onOpen ? runButton(run, unit, onOpen) : h("span", { class: "run" }, runWords(run))));
  const more = runs.length > NAMED ? h("span", { class: "run" }, tPlural("and {count} more", "and {count} more", { count: runs.length - NAMED })) : null;
  return h("div", { class: "doubt" }, h("h4", {}, title), h("p", { class: "runs" }, shown, more));
}

/** The document's words, not ours: always as text, and marked as a quotation. */
function hiddenNode(report, onOpen) {
  const found = hiddenIn(report);
  if (!found.length) return null;
  const more = found.length > NAMED ? h("li", {}, tPlural("and in {count} more place", "and in {count} more places", { count: found.length - NAMED })) : null;
  const items = found.slice(0, NAMED).map((one) => hiddenItem(one, report.unit, onOpen));
  return h("div", { class: "doubt" }, h("h4", {}, t("Text that readers can’t see, left out")), h("ul", { class: "hidden-texts" }, items, more));
}

function hiddenItem({ number, size, excerpt }, unit, onOpen) {
  const place = number && (onOpen ? runButton({ first: number, last: number }, unit, onOpen) : h("span", { class: "run" }, `${number}`));
  return h("li", {}, place || null, h("span", { class: "hidden-size" }, size), h("q", { class: "hidden-excerpt" }, excerpt));
}

const runWords = ({ first, last }) => (first === last ? `${first}` : `${first}–${last}`);

function runButton(run, unit, onOpen) {
  return h("button", { class: "run run-button", type: "button", "aria-label": t("Show {unit} {numbers}", { unit: nounOf(unit), numbers: runWords(run) }), onclick: () => onOpen(run.first) }, runWords(run));
}
