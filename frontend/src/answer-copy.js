// An answer as text for other programs: Markdown or plain, with or without its citations. Pure.
import { citedSources, numberer, referenceOf, withMarkers } from "./citations.js";
import { quoteOf, PAGE } from "./execution.js";
import { placeOf } from "./format.js";
import { toPlain } from "./markdown.js";
import { t } from "./texts.js";

const MARKERS = / ?<source_([dw]?)(\d+)>/g;

/** The answer as it was written, with `[1]` for a citation and the list of sources below. */
export function asMarkdown(state, { citations }) {
  const numberOf = numberer(state);
  const text = withMarkers(state.text).replace(MARKERS, (_, letter, rank) => (citations ? ` [${numberOf(referenceOf(state, letter, Number(rank)))}]` : ""));
  return joined(text, citations && sourceLines(state, markdownPage));
}

/** The same without Markdown. */
export function asPlainText(state, { citations }) {
  const numberOf = numberer(state);
  const cite = ({ letter, rank }) => (citations ? `[${numberOf(referenceOf(state, letter, Number(rank)))}]` : "");
  return joined(toPlain(state.text, cite), citations && sourceLines(state, plainPage));
}

function joined(text, sources) {
  const tidy = text.replace(/ +([.,;:!?])/g, "$1").trim();
  return sources?.length ? `${tidy}\n\nSources:\n\n${sources.join("\n")}` : tidy;
}

const sourceLines = (state, pageLine) => citedSources(state).map((each) => `${each.number}. ${lineOf(each, pageLine)}`);

function lineOf({ kind, source, rank }, pageLine) {
  if (!source || source.unavailable) return t("Source {rank}", { rank });
  if (kind === PAGE) return pageLine(source);
  const quote = quoteOf(source);
  const words = quote ? `: “${quote.text.replace(/\s+/g, " ").trim()}”` : "";
  return `${[source.document_name, placeOf(source, quote)].filter(Boolean).join(", ")}${words}`;
}

const plainPage = ({ title, url }) => `${title}, ${url}`;
const markdownPage = ({ title, url }) => `[${title.replace(/[[\]\\]/g, "\\$&")}](<${url}>)`;
