// Which columns of the list a reader wants to see; kept in the browser.
import { h } from "./dom.js";
import { recall, remember } from "./remembered.js";
import { t } from "./texts.js";

const KEY = "documents.columns";
export const COLUMNS = { workspace: t("Workspace"), status: t("Status"), tags: t("Tags"), length: t("Length"), size: t("Size"), language: t("Language"), added: t("Added") };
const AT_FIRST = ["workspace", "status", "tags", "length", "size", "added"];

function chosenColumns() {
  const kept = recall(KEY);
  return kept === null ? AT_FIRST : kept.split(" ").filter((name) => name in COLUMNS);
}

/** Fill the menu of columns, and show those that are chosen: the table has a class `without-NAME` for the others. */
export function startColumns(menu, table) {
  const chosen = new Set(chosenColumns());
  const show = () => Object.keys(COLUMNS).forEach((name) => table.classList.toggle(`without-${name}`, !chosen.has(name)));
  const toggle = (name, { target }) => {
    if (target.checked) chosen.add(name);
    else chosen.delete(name);
    remember(KEY, [...chosen].join(" "));
    show();
  };
  const choice = ([name, words]) => h("label", { class: "column-choice", "data-column": name }, h("input", { type: "checkbox", checked: chosen.has(name), autocomplete: "off", onchange: (event) => toggle(name, event) }), words);
  menu.replaceChildren(...Object.entries(COLUMNS).map(choice));
  show();
}
