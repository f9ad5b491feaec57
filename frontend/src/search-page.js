// Search for everybody: passages, filters in the address, each passage opens beside the list at its place.
import { post } from "./api.js";
import { announce, h, parts } from "./dom.js";
import { documentCount, passageCount, whereOf } from "./format.js";
import { FORMATS } from "./locale.js";
import { blocksOf } from "./passage.js";
import { tableNode } from "./passage-table.js";
import { startOfDay } from "./reader-days.js";
import { matchedPieces } from "./search-words.js";
import { timesInWords } from "./stage-words.js";
import { Viewer } from "./viewer.js";
import { t, tPlural } from "./texts.js";

const STEP = 20;
const MOST = 100;
const FILTERS = ["workspace", "kind", "tag", "language", "after", "before", "document"];
/** What is longer, in characters, is folded. */
const LONG = 420;

export function startSearchPage(page) {
  new SearchPage(page).start();
}

class SearchPage {
  #page;
  #parts;
  #viewer;
  #limit = STEP;
  #asked = 0;
  #open = null;

  constructor(page) {
    this.#page = page;
    this.#parts = parts(page);
    this.#viewer = new Viewer(page.querySelector("[data-viewer]"), { onClose: () => this.#closed() });
  }

  start() {
    const { form, more, allDocuments } = this.#parts;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#go();
    });
    form.addEventListener("change", (event) => event.target.name !== "q" && form.elements.q.value.trim() && this.#go());
    more.addEventListener("click", () => {
      this.#limit = Math.min(MOST, this.#limit + STEP);
      this.#search({ isMore: true });
    });
    allDocuments?.addEventListener("click", () => {
      allDocuments.closest("p").remove();
      form.elements.q.value.trim() ? this.#go() : history.replaceState(null, "", this.#address());
    });
    this.#page.addEventListener("keydown", (event) => event.key === "Escape" && !event.defaultPrevented && this.#viewer.close());
    window.addEventListener("popstate", () => this.#read());
    // Without a search in the address, what was typed before this script was there stays.
    if (location.search) this.#read();
  }

  /** Search for what the form says, as a new step of the browser's history. */
  #go() {
    const address = this.#address();
    if (address !== location.pathname + location.search) history.pushState(null, "", address);
    this.#limit = STEP;
    this.#search();
  }

  #given() {
    const data = [...new FormData(this.#parts.form)].map(([name, value]) => [name, value.trim()]);
    return Object.fromEntries(data.filter(([, value]) => value));
  }

  #address() {
    const query = new URLSearchParams(this.#given()).toString();
    return query ? `${location.pathname}?${query}` : location.pathname;
  }

  /** Fill the form from the address; a choice that is not offered (any more) is offered, so that it can be seen. */
  #read() {
    const { form, filters } = this.#parts;
    const query = new URLSearchParams(location.search);
    for (const name of ["q", ...FILTERS]) {
      const field = form.elements[name];
      if (!field || name === "document") continue;
      const value = query.get(name) ?? "";
      if (field.options && ![...field.options].some((one) => one.value === value)) field.append(new Option(value, value));
      field.value = value;
    }
    this.#countFilters();
    filters.open ||= FILTERS.some((name) => name !== "document" && query.get(name)) && matchMedia("(min-width: 60rem)").matches;
    // What a form sent without this script, or what somebody typed, is one address for one search.
    history.replaceState(null, "", this.#address());
    if (form.elements.q.value.trim()) this.#search();
  }

  #countFilters() {
    const set = FILTERS.filter((name) => name !== "document" && this.#given()[name]).length;
    this.#parts.filterCount.textContent = set ? `${set}` : "";
    this.#parts.filterCount.title = set ? tPlural("{count} filter", "{count} filters", { count: set }) : "";
  }

  async #search({ isMore = false } = {}) {
    const { submit, error, hits, nothing, summary } = this.#parts;
    const asked = (this.#asked += 1);
    const given = this.#given();
    this.#countFilters();
    error.hidden = true;
    submit.setAttribute("aria-busy", "true");
    try {
      const answer = await post("/search", requestOf(given, this.#limit));
      if (asked === this.#asked) this.#show(answer, given, isMore);
    } catch (problem) {
      if (asked !== this.#asked) return;
      error.textContent = problem.message;
      error.hidden = false;
      hits.replaceChildren();
      nothing.hidden = true;
      summary.textContent = "";
      this.#parts.about.hidden = true;
    } finally {
      if (asked === this.#asked) submit.removeAttribute("aria-busy");
    }
  }

  #show(answer, given, isMore) {
    const { results, query } = answer;
    const { hits, more, nothing, nothingHelp, summary, about, aboutFacts } = this.#parts;
    const shown = isMore ? hits.children.length : 0;
    const documents = new Set(results.map((one) => one.document_id)).size;
    if (!isMore) hits.replaceChildren();
    hits.append(...results.slice(shown).map((hit) => this.#hitNode(hit, query)));
    if (isMore) hits.children[shown]?.querySelector("a").focus();
    else hits.closest(".search-main").scrollTop = 0;
    more.hidden = results.length < this.#limit || this.#limit >= MOST;
    nothing.hidden = results.length > 0;
    const narrowed = FILTERS.some((name) => given[name]);
    nothingHelp.textContent = narrowed ? t("Take a filter away, or use other words.") : t("Use other words, or add documents that speak of it.");
    summary.textContent = results.length ? t("{passages} in {documents}, best first.", { passages: passageCount(results.length), documents: documentCount(documents) }) : "";
    about.hidden = !results.length;
    aboutFacts.replaceChildren(...factsOf(answer).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
    announce(summary.textContent || t("No passage was found."));
  }

  #hitNode(hit, query) {
    const { document_id: id, chunk_id: chunk, metadata } = hit;
    const open = (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      this.#openHit(hit, event.currentTarget);
    };
    const title = h("a", { class: "search-hit-link", href: `/documents/${id}?chunk=${chunk}`, onclick: open }, whereOf(hit));
    return h(
      "li",
      { class: "hit search-hit", "data-chunk": chunk },
      h(
        "div",
        { class: "hit-body" },
        h("h2", { class: "hit-title" }, title),
        metadata.headings?.length ? h("p", { class: "hit-headings" }, metadata.headings.join(" › ")) : null,
        ...textNodes(withoutHeadings(hit.text, metadata.headings), query),
      ),
    );
  }

  #openHit(hit, link) {
    this.#markOpen(link);
    this.#page.classList.add("has-viewer");
    this.#viewer.showPlace({
      documentId: hit.document_id,
      chunkId: hit.chunk_id,
      chunkBoxes: [],
      // The passage is what was asked for, so it is marked as strongly as a quote.
      quoteBoxes: hit.bbox ?? [],
      quoteText: hit.text,
      picture: hit.metadata.picture ?? null,
      pageNumber: hit.page_number,
      startTime: hit.start_time,
    });
  }

  #markOpen(link) {
    this.#open?.closest("li").classList.remove("is-open");
    this.#open?.removeAttribute("aria-current");
    this.#open = link;
    link?.closest("li").classList.add("is-open");
    link?.setAttribute("aria-current", "true");
  }

  #closed() {
    const from = this.#open;
    this.#page.classList.remove("has-viewer");
    this.#markOpen(null);
    if (from?.isConnected) from.focus({ preventScroll: true });
  }
}

/** What the engine counted, `[[name, value], …]`. */
function factsOf({ total_candidates: total, reranked, timings }) {
  const order = { true: t("yes"), false: t("no"), partial: t("in part, as the time ran out") }[reranked];
  return [
    [t("Passages in question"), total.toLocaleString(FORMATS)],
    [t("Compared once more"), order],
    [t("Time"), timesInWords(timings)],
  ];
}

/** The body of `POST search`. */
export function requestOf(given, limit) {
  const filters = {
    kinds: given.kind && [given.kind],
    tags: given.tag && [given.tag],
    languages: given.language && [given.language],
    created_after: given.after && startOfDay(given.after),
    created_before: given.before && startOfDay(given.before),
  };
  const set = Object.entries(filters).filter(([, value]) => value);
  return {
    query: given.q,
    limit,
    ...(given.workspace ? { workspace_ids: [given.workspace] } : {}),
    ...(given.document ? { document_ids: [given.document] } : {}),
    ...(set.length ? { filters: Object.fromEntries(set) } : {}),
  };
}

/** A passage begins with the headings that stand above it, which are shown already. */
export function withoutHeadings(text, headings) {
  let rest = text;
  for (const heading of headings ?? []) if (rest.startsWith(heading)) rest = rest.slice(heading.length).trimStart();
  return rest || text;
}

function textNodes(text, query) {
  const blocks = blocksOf(text);
  const nodes = blocks.map((block) => (block.head ? tableNode(block, (place) => marked(text.slice(...place), query)) : h("p", { class: "hit-text" }, marked(text.slice(...block.text), query))));
  if (text.length <= LONG) return nodes;
  const folded = h("div", { class: "search-folded is-folded" }, nodes);
  const unfold = h("button", { class: "button button-small button-quiet", type: "button", "aria-expanded": "false" }, t("Show all of it"));
  unfold.addEventListener("click", () => {
    const isFolded = folded.classList.toggle("is-folded");
    unfold.setAttribute("aria-expanded", String(!isFolded));
    unfold.textContent = isFolded ? t("Show all of it") : t("Show less");
  });
  return [folded, unfold];
}

const marked = (text, query) => matchedPieces(text, query).map((piece) => (piece.isMatch ? h("mark", { class: "match" }, piece.text) : piece.text));
