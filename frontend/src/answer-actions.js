// What can be done with a finished answer: copy, try again, print.
import { asMarkdown, asPlainText } from "./answer-copy.js";
import { copyText } from "./clipboard.js";
import { h, icon } from "./dom.js";
import { isOver } from "./execution.js";
import { t } from "./texts.js";

const COPIES = [
  [t("With citations"), (state) => asPlainText(state, { citations: true })],
  [t("Without citations"), (state) => asPlainText(state, { citations: false })],
  [t("Markdown with citations"), (state) => asMarkdown(state, { citations: true })],
  [t("Markdown without citations"), (state) => asMarkdown(state, { citations: false })],
];

/** Buttons below an answer; `onRetry` is called by “Try again” unless it is null, `extra` are buttons of the caller. */
export function actionNodes(state, { onRetry, extra = [] }) {
  if (!isOver(state) || !state.text) return [];
  return [
    copyMenu(state),
    ...extra,
    ...(onRetry ? [action("refresh-cw", t("Try again"), onRetry)] : []),
    action("printer", t("Print"), () => printAnswer()),
  ];
}

export const action = (name, words, onclick, attributes = {}) => h("button", { class: "answer-action", type: "button", title: words, onclick, ...attributes }, icon(name), h("span", {}, words));

function copyMenu(state) {
  const menu = h("details", { class: "menu answer-menu" });
  const copy = (make) => () => {
    menu.open = false;
    menu.querySelector("summary").focus();
    copyText(make(state));
  };
  menu.append(
    h("summary", { class: "answer-action" }, icon("copy"), h("span", {}, t("Copy"))),
    h("div", { class: "menu-panel" }, ...COPIES.map(([words, make]) => h("button", { type: "button", onclick: copy(make) }, words))),
  );
  closeElsewhere(menu);
  return menu;
}

/** A <details> opens by itself; a menu also closes on Escape and when the focus or a click goes elsewhere. */
export function closeElsewhere(menu) {
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.preventDefault();
    event.stopPropagation();
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  menu.addEventListener("toggle", () => {
    const close = ({ target }) => {
      if (!menu.open || !menu.isConnected) document.removeEventListener("pointerdown", close);
      else if (!menu.contains(target)) menu.open = false;
    };
    if (menu.open) document.addEventListener("pointerdown", close);
  });
  menu.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !menu.contains(relatedTarget)) menu.open = false;
  });
}

/** What is folded away stays so on paper; the title of the page becomes the name of the file. */
function printAnswer() {
  window.print();
}
