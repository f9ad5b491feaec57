// Documents in a form: found by their names, and sent as checked boxes named `documents`.
import { get } from "./api.js";
import { announce, h, parts } from "./dom.js";
import { debounced } from "./scope.js";
import { t } from "./texts.js";

const MOST_FOUND = 20;

export function startDocumentPicker(form) {
  const { chosenDocuments, documentSearch, foundDocuments } = parts(form);
  let asked = 0;

  documentSearch.addEventListener("input", debounced(find));
  // Enter searches; it does not send the form.
  documentSearch.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
  foundDocuments.addEventListener("change", ({ target }) => choose(target.closest("label")));

  async function find() {
    const search = documentSearch.value.trim();
    const number = ++asked;
    foundDocuments.hidden = !search;
    if (!search) return;
    const { results } = await get("/documents", { search, limit: MOST_FOUND });
    if (number !== asked) return;
    const chosen = new Set([...chosenDocuments.querySelectorAll("input")].map(({ value }) => value));
    const others = results.filter(({ id }) => !chosen.has(id)).map(choice);
    const empty = h("p", { class: "choices-empty" }, t("No document has these words in its name."));
    foundDocuments.replaceChildren(...(others.length ? others : [empty]));
  }

  /** What is chosen stands above the search, where it can be taken out again. */
  function choose(label) {
    chosenDocuments.append(label);
    label.querySelector("input").focus();
    announce(t("{name} is chosen", { name: label.textContent.trim() }));
  }
}

const choice = ({ id, name }) => h("label", {}, h("input", { type: "checkbox", name: "documents", value: id }), h("span", {}, name));
