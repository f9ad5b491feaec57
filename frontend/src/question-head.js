// The question above its answer, which can be edited and asked again.
import { h, icon } from "./dom.js";
import { lengthOfQuestion } from "./question-length.js";
import { t } from "./texts.js";

/** Nodes for a question; `onEdit(text)` asks the edited one, without it there is nothing to edit. */
export function questionHead(question, { onEdit }) {
  const head = h("div", { class: "question-head" });
  const title = h("h2", { class: "question" }, question);
  const edit = h("button", { class: "icon-button question-edit", type: "button", "aria-label": t("Edit the question"), title: t("Edit the question"), onclick: () => open() }, icon("pencil"));
  const close = () => {
    head.replaceChildren(title, ...(onEdit ? [edit] : []));
    edit.focus();
  };

  function open() {
    const form = editForm(question, { onCancel: close, onAsk: (text) => onEdit(text) !== false && close() });
    head.replaceChildren(form);
    const field = form.querySelector("textarea");
    grow(field);
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  }

  head.append(title, ...(onEdit ? [edit] : []));
  return head;
}

function editForm(question, { onCancel, onAsk }) {
  const field = h("textarea", { rows: 1, "aria-label": t("Edit your question") });
  const note = h("p", { class: "composer-note", role: "status" });
  field.value = question;
  const check = () => {
    const { fits, words } = lengthOfQuestion(field.value);
    note.textContent = words;
    return fits && field.value.trim() !== "";
  };
  const form = h(
    "form",
    { class: "question-form" },
    field,
    note,
    h("div", { class: "form-actions" },
      h("button", { class: "button button-small button-quiet", type: "button", onclick: onCancel }, t("Cancel")),
      h("button", { class: "button button-small button-main", type: "submit" }, t("Ask")),
    ),
  );
  field.addEventListener("input", () => {
    check();
    grow(field);
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      onCancel();
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.target === field) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (check()) onAsk(field.value.trim());
  });
  return form;
}

function grow(field) {
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}
