// The search bench: a question, what each stage found for it, and why. All it shows is what `POST search` answers.
import { post } from "./api.js";
import { announce, h, parts } from "./dom.js";
import { hitNode } from "./hit-view.js";
import { startOfDay } from "./reader-days.js";
import { chunksOf, columnsOf, milliseconds, readingOf, timesOf } from "./stages.js";
import { stagesNode } from "./stages-view.js";
import { t, tPlural } from "./texts.js";

const LIMIT = 100;
const AT_ONCE = 10;
const FILTERS = ["tags", "kinds", "languages", "metadata", "created_after", "created_before"];

export function startSearchBench(page) {
  new SearchBench(page).start();
}

class SearchBench {
  #page;
  #parts;
  #chunks = [];
  #asked = 0;

  constructor(page) {
    this.#page = page;
    this.#parts = parts(page);
  }

  start() {
    const { form, workspace, more, found } = this.#parts;
    workspace?.addEventListener("change", () => location.assign(workspace.value + location.search));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#search();
    });
    more.addEventListener("click", () => this.#showMore());
    for (const event of ["pointerover", "focusin"]) found.addEventListener(event, ({ target }) => this.#follow(target.closest("[data-chunk]")));
    for (const event of ["pointerleave", "focusout"]) found.addEventListener(event, () => this.#follow(null));
    this.#fill();
    if (form.elements.q.value.trim()) this.#search();
  }

  /** Fill the form from the address: a link, or what the form sent before this script was there. */
  #fill() {
    const { elements } = this.#parts.form;
    const given = new URLSearchParams(location.search);
    for (const name of ["q", ...FILTERS]) if (given.has(name)) elements[name].value = given.get(name);
    if (given.get("rerank") === "off") elements.rerank.checked = false;
  }

  /** The address of the search that the form says. */
  #address() {
    const data = new FormData(this.#parts.form);
    const given = ["q", ...FILTERS].map((name) => [name, data.get(name).trim()]).filter(([, value]) => value);
    return `?${new URLSearchParams(data.has("rerank") ? given : [...given, ["rerank", "off"]])}`;
  }

  async #search() {
    const { form, submit, error, found, nothing } = this.#parts;
    const asked = (this.#asked += 1);
    error.hidden = true;
    submit.setAttribute("aria-busy", "true");
    try {
      const request = requestOf(form, this.#page.dataset.workspace);
      history.replaceState(null, "", this.#address());
      const answer = await post("/search", request);
      if (asked === this.#asked) this.#show(answer);
    } catch (problem) {
      if (asked !== this.#asked) return;
      error.textContent = problem.message;
      error.hidden = false;
      found.hidden = true;
      nothing.hidden = true;
    } finally {
      if (asked === this.#asked) submit.removeAttribute("aria-busy");
    }
  }

  #show(answer) {
    const { found, nothing, summary, times, words, stages, hits } = this.#parts;
    this.#chunks = chunksOf(answer);
    found.hidden = false;
    found.classList.toggle("is-empty", !this.#chunks.length);
    nothing.hidden = this.#chunks.length > 0;
    summary.textContent = summaryOf(answer);
    times.replaceChildren(...timesNodes(answer.timings));
    words.replaceChildren(...answer.explanation.words.map(wordNode), ...answer.explanation.phrases.map(phraseNode));
    stages.replaceChildren(stagesNode(columnsOf(this.#chunks), this.#chunks, (id) => this.#open(id)));
    hits.replaceChildren();
    this.#showMore();
    announce(summary.textContent);
  }

  #showMore() {
    const { hits, more } = this.#parts;
    const shown = hits.children.length;
    hits.append(...this.#chunks.slice(shown, shown + AT_ONCE).map(hitNode));
    // The button goes when it has nothing to add: the focus moves on to what it has added.
    if (shown && document.activeElement === more) hits.children[shown]?.focus();
    more.hidden = hits.children.length >= this.#chunks.length;
  }

  #open(id) {
    const { hits } = this.#parts;
    while (!hits.querySelector(`[data-chunk="${id}"]`)) this.#showMore();
    const hit = hits.querySelector(`[data-chunk="${id}"]`);
    hit.focus({ preventScroll: true });
    hit.scrollIntoView({ block: "center", behavior: "smooth" });
  }

  /** Mark one chunk wherever it is shown; with null what the keyboard is on, though the page moves under a resting pointer. */
  #follow(element) {
    const { found, stages } = this.#parts;
    const id = (element ?? found.querySelector(":focus-visible")?.closest("[data-chunk]"))?.dataset.chunk;
    stages.classList.toggle("is-following", Boolean(id));
    for (const one of found.querySelectorAll("[data-chunk]")) one.classList.toggle("is-followed", one.dataset.chunk === id);
  }
}

function requestOf(form, workspace) {
  const data = new FormData(form);
  const listed = (name) => data.get(name).split(",").map((one) => one.trim()).filter(Boolean);
  const filters = {
    tags: listed("tags"),
    kinds: listed("kinds"),
    languages: listed("languages"),
    created_after: startOfDay(data.get("created_after")),
    created_before: startOfDay(data.get("created_before")),
    metadata: metadataOf(listed("metadata")),
  };
  const given = Object.entries(filters).filter(([, value]) => (typeof value === "string" ? value : Object.keys(value).length));
  return {
    query: data.get("q").trim(),
    workspace_ids: [workspace],
    filters: Object.fromEntries(given),
    rerank: data.has("rerank"),
    limit: LIMIT,
    explain: true,
  };
}

/** `year=2023` finds the number as well as the word. */
function metadataOf(pairs) {
  const split = pairs.map((pair) => pair.split("=").map((part) => part.trim()));
  return Object.fromEntries(split.map(([key, value = ""]) => [key, [value, ...readings(value)]]));
}

function readings(value) {
  if (value === "true" || value === "false") return [value === "true"];
  return value && Number.isFinite(Number(value)) ? [Number(value)] : [];
}

function summaryOf({ results, total_candidates: total, reranked, timings }) {
  const order = { true: t("reranked"), false: t("not reranked"), partial: t("reranked in part, as the time ran out") }[reranked];
  const chosen = t("{results} of {candidates}", { results: tPlural("{count} result", "{count} results", { count: results.length }), candidates: tPlural("{count} candidate", "{count} candidates", { count: total }) });
  return t("{chosen}, {order}, in {time}.", { chosen, order, time: milliseconds(timings.total) });
}

function timesNodes(timings) {
  const times = timesOf(timings);
  const bar = h("div", { class: "times-bar", "aria-hidden": "true" }, times.map(({ seconds }) => {
    const part = h("span", {});
    part.style.flexGrow = 1000 * seconds;
    return part;
  }));
  const legend = times.map(({ name, seconds }) => h("li", {}, h("span", { class: "times-key", "aria-hidden": "true" }), `${name} ${milliseconds(seconds)}`));
  return [bar, h("ul", { class: "times-legend" }, legend)];
}

function wordNode(word) {
  const reading = readingOf(word);
  const how = h("span", { class: reading.kind === "silent" ? "visually-hidden" : "read-how" }, reading.words);
  return h("li", { class: `read-word is-${reading.kind}`, title: reading.words }, h("span", { class: "read-as" }, reading.word), how);
}

const phraseNode = (phrase) =>
  h("li", { class: "read-word is-phrase" }, h("span", { class: "read-as" }, `“${phrase}”`), h("span", { class: "read-how" }, t("must stand so, if it stands anywhere")));
