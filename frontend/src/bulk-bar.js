// The bar that appears when documents are chosen: what can be done with all of them.
import { runBulk } from "./bulk.js";
import { FORMATS } from "./locale.js";
import { toast } from "./dom.js";
import { documentCount } from "./format.js";
import { chooseWorkspace } from "./move.js";
import { t, tPlural } from "./texts.js";

/** `loaded()` are the ids that can be chosen, `matching()` is how many documents the filters match in all. */
export function startBulkBar(page, parts, { selection, filter, loaded, matching, targets, onGone, onChanged }) {
  const { bulkBar, bulkCount, bulkAll, bulkTag, bulkMove, bulkReprocess, bulkDelete, bulkClear, tagDialog, tagForm, tagError, tagCancel } = parts;
  const undoSecs = Number(page.dataset.undoSecs);

  bulkAll.addEventListener("click", () => selection.chooseAll(loaded()));
  bulkClear.addEventListener("click", () => selection.clear());
  bulkDelete.addEventListener("click", () => remove());
  bulkReprocess.addEventListener("click", () => run({ action: "reprocess" }, t("will be processed again")));
  bulkMove.addEventListener("click", async () => {
    const id = await chooseWorkspace(howMany(), targets());
    if (id) run({ action: "move", workspace_id: id }, t("moved to {workspace}", { workspace: targets().find((one) => one.id === id).name }));
  });
  bulkTag.addEventListener("click", () => {
    tagForm.reset();
    tagError.hidden = true;
    tagDialog.showModal();
  });
  tagCancel.addEventListener("click", () => tagDialog.close());
  tagForm.addEventListener("submit", (event) => {
    event.preventDefault();
    const tags = tagForm.elements.tags.value.split(",").map((tag) => tag.trim()).filter(Boolean);
    tagError.hidden = tags.length > 0;
    if (!tags.length) return;
    tagDialog.close();
    const removes = event.submitter?.value === "remove_tags";
    run({ action: removes ? "remove_tags" : "add_tags", tags }, removes ? t("no longer tagged") : t("tagged"));
  });

  const howMany = () => documentCount(selection.isAll ? Number(matching()) : selection.size);
  const chosen = () => (selection.isAll ? { filter: filter() } : { ids: selection.ids });

  async function run(action, done) {
    const result = await attempt(chosen(), action);
    if (!result) return;
    if (result.changed.length) toast(t("{documents} {done}.", { documents: documentCount(result.changed.length), done }));
    selection.clear();
    onChanged();
  }

  /** Delete documents, by default those that are chosen, so that it can be undone for a while. */
  async function remove(documents = null) {
    const result = await attempt(documents ? { ids: documents.map(({ id }) => id) } : chosen(), { action: "delete", delay_secs: undoSecs });
    if (!result?.changed.length) return;
    onGone(result.changed);
    if (!documents) {
      selection.clear();
      onChanged();
    }
    const what = documents ? `“${documents[0].name}”` : documentCount(result.changed.length);
    if (!undoSecs) return toast(t("Deleted {what}.", { what }));
    const undo = { label: t("Undo"), onclick: () => restore(result.changed) };
    return toast(t("Deleted {what}.", { what }), { action: undo, ms: undoSecs * 1000 - 1000 });
  }

  async function restore(ids) {
    const result = await attempt({ ids }, { action: "restore" });
    if (result?.changed.length) toast(tPlural("{count} document restored.", "{count} documents restored.", { count: result.changed.length }));
    onChanged();
  }

  async function attempt(which, action) {
    bulkBar.setAttribute("aria-busy", "true");
    try {
      const total = which.ids?.length ?? Number(matching());
      const result = await runBulk(which, action, (count) => (bulkCount.textContent = total > 100 ? `${t("{number} of {total}", { number: count.toLocaleString(FORMATS), total: total.toLocaleString(FORMATS) })} …` : bulkCount.textContent));
      const [first] = result.failed;
      if (first) toast(result.failed.length === 1 ? first.message : `${tPlural("{count} document could not be changed.", "{count} documents could not be changed.", { count: result.failed.length })} ${first.message}`, { error: true });
      return result;
    } catch (error) {
      toast(error.message, { error: true });
      return null;
    } finally {
      bulkBar.removeAttribute("aria-busy");
      show();
    }
  }

  function show() {
    bulkBar.hidden = selection.size === 0 && !selection.isAll;
    bulkCount.textContent = t("{documents} chosen", { documents: howMany() });
    const all = Number(matching());
    bulkAll.hidden = selection.isAll || selection.size < loaded().length || all <= selection.size;
    bulkAll.textContent = t("Choose all {number} that match", { number: all.toLocaleString(FORMATS) });
    bulkMove.hidden = targets().length < 2;
  }

  return { show, remove, run };
}
