// The citations of an answer: which sources its text cites, and the number that each is shown with. Pure.
import { contextOf, isOver, sourceOf, DOCUMENT, PAGE } from "./execution.js";

// What a marker becomes at the end (contract §5, §6). The titles and addresses of web pages in it would be read as
// Markdown, "|" as the end of a table's cell: only the rank is of use here, who shows the answer knows its source.
const CITATION = /<citation id="[^"]*">\[(\d+)\]<\/citation>|<web_citation url="[^"<>]*" title="[^"<>]*">\[(\d+)\]<\/web_citation>/g;
const MARKERS = /<source_([dw]?)(\d+)>/g;

/** A marker at a place of the text: `<source_3>` while it is written, then `<source_d3>` or `<source_w3>`. */
export const MARKER = new RegExp(MARKERS.source, "y");

const KINDS = { d: DOCUMENT, w: PAGE };

/** The text with a short marker for each citation: of a chunk of a document, or of a page of the web. */
export const withMarkers = (text) => text.replace(CITATION, (_, chunk, page) => (chunk ? `<source_d${chunk}>` : `<source_w${page}>`));

/** The text without citation markup, for reading aloud. */
export const withoutCitations = (text) => withMarkers(text).replace(MARKERS, "");

/** What a citation stands for: `{kind, rank, source}`; the source is null if it is not known (yet). */
export function referenceOf(state, letter, rank) {
  const context = letter === "w" ? null : contextOf(state, rank);
  const page = letter === "d" ? null : sourceOf(state, rank);
  const kind = KINDS[letter] ?? (context || !page ? DOCUMENT : PAGE);
  return { kind, rank, source: kind === PAGE ? page : context };
}

const keyOf = ({ kind, rank }) => `${kind} ${rank}`;

/** The sources that the text cites, in the order in which they first appear: `[{kind, rank, source, number}]`, numbers from 1. */
export function citedSources(state) {
  const cited = new Map();
  for (const [, letter, rank] of withMarkers(state.text).matchAll(MARKERS)) {
    const reference = referenceOf(state, letter, Number(rank));
    const key = keyOf(reference);
    if (!cited.has(key)) cited.set(key, { ...reference, number: cited.size + 1 });
  }
  return [...cited.values()];
}

/** A function from a reference to its number; null for a source that the text does not cite. */
export function numberer(state) {
  const numbers = new Map(citedSources(state).map((each) => [keyOf(each), each.number]));
  return (reference) => numbers.get(keyOf(reference)) ?? null;
}

/** Everything that was read, `[{kind, rank, source, number}]`: what is cited by its number, then the rest by its rank. */
export function allSources(state) {
  const read = [
    ...state.contexts.map((source) => ({ kind: DOCUMENT, rank: source.rank, source })),
    ...pagesOf(state).map((source) => ({ kind: PAGE, rank: source.rank, source })),
  ];
  const numberOf = isOver(state) ? shownNumbers(state, read) : () => null;
  const numbered = read.map((each) => ({ ...each, number: numberOf(each) }));
  return numbered.sort((one, other) => (one.number ?? Infinity) - (other.number ?? Infinity) || one.rank - other.rank);
}

const pagesOf = ({ sources, phases }) => (sources.length ? sources : (phases.WEB_SEARCH?.sources ?? []));

/** Of an answer that is withheld there is no text: what its result calls cited is numbered by rank. */
function shownNumbers(state, read) {
  if (state.text) return numberer(state);
  const ranks = [...(state.result?.sources_used ?? [])].sort((one, other) => one - other);
  return ({ rank }) => (ranks.includes(rank) && read.length ? ranks.indexOf(rank) + 1 : null);
}
