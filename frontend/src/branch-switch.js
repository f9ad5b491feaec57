// "‹ 1/2 ›": which of several versions is shown.
import { h, icon } from "./dom.js";
import { t } from "./texts.js";

const NAMES = {
  question: [t("Versions of this question"), t("Earlier question"), t("Later question")],
  answer: [t("Versions of this answer"), t("Earlier answer"), t("Later answer")],
};

/** Nothing for a single version; `noun` is what there are several of, `onChoose(index)` shows another. */
export function branchSwitch({ index, count, noun, onChoose }) {
  if (count < 2) return [];
  const [versions, earlier, later] = NAMES[noun];
  const step = (by, name, words) => h("button", { class: "icon-button", type: "button", "aria-label": words, disabled: !(index + by in Array(count).fill(0)), onclick: () => onChoose(index + by) }, icon(name));
  return [
    h(
      "span",
      { class: "branch", role: "group", "aria-label": versions },
      step(-1, "chevron-left", earlier),
      h("span", { class: "branch-number" }, `${index + 1}/${count}`),
      step(1, "chevron-right", later),
    ),
  ];
}
