// Where to look: all documents, some workspaces or collections, single documents, or documents with a tag.
import { get } from "./api.js";
import { h, icon } from "./dom.js";
import { documentCount } from "./format.js";
import { t, tPlural } from "./texts.js";

/** So many documents of a scope are shown by their names. */
const NAMED = 20;

/** `onChange()` is called when the reader has chosen. */
export function startScope(parts, { onChange }) {
  const { scope, scopeDialog, scopeSearch, scopeChosen, scopeDocuments, scopeTags, scopeLabel } = parts;
  const documents = new Map();
  /** Where documents are kept: each is chosen from a list of all, which shows from `fewest` on. */
  const workspaces = { key: "workspace_ids", path: "/workspaces", inWords: (count) => tPlural("{count} workspace", "{count} workspaces", { count }), chosen: new Map(), fewest: 2, field: parts.scopeWorkspacesField, list: parts.scopeWorkspaces };
  const collections = { key: "collection_ids", path: "/collections", inWords: (count) => tPlural("{count} collection", "{count} collections", { count }), chosen: new Map(), fewest: 1, field: parts.scopeCollectionsField, list: parts.scopeCollections };
  const places = [workspaces, collections];
  let tags = [];

  startWith(new URLSearchParams(location.search));

  scope.addEventListener("click", async () => {
    scopeDialog.returnValue = "";
    scopeDialog.showModal();
    scopeSearch.value = "";
    scopeTags.value = tags.join(", ");
    await Promise.all([...places.map(listPlaces), listDocuments()]);
  });
  scopeDocuments.addEventListener("change", listChosen);
  scopeSearch.addEventListener("input", debounced(() => listDocuments(scopeSearch.value)));
  scopeSearch.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
  scopeDialog.addEventListener("close", () => {
    if (scopeDialog.returnValue === "all") clear();
    else tags = [...new Set(scopeTags.value.split(",").map((tag) => tag.trim()).filter(Boolean))];
    scopeLabel.textContent = label();
    onChange();
  });

  /** `/?document=ID` asks about one document, `/?collection=ID` about the documents of a collection. */
  async function startWith(query) {
    const [name, path, chosen] = query.has("document") ? ["document", "/documents", documents] : ["collection", collections.path, collections.chosen];
    if (!query.get(name)) return;
    const item = await get(`${path}/${encodeURIComponent(query.get(name))}`).catch(() => null);
    if (item) chosen.set(item.id, item);
    scopeLabel.textContent = label();
  }

  async function listPlaces({ path, chosen, fewest, field, list }) {
    const { results } = await get(path, { limit: 200 });
    field.hidden = results.length < fewest;
    list.replaceChildren(...results.map((place) => choice(place, chosen)));
  }

  async function listDocuments(search = "") {
    const { results: all } = await get("/documents", { search, limit: 50 });
    const results = all.filter(({ searchable }) => searchable !== "none");
    const found = results.map((document) => choice(document, documents));
    const empty = h("p", { class: "choices-empty" }, search ? t("No document has these words in its name.") : t("There is no document to search yet."));
    scopeDocuments.replaceChildren(...(found.length ? found : [empty]));
    listChosen();
  }

  /** What is chosen stays in sight, whatever is searched for, and can be taken out there. */
  function listChosen() {
    scopeChosen.replaceChildren(...[...documents.values()].map(chosenItem));
  }

  function chosenItem({ id, name }) {
    const remove = () => {
      documents.delete(id);
      listDocuments(scopeSearch.value);
      scopeSearch.focus();
    };
    return h("li", { class: "tag" }, h("span", {}, name), h("button", { class: "tag-remove", type: "button", "aria-label": t("Leave out {name}", { name }), onclick: remove }, icon("x")));
  }

  function label() {
    const tagged = tags.length === 1 ? t("Tag “{tag}”", { tag: tags[0] }) : tags.length ? tPlural("{count} tag", "{count} tags", { count: tags.length }) : null;
    const where = places.map(({ chosen, inWords }) => nameOrCount(chosen, inWords));
    return [nameOrCount(documents, documentCount), ...where, tagged].filter(Boolean).join(" · ") || t("All documents");
  }

  function clear() {
    documents.clear();
    for (const { chosen } of places) chosen.clear();
    tags = [];
    scopeLabel.textContent = label();
  }

  /** Show the scope of a conversation; names are asked for, and of many documents only their number is shown. */
  async function show(saved) {
    clear();
    tags = saved.tags ?? [];
    fill(documents, saved.document_ids);
    for (const { chosen, key } of places) fill(chosen, saved[key]);
    scopeLabel.textContent = label();
    if (documents.size && documents.size <= NAMED) await Promise.all([...documents.keys()].map((id) => name(documents, id, get(`/documents/${id}`))));
    for (const { chosen, path } of places.filter(({ chosen }) => chosen.size)) {
      for (const place of (await get(path, { limit: 200 })).results) if (chosen.has(place.id)) chosen.set(place.id, place);
    }
    scopeLabel.textContent = label();
  }

  const fill = (chosen, ids) => (ids ?? []).forEach((id) => chosen.set(id, { id, name: t("1 chosen") }));

  async function name(chosen, id, asked) {
    const item = await asked.catch(() => ({ id, name: t("A deleted document") }));
    if (chosen.has(id)) chosen.set(id, item);
  }

  return {
    clear,
    show,
    /** Ask only about this document. */
    chooseDocument(document) {
      clear();
      documents.set(document.id, document);
      scopeLabel.textContent = label();
      onChange();
    },
    isNarrow: () => tags.length > 0 || [documents, ...places.map(({ chosen }) => chosen)].some(({ size }) => size),
    /** As the API has it: null narrows nothing. */
    value: () => ({
      document_ids: ids(documents),
      ...Object.fromEntries(places.map(({ key, chosen }) => [key, ids(chosen)])),
      tags: tags.length ? tags : null,
    }),
  };
}

const ids = (chosen) => (chosen.size ? [...chosen.keys()] : null);

function nameOrCount(chosen, inWords) {
  if (chosen.size > 1) return inWords(chosen.size);
  return chosen.values().next().value?.name ?? null;
}

function choice(item, chosen) {
  const box = h("input", { type: "checkbox", checked: chosen.has(item.id) });
  box.addEventListener("change", () => (box.checked ? chosen.set(item.id, item) : chosen.delete(item.id)));
  return h("label", {}, box, h("span", {}, item.name));
}

export function debounced(action, wait = 200) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, wait);
  };
}
