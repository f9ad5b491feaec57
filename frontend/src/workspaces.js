// The list of workspaces: a new one, and deleted ones that come back.
import { post } from "./api.js";
import { parts, toast } from "./dom.js";
import { startFormDialog } from "./form-dialog.js";
import { startImport } from "./workspace-archive.js";

export function startWorkspaces(page) {
  const { create, dialog, import: opener, importDialog, importState } = parts(page);
  startImport(opener, importDialog, importState);
  startFormDialog(dialog, create, async (form) => {
    const { id } = await post("/workspaces", { name: form.elements.name.value.trim() });
    location.assign(`/workspaces/${id}`);
  });
  for (const button of page.querySelectorAll("[data-restore]")) button.addEventListener("click", () => restore(button.dataset));
}

async function restore({ restore: id }) {
  try {
    await post(`/workspaces/${id}/restore`, {});
    location.assign(`/workspaces/${id}`);
  } catch (error) {
    toast(error.message, { error: true });
  }
}
