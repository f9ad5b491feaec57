// One question with its answer: progress, text with citation chips, sources.
import { h, icon } from "./dom.js";
import { isOver, CANCELLED, FAILED } from "./execution.js";
import { renderInto } from "./markdown.js";
import { progressSteps } from "./progress.js";
import { failureWords } from "./web-answer.js";

/** `view` says how citations and sources are shown; `helpFor(state)` returns a link that helps after a failure, or null. */
export function createAnswer(state, view, { onRetry, helpFor }) {
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
  let shown = null;
  element.addEventListener("click", ({ target }) => {
    const button = target.closest("button[data-rank]");
    if (button) view.open(current, button);
  });

  function update(next) {
    current = next;
    element.dataset.status = next.status;
    text.setAttribute("aria-busy", String(!isOver(next)));
    showProgress(progress, next);
    showText(text, next, view);
    // While text streams the sources stay as they are, and whoever is about to click one finds it where it was.
    if (shown?.listed === view.listed(next) && shown.status === next.status) return;
    shown = { listed: view.listed(next), status: next.status };
    note.replaceChildren(...noteFor(next, { onRetry, help: helpFor(next) }), ...view.notes(next));
    sources.replaceChildren(...view.nodes(next));
  }

  update(state);
  return { element, update };
}

function showProgress(element, state) {
  const steps = progressSteps(state);
  element.classList.toggle("is-busy", !isOver(state));
  element.replaceChildren(...steps.map((step) => h("span", {}, step)));
  element.hidden = !steps.length;
}

function showText(element, state, view) {
  const chipsOf = () => [...element.querySelectorAll(".cite")];
  const focused = chipsOf().indexOf(document.activeElement);
  const opened = chipsOf().findIndex((chip) => chip.matches(".is-open"));
  renderInto(element, state.text);
  for (const chip of chipsOf()) view.dress(chip, state);
  // The text was rendered anew: put the reader back where they were.
  if (focused >= 0) chipsOf()[focused]?.focus({ preventScroll: true });
  if (opened >= 0) chipsOf()[opened]?.classList.add("is-open");
}

function noteFor(state, { onRetry, help }) {
  if (state.status !== CANCELLED && state.status !== FAILED) return [];
  const retry = h("button", { class: "button button-small", type: "button", onclick: onRetry }, icon("refresh-cw"), "Ask again");
  const actions = h("p", { class: "notice-actions" }, help, retry);
  if (state.status === CANCELLED) return [h("div", { class: "notice" }, h("p", {}, state.text ? "Stopped. What was written so far is kept." : "Stopped before the first word."), actions)];
  return [h("div", { class: "notice notice-bad", role: "alert" }, h("p", {}, state.error ? failureWords(state.error) : "This didn’t work."), actions)];
}
