// One question with its answer: progress, text with citation chips, sources.
import { h, icon } from "./dom.js";
import { contextOf, isCited, isOver, progressSteps, quoteOf, CANCELLED, FAILED } from "./execution.js";
import { counted, placeOf } from "./format.js";
import { renderInto } from "./markdown.js";

/** `onCite(context, quote, button)` is called when a citation or a source is opened. */
export function createAnswer(state, { onCite, onRetry }) {
  const progress = h("p", { class: "progress" });
  const text = h("div", { class: "answer prose-answer" });
  const note = h("div", { class: "answer-note" });
  const sources = h("section", { class: "sources", "aria-label": "Sources" });
  const element = h(
    "article",
    { class: "turn" },
    h("h2", { class: "question" }, state.query),
    progress,
    text,
    note,
    sources,
  );
  let current = state;
  element.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-rank]");
    if (!button) return;
    const context = contextOf(current, Number(button.dataset.rank));
    if (context) onCite(context, quoteOf(context, occurrence(text, button)), button);
  });

  function update(next) {
    current = next;
    element.dataset.status = next.status;
    text.setAttribute("aria-busy", String(!isOver(next)));
    showProgress(progress, next);
    showText(text, next);
    note.replaceChildren(...noteFor(next, onRetry));
    if (isOver(next)) sources.replaceChildren(...sourcesFor(next));
  }

  update(state);
  return { element, update };
}

/** Which citation of its source a chip is, from 0: each has a quote of its own. */
function occurrence(text, button) {
  const same = [...text.querySelectorAll(`.cite[data-rank="${button.dataset.rank}"]`)];
  return Math.max(0, same.indexOf(button));
}

function showProgress(element, state) {
  const steps = progressSteps(state);
  if (isOver(state) && state.result) {
    const cited = state.result.sources_used?.length ?? 0;
    if (cited) steps.push(`${cited} cited`);
    if (state.result.model) steps.push(`answered by ${state.result.model}`);
  }
  element.classList.toggle("is-busy", !isOver(state));
  element.replaceChildren(...steps.map((step) => h("span", {}, step)));
  element.hidden = !steps.length;
}

function showText(element, state) {
  const focused = [...element.querySelectorAll(".cite")].indexOf(document.activeElement);
  const opened = [...element.querySelectorAll(".cite")].findIndex((chip) => chip.matches(".is-open"));
  renderInto(element, state.text);
  const chips = [...element.querySelectorAll(".cite")];
  for (const chip of chips) chip.setAttribute("aria-label", citationLabel(state, chip));
  // The text was rendered anew: put the reader back where they were.
  if (focused >= 0) chips[focused]?.focus({ preventScroll: true });
  if (opened >= 0) chips[opened]?.classList.add("is-open");
}

function citationLabel(state, chip) {
  const context = contextOf(state, Number(chip.dataset.rank));
  if (!context) return `Source ${chip.dataset.rank}`;
  const quote = quoteOf(context, occurrence(chip.closest(".answer"), chip));
  return ["Source " + context.rank, context.document_name, placeOf(context, quote)].filter(Boolean).join(", ");
}

function noteFor(state, onRetry) {
  if (state.status === CANCELLED) return [h("p", { class: "notice" }, "Stopped. What was written so far is kept.")];
  if (state.status !== FAILED) return [];
  const retry = h("button", { class: "button button-small", type: "button", onclick: onRetry }, icon("refresh-cw"), "Ask again");
  return [h("div", { class: "notice notice-bad", role: "alert" }, h("p", {}, state.error?.message ?? "This didn’t work."), retry)];
}

function sourcesFor(state) {
  const used = state.contexts.filter((context) => isCited(state, context));
  const unused = state.contexts.filter((context) => !isCited(state, context));
  const sections = [];
  if (used.length) sections.push(h("h3", {}, "Sources"), listOf(used));
  if (unused.length) {
    const title = used.length ? `${counted(unused.length, "more chunk")} read, not cited` : `${counted(unused.length, "chunk")} read, none cited`;
    sections.push(h("details", { class: "sources-more" }, h("summary", {}, icon("chevron-right"), title), listOf(unused)));
  }
  return sections;
}

const listOf = (contexts) => h("ol", { class: "source-list" }, contexts.map(sourceItem));

function sourceItem(context) {
  if (context.unavailable) {
    return h("li", { class: "source is-gone" }, rankOf(context), h("span", { class: "source-body" }, "A document you can no longer see"));
  }
  const title = h("span", { class: "source-title" }, h("span", { class: "source-name" }, context.document_name), h("span", { class: "source-place" }, placeOf(context, quoteOf(context))));
  const body = h("span", { class: "source-body" }, title, h("span", { class: "source-preview" }, context.quote ?? context.text_preview));
  return h("li", {}, h("button", { class: "source", type: "button", "data-rank": context.rank }, rankOf(context), body));
}

const rankOf = (context) => h("span", { class: context.used_in_response ? "rank" : "rank rank-unused" }, String(context.rank));
