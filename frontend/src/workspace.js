// What a workspace is called and shared with, and how one leaves it, hands it over or deletes it.
import { del, patch, post } from "./api.js";
import { confirm } from "./confirm.js";
import { parts, toast } from "./dom.js";
import { startFormDialog } from "./form-dialog.js";
import { startExport } from "./workspace-archive.js";
import { t } from "./texts.js";

export function startWorkspace(page) {
  const all = parts(page);
  const { workspace, name, user } = page.dataset;
  const address = `/workspaces/${workspace}`;
  if (all.nameForm) startName(all, address);
  if (all.sharing) startSharing(all.sharing, address);
  if (all.export) startExport(all.export, all.exportState, address);
  all.leave?.addEventListener("click", () => leave(address, name, user));
  if (all.transferDialog) {
    startFormDialog(all.transferDialog, all.transfer, async (form) => {
      await post(`${address}/transfer`, { user_id: Number(form.elements.user_id.value) });
      location.reload();
    });
    startFormDialog(all.deleteDialog, all.delete, async (form) => {
      if (form.elements.name.value.trim() !== name.trim()) throw new Error("That is not the name of this workspace.");
      await del(address);
      location.assign("/workspaces");
    });
  }
}

function startName({ nameForm, nameError }, address) {
  nameForm.addEventListener("submit", async (event) => {
    event.preventDefault();
    nameError.hidden = true;
    try {
      await patch(address, { name: nameForm.elements.name.value.trim() });
      location.reload();
    } catch ({ message }) {
      nameError.textContent = message;
      nameError.hidden = false;
    }
  });
}

function startSharing(box, address) {
  box.addEventListener("change", async () => {
    try {
      await patch(address, { share_with_external_users: box.checked });
      toast(t("Saved."));
    } catch (error) {
      box.checked = !box.checked;
      toast(error.message, { error: true });
    }
  });
}

async function leave(address, name, user) {
  const agreed = await confirm({
    title: t("Leave “{name}”?", { name }),
    text: t("You no longer see its documents. Only an admin of it can let you in again."),
    action: t("Leave"),
  });
  if (!agreed) return;
  try {
    await del(`${address}/members/${user}`);
    location.assign("/workspaces");
  } catch (error) {
    toast(error.message, { error: true });
  }
}
