// Why an answer got a thumb down, for those who want to say it.
import { put } from "./api.js";
import { h } from "./dom.js";
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

/** The form; it is sent to the feedback at `path`, and `onSent()` is called then. */
export function reasonForm(path, onSent) {
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
