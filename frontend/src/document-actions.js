// What the list does to one document: cancel, process again, move, unlock, replace.
import { patch, post } from "./api.js";
import { toast } from "./dom.js";
import { chooseWorkspace } from "./move.js";
import { chooseReplacement, replaceFile } from "./replace-file.js";
import { t } from "./texts.js";
import { askPassword } from "./unlock.js";

/** The handlers of a row or card; `targets` are the workspaces to which the document can move, `onUpdate(document)` gets
 * what became of it. */
export function changesOf(document, { targets, onUpdate }) {
  const attempt = async (action) => {
    try {
      const changed = await action();
      if (changed) onUpdate(changed);
    } catch (error) {
      toast(error.message, { error: true });
    }
  };
  return {
    onCancel: () => attempt(() => post(`/documents/${document.id}/cancel`, {})),
    onReprocess: () => attempt(() => post(`/documents/${document.id}/reprocess`, {})),
    onMove: targets.length ? () => attempt(() => move(document, targets)) : null,
    onUnlock: () => attempt(() => askPassword(document.name, (password) => post(`/documents/${document.id}/unlock`, { password }))),
    onReplaceSound: () => attempt(() => replaceSound(document)),
    onReplace: (file) => attempt(() => replaceFile(document, file)),
  };
}

async function move(document, targets) {
  const id = await chooseWorkspace(`“${document.name}”`, targets);
  if (!id) return null;
  const moved = await patch(`/documents/${document.id}`, { workspace_id: id });
  toast(t("“{name}” is in {workspace} now.", { name: document.name, workspace: targets.find((one) => one.id === id).name }));
  return moved;
}

async function replaceSound(document) {
  const file = await chooseReplacement(document);
  return file ? replaceFile(document, file) : null;
}
