// Thumbs under an answer. With a thumb down one may say why; all of it goes to whoever runs this installation.
import { del, put } from "./api.js";
import { h, icon, toast } from "./dom.js";
import { t } from "./texts.js";

const REASONS = {
  incorrect: t("Not correct"),
  incomplete: t("Something is missing"),
  irrelevant: t("Not what I asked"),
  wrong_sources: t("Wrong sources"),
  outdated: t("Out of date"),
  hard_to_read: t("Hard to read"),
  other: t("Something else"),
};

/**
 * `{buttons, panel}` for the answer of an execution; `feedback` is what was said before, or null, and
 * `onRated({rating} | null)` is called when that changes.
 */
export function feedbackOf(executionId, feedback, onRated) {
  const path = `/executions/${encodeURIComponent(executionId)}/feedback`;
  const panel = h("div", { class: "feedback-panel" });
  const up = thumb(icon("thumbs-up"), t("Good answer"), () => rate("up"));
  const down = thumb(icon("thumbs-down"), t("Bad answer"), () => rate("down"));
  let rating = feedback?.rating ?? null;

  async function rate(chosen) {
    const taken = rating === chosen;
    try {
      await (taken ? del(path) : put(path, { rating: chosen }));
    } catch (error) {
      return toast(error.message, { error: true });
    }
    show(taken ? null : chosen);
    onRated(rating && { rating });
    panel.replaceChildren(...(rating === "down" ? [reasonForm(path, () => panel.replaceChildren(thanks()))] : rating ? [thanks()] : []));
    panel.querySelector("input")?.focus({ preventScroll: true });
    panel.scrollIntoView({ block: "nearest" });
    return undefined;
  }

  function show(chosen) {
    rating = chosen;
    up.setAttribute("aria-pressed", String(rating === "up"));
    down.setAttribute("aria-pressed", String(rating === "down"));
  }

  show(rating);
  return { buttons: [up, down], panel };
}

const thumb = (sign, words, onclick) => h("button", { class: "answer-action answer-thumb", type: "button", title: words, "aria-label": words, onclick }, sign);

const thanks = () => h("p", { class: "feedback-thanks", role: "status" }, t("Thank you."));

function reasonForm(path, onSent) {
  const boxes = Object.entries(REASONS).map(([value, words]) => h("label", { class: "reason" }, h("input", { type: "checkbox", name: "reason", value }), h("span", {}, words)));
  const comment = h("textarea", { rows: 2, maxlength: 2000, "aria-label": t("Anything else?"), placeholder: t("Anything else?") });
  const error = h("p", { class: "field-error", role: "alert" });
  const onsubmit = async (event) => {
    event.preventDefault();
    const reasons = [...form.querySelectorAll(":checked")].map(({ value }) => value);
    try {
      await put(path, { rating: "down", ...(reasons.length && { reasons }), ...(comment.value.trim() && { comment: comment.value.trim() }) });
      onSent();
    } catch ({ message }) {
      error.textContent = message;
    }
  };
  const form = h(
    "form",
    { class: "feedback-form", onsubmit },
    h("fieldset", {}, h("legend", {}, t("What was wrong?")), h("div", { class: "reasons" }, boxes)),
    comment,
    error,
    h("div", { class: "form-actions" }, h("button", { class: "button button-small button-main", type: "submit" }, t("Send"))),
  );
  return form;
}
