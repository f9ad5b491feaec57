// One question with its answer: progress, text with citation chips, sources, and what can be done with it.
import { actionNodes, closeElsewhere } from "./answer-actions.js";
import { citedBy, dressChips, listedSources, sourceNotes, sourceSections } from "./answer-sources.js";
import { h, icon } from "./dom.js";
import { isOver, CANCELLED, FAILED } from "./execution.js";
import { renderInto } from "./markdown.js";
import { CLOSEST, NOTHING, outcomeOf } from "./outcome.js";
import { progressSteps } from "./progress.js";
import { questionHead } from "./question-head.js";
import { failureWords } from "./web-answer.js";
import { importWithTexts, t } from "./texts.js";

/**
 * `onCite(cited, button)` opens the place of a citation, `onRetry()` asks once more, `onEdit(text)` asks an edited
 * question. `helpFor(state)` returns a link that helps after a failure, or null; `suggest(state)` returns buttons for
 * an answer that did not find what was asked for; `feedbackFor(state)` returns `{buttons, panel}` or null.
 */
export function createAnswer(state, { onCite, onRetry, onEdit = null, helpFor = () => null, suggest = () => [], feedbackFor = () => null }) {
  const progress = h("p", { class: "progress" });
  const engine = h("details", { class: "engine", hidden: true });
  const text = h("div", { class: "answer prose-answer" });
  const note = h("div", { class: "answer-note" });
  const sources = h("div", { class: "sources", role: "group", "aria-label": t("Sources") });
  const actions = h("div", { class: "answer-actions", role: "group", "aria-label": t("Answer") });
  const asked = h("p", { class: "asked-as" });
  const feedback = h("div", { class: "feedback" });
  const branches = { question: h("div", { class: "branches" }), answer: h("div", { class: "branches" }) };
  const head = h("div", { class: "turn-head" }, questionHead(state.query, { onEdit }), branches.question, asked);
  const below = h("div", { class: "below-answer" }, branches.answer, actions);
  const element = h("article", { class: "turn" }, head, h("div", { class: "progress-row" }, progress, engine), text, note, sources, below, feedback);
  let current = state;
  let shown = null;
  closeElsewhere(engine);
  element.addEventListener("click", ({ target }) => {
    const button = target.closest("button[data-rank]");
    if (!button) return;
    const cited = citedBy(current, button);
    if (cited.source) onCite(cited, button);
  });

  function update(next) {
    current = next;
    element.dataset.status = next.status;
    element.dataset.outcome = outcomeOf(next) ?? "";
    asked.textContent = askedWords(next);
    text.setAttribute("aria-busy", String(!isOver(next)));
    showProgress(progress, next);
    showText(text, next);
    // While text streams the sources stay as they are, and whoever is about to click one finds it where it was.
    const listed = listedSources(next);
    if (shown?.status === next.status && shown.listed.every((list, at) => list === listed[at])) return;
    shown = { listed, status: next.status };
    showEngine(engine, next);
    note.replaceChildren(...noteFor(next, { onRetry, help: helpFor(next) }), ...sourceNotes(next));
    sources.replaceChildren(...sourceSections(next), ...suggestions(next, suggest));
    showActions(next);
  }

  function showActions(next) {
    const rated = isOver(next) && next.text ? feedbackFor(next) : null;
    actions.replaceChildren(...actionNodes(next, { onRetry, extra: rated?.buttons }));
    feedback.replaceChildren(...(rated ? [rated.panel] : []));
  }

  update(state);
  return {
    element,
    update,
    /** Show another answer to the same question. */
    show(next) {
      shown = null;
      update(next);
    },
    /** `nodes.question` and `nodes.answer` lead to other versions of the question and of its answer. */
    setBranches(nodes) {
      for (const [place, children] of Object.entries(nodes)) branches[place].replaceChildren(...children);
    },
    citedBy: (chip) => ({ ...citedBy(current, chip), number: chip.textContent }),
  };
}

/** What was searched in place of the question, where that was completed from the conversation. */
function askedWords({ asked, query }) {
  const isSame = !asked || asked.replace(/\s+/g, " ").trim() === query.replace(/\s+/g, " ").trim();
  return isSame ? "" : t("Asked as: {asked}", { asked });
}

function showProgress(element, state) {
  const steps = progressSteps(state);
  element.classList.toggle("is-busy", !isOver(state));
  element.replaceChildren(...steps.map((step) => h("span", {}, step)));
}

/** What the engine did, behind a sign: most readers never open it. */
function showEngine(element, state) {
  const name = t("How this answer came about");
  element.hidden = !state.result;
  const panel = h("div", { class: "engine-panel" });
  element.replaceChildren(h("summary", { "aria-label": name, title: name }, icon("info")), panel);
  const fill = async () => {
    if (!element.open || panel.childElementCount) return;
    const { engineNodes } = await importWithTexts(() => import("./engine-facts.js"));
    panel.replaceChildren(...engineNodes(state));
  };
  element.ontoggle = fill;
  if (state.result) fill();
}

function showText(element, state) {
  const chipsOf = () => [...element.querySelectorAll(".cite")];
  const before = chipsOf();
  const focused = before.indexOf(document.activeElement);
  const opened = before.findIndex((chip) => chip.matches(".is-open"));
  renderInto(element, state.text);
  dressChips(element, state);
  // What scrolls by itself must be reachable by keyboard.
  for (const block of element.querySelectorAll("pre, table, .formula-block")) {
    if (block.scrollWidth > block.clientWidth) block.tabIndex = 0;
  }
  // Where the text was rendered anew, put the reader back: at -1 there is no chip.
  const after = chipsOf();
  after[focused]?.focus({ preventScroll: true });
  after[opened]?.classList.add("is-open");
}

function noteFor(state, { onRetry, help }) {
  if (state.status !== CANCELLED && state.status !== FAILED) return [];
  const retry = onRetry ? h("button", { class: "button button-small", type: "button", onclick: onRetry }, icon("refresh-cw"), t("Ask again")) : null;
  const actions = h("p", { class: "notice-actions" }, help, retry);
  const isFailed = state.status === FAILED;
  const stopped = state.text ? t("Stopped. What was written so far is kept.") : t("Stopped before the first word.");
  const failed = state.error ? failureWords(state.error) : t("This didn’t work.");
  const attributes = isFailed ? { class: "notice notice-bad", role: "alert" } : { class: "notice" };
  return [h("div", attributes, h("p", {}, isFailed ? failed : stopped), actions)];
}

/** What to try where nothing answers the question. */
function suggestions(state, suggest) {
  if (![CLOSEST, NOTHING].includes(outcomeOf(state))) return [];
  const buttons = suggest(state).map(({ words, name, act }) => h("button", { class: "button button-small", type: "button", onclick: act }, icon(name), words));
  return buttons.length ? [h("div", { class: "to-try" }, h("p", {}, t("What you can try:")), h("div", { class: "notice-actions" }, buttons))] : [];
}
