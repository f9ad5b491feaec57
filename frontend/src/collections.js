// Collections on the page of documents: chosen as a filter, made, renamed, deleted, and filled with what is chosen.
import { del, get, patch, post, withQuery } from "./api.js";
import { confirm } from "./confirm.js";
import { h, icon, toast } from "./dom.js";
import { startFormDialog } from "./form-dialog.js";
import { mayEdit } from "./move.js";
import { FORMATS } from "./locale.js";
import { t } from "./texts.js";

const MOST = 200;

/**
 * `filters()` are those of the list, `workspaces()` a map, `choose(id)` filters by a collection, "" by none, and
 * `act(action)` does something with the chosen documents.
 */
export function startCollections(page, parts, { filters, workspaces, target, choose, act }) {
  const { collections, collectionList, collectionNew, collectionAsk, collectionRename, collectionDelete, bulkCollect } = parts;
  const { collectionDialog, collectionName, collectionTitle, collectDialog, collectForm, collectChoice, collectName, collectNameField, collectError, collectCancel } = parts;
  let known = [];
  let editing = null;

  const chosen = () => known.find(({ id }) => id === filters().collection) ?? null;
  const editable = ({ workspace_id: id }) => mayEdit(workspaces().get(id));

  startFormDialog(collectionDialog, collectionNew, (form) => save(form.elements.name.value));
  collectionNew.addEventListener("click", () => entitle(null));
  collectionRename.addEventListener("click", () => {
    collectionNew.click();
    entitle(chosen());
  });
  collectionDelete.addEventListener("click", () => remove(chosen()));
  bulkCollect.addEventListener("click", openCollect);
  collectCancel.addEventListener("click", () => collectDialog.close());
  collectChoice.addEventListener("change", suitChoice);
  collectForm.addEventListener("submit", (event) => {
    event.preventDefault();
    collect(event.submitter?.value ?? "add_to_collection").catch(({ message }) => showCollectError(message));
  });

  function entitle(collection) {
    editing = collection;
    collectionTitle.textContent = collection ? t("Rename “{name}”", { name: collection.name }) : t("New collection");
    collectionName.value = collection?.name ?? "";
    collectionName.select();
  }

  async function save(name) {
    if (editing) await patch(`/collections/${editing.id}`, { name });
    else choose((await post("/collections", { name, workspace_id: target()?.id })).id);
    await load();
    return true;
  }

  async function remove(collection) {
    const agreed = await confirm({
      title: t("Delete the collection “{name}”?", { name: collection.name }),
      text: t("Its documents stay. They are no longer grouped by it."),
      action: t("Delete collection"),
    });
    if (!agreed) return;
    try {
      await del(`/collections/${collection.id}`);
      choose("");
      await load();
    } catch (error) {
      toast(error.message, { error: true });
    }
  }

  /** Ask for the collection of the chosen documents: one that there is, or a new one. */
  function openCollect() {
    const options = known.filter(editable).map(({ id, name }) => new Option(name, id));
    collectForm.reset();
    collectChoice.replaceChildren(...options, new Option(t("New collection…"), ""));
    collectChoice.value = chosen()?.id ?? options[0]?.value ?? "";
    showCollectError("");
    suitChoice();
    collectDialog.showModal();
  }

  function suitChoice() {
    collectNameField.hidden = Boolean(collectChoice.value);
    collectName.required = !collectChoice.value;
  }

  async function collect(action) {
    let id = collectChoice.value;
    let name = collectChoice.selectedOptions[0].textContent;
    if (!id) {
      if (action === "remove_from_collection") return showCollectError(t("Choose the collection to take them out of."));
      ({ id, name } = await post("/collections", { name: collectName.value, workspace_id: target()?.id }));
    }
    collectDialog.close();
    await act({ action, collection_id: id }, action === "add_to_collection" ? t("added to “{name}”", { name }) : t("taken out of “{name}”", { name }));
    return load();
  }

  function showCollectError(message) {
    collectError.textContent = message;
    collectError.hidden = !message;
  }

  async function load() {
    const { results } = await get(withQuery("/collections", { workspace_id: filters().workspace, limit: MOST }));
    known = results;
    // A link may name one that is gone.
    if (filters().collection && !chosen()) choose("");
    show();
  }

  function show() {
    const here = chosen();
    const mayMake = Boolean(target());
    collections.hidden = !known.length && !mayMake;
    collectionNew.hidden = !mayMake;
    collectionList.replaceChildren(...(known.length ? [chip({ id: "", name: t("All documents") }), ...known.map(chip)] : []));
    for (const button of [collectionRename, collectionDelete]) button.hidden = !here || !editable(here);
    collectionAsk.hidden = !here;
    if (here) collectionAsk.search = new URLSearchParams({ collection: here.id });
    collectionList.querySelector("[aria-pressed=true]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  function chip({ id, name, documents }) {
    const count = documents === undefined ? null : h("span", { class: "collection-count" }, documents.toLocaleString(FORMATS));
    const pressed = (filters().collection || "") === id;
    return h("button", { class: "collection", type: "button", "aria-pressed": String(pressed), "data-collection": id, onclick: () => choose(id) }, id ? icon("library") : null, h("span", {}, name), count);
  }

  return { load, show, chosen };
}
