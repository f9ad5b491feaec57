// The quality report on the screen: a strip with a mark for each page or part, its legend, and what to check.
import { h, icon } from "./dom.js";
import { language } from "./format.js";
import { doubtsOf, legendOf, POOR, runsOf, speechOf, summaryOf, unitsOf } from "./quality.js";

/** More units than this are drawn as runs: single ones would be too thin to see. */
const DRAWN_ONE_BY_ONE = 160;
const NAMED = 12;

const NONE = {
  failed: "Nothing could be read.",
  cancelled: "Reading was cancelled before its end.",
  ready: "There is no report yet: process the document again to get one.",
  partial: "There is no report yet: process the document again to get one.",
};

/** Nodes that show the report; `onOpen(number)` is called when a page is chosen, and null where pages can't be shown. */
export function qualityNodes(report, onOpen) {
  const found = unitsOf(report);
  if (!found) return [h("p", { class: "details-none" }, NONE[report.status] ?? "The report comes when the whole document has been read.")];
  return [
    report.seconds ? speechBar(report) : strip(report, found, onOpen),
    report.seconds && found.length < 2 ? null : legend(report),
    facts(report),
    ...doubtsOf(report).map((doubt) => doubtNode(doubt, report, onOpen)),
    ...report.warnings.map(({ message }) => h("p", { class: "quality-warning" }, icon("triangle-alert"), message)),
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
  const sure = confidence === null ? "" : `, ${Math.round(100 * confidence)} % sure`;
  const mark = h("span", { class: `unit unit-${source}`, "data-number": number, title: `${unit} ${number}: ${TITLES[source]}${sure}` });
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

const TITLES = { text: "text", ocr: "recognised", speech: "speech", blank: "nothing", unreadable: "unreadable" };

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

function facts({ tables, pictures, characters, language: code }) {
  const words = [
    `${characters.toLocaleString("en")} characters`,
    tables ? `${tables.toLocaleString("en")} table${tables === 1 ? "" : "s"}` : null,
    pictures ? `${pictures.toLocaleString("en")} picture${pictures === 1 ? "" : "s"}` : null,
    code ? language(code) : null,
  ];
  return h("p", { class: "quality-facts" }, words.filter(Boolean).join(" · "));
}

function doubtNode({ title, runs }, { unit }, onOpen) {
  const shown = runs.slice(0, NAMED).map((run) => (onOpen ? runButton(run, unit, onOpen) : h("span", { class: "run" }, runWords(run))));
  const more = runs.length > NAMED ? h("span", { class: "run" }, `and ${runs.length - NAMED} more`) : null;
  return h("div", { class: "doubt" }, h("h4", {}, title), h("p", { class: "runs" }, shown, more));
}

const runWords = ({ first, last }) => (first === last ? `${first}` : `${first}–${last}`);

function runButton(run, unit, onOpen) {
  return h("button", { class: "run run-button", type: "button", "aria-label": `Show ${unit} ${runWords(run)}`, onclick: () => onOpen(run.first) }, runWords(run));
}
