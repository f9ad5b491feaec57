// Where to look: all documents, some workspaces, or single documents.
import { get } from "./api.js";
import { h, icon } from "./dom.js";
import { counted } from "./format.js";

export function startScope(parts) {
  const { scope, scopeDialog, scopeSearch, scopeChosen, scopeDocuments, scopeWorkspaces, scopeWorkspacesField, scopeLabel } = parts;
  const documents = new Map();
  const workspaces = new Map();

  startWith(new URLSearchParams(location.search).get("document"));

  scope.addEventListener("click", async () => {
    scopeDialog.showModal();
    scopeSearch.value = "";
    await Promise.all([listWorkspaces(), listDocuments()]);
  });
  scopeDocuments.addEventListener("change", listChosen);
  scopeSearch.addEventListener("input", debounced(() => listDocuments(scopeSearch.value)));
  scopeSearch.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
  scopeDialog.addEventListener("close", () => {
    if (scopeDialog.returnValue === "all") {
      documents.clear();
      workspaces.clear();
    }
    scopeLabel.textContent = label();
  });

  /** `/?document=ID` asks about one document. */
  async function startWith(id) {
    if (!id) return;
    const document = await get(`/documents/${encodeURIComponent(id)}`).catch(() => null);
    if (document) documents.set(document.id, document);
    scopeLabel.textContent = label();
  }

  async function listWorkspaces() {
    const { results } = await get("/workspaces", { limit: 200 });
    scopeWorkspacesField.hidden = results.length < 2;
    scopeWorkspaces.replaceChildren(...results.map((workspace) => choice(workspace, workspaces)));
  }

  async function listDocuments(search = "") {
    const { results: all } = await get("/documents", { search, limit: 50 });
    const results = all.filter(({ searchable }) => searchable !== "none");
    const found = results.map((document) => choice(document, documents));
    const empty = h("p", { class: "choices-empty" }, search ? "No document has these words in its name." : "There is no document to search yet.");
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
    return h("li", { class: "tag" }, h("span", {}, name), h("button", { class: "tag-remove", type: "button", "aria-label": `Leave out ${name}`, onclick: remove }, icon("x")));
  }

  function label() {
    if (documents.size === 1) return [...documents.values()][0].name;
    if (documents.size) return counted(documents.size, "document");
    if (workspaces.size === 1) return [...workspaces.values()][0].name;
    return workspaces.size ? counted(workspaces.size, "workspace") : "All documents";
  }

  return {
    inputs: () => ({
      ...(documents.size && { document_ids: [...documents.keys()] }),
      ...(workspaces.size && { workspace_ids: [...workspaces.keys()] }),
    }),
  };
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
