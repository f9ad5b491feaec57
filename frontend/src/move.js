import { h } from "./dom.js";
import { t } from "./texts.js";

export const mayEdit = (workspace) => Boolean(workspace) && workspace.role !== "viewer";

/** What a viewer is told in place of buttons that would be refused. */
export const readOnlyWords = ({ name }) => t("You can read and ask in “{name}”. To change its documents, ask an admin of it for the role editor.", { name });

/** The workspaces to which a document can move: editors of both may. */
export const targetsOf = (document, workspaces) => [...workspaces.values()].filter((one) => mayEdit(one) && one.id !== document.workspace_id);

/** Ask where “a document” or “3 documents” go; resolves to the workspace's id, or null. */
export function chooseWorkspace(what, targets) {
  const dialog = document.querySelector("[data-move]");
  const select = dialog.querySelector("select");
  dialog.querySelector("h2").textContent = t("Move {what}", { what });
  select.replaceChildren(...targets.map(({ id, name }) => h("option", { value: id }, name)));
  dialog.returnValue = "cancel";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "move" ? select.value : null), { once: true });
  });
}
