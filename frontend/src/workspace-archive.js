// A workspace as a file: its export is followed until it can be downloaded, its import until it is there.
import { get, post, upload } from "./api.js";
import { h, toast } from "./dom.js";
import { startFormDialog } from "./form-dialog.js";
import { bytes, moment } from "./format.js";
import { t } from "./texts.js";

const LOOK_EVERY_MS = 1000;

/** Show the newest export. One that is under way is followed, whether this page has begun it or not. */
export function startExport(button, state, address) {
  const show = async (found) => {
    button.disabled = true;
    try {
      const begun = await found();
      if (begun) showExport(await follow(begun, `${address}/exports`, state, t("Exporting")), state);
    } catch ({ message }) {
      showNote(state, message, "field-error");
    } finally {
      button.disabled = false;
    }
  };
  button.addEventListener("click", async () => {
    await show(() => post(`${address}/export`));
    // The button has lost the focus: it was disabled meanwhile.
    if (document.activeElement === document.body) (state.querySelector("a") ?? button).focus();
  });
  show(async () => (await get(`${address}/exports`, { limit: 1 })).results[0]);
}

export function startImport(opener, dialog, state) {
  const send = dialog.querySelector("[type=submit]");
  startFormDialog(dialog, opener, async (form) => {
    const sent = new FormData();
    sent.append("file", form.elements.file.files[0]);
    const name = form.elements.name.value.trim();
    if (name) sent.append("name", name);
    send.disabled = true;
    try {
      const begun = await upload("/workspaces/import", sent, (part) => {
        showNote(state, t("Sending: {percent} %…", { percent: Math.floor(part * 100) }));
      });
      const address = `/workspaces/${begun.workspace_id}`;
      const ended = await follow(begun, `${address}/imports`, state, t("Importing"));
      if (ended.status === "failed") throw new Error(`${ended.error} What could be read is in the new workspace.`);
      if (dialog.open) location.assign(address);
      else toast(t("The workspace is imported. Reload this page to see it."));
    } catch (error) {
      if (dialog.open) throw error;
      // Who has closed the dialog does not see what it says.
      toast(error.message, { error: true });
    } finally {
      state.replaceChildren();
      send.disabled = false;
    }
  });
}

/** Show how far a transfer is until it has ended; return it then. */
async function follow(begun, address, state, doing) {
  for (let found = begun; ; found = await get(`${address}/${begun.id}`)) {
    if (found.status === "completed" || found.status === "failed") return found;
    showProgress(found, state, doing);
    await new Promise((done) => setTimeout(done, LOOK_EVERY_MS));
  }
}

function showProgress({ documents_done: done, documents_total: total }, state, doing) {
  const bar = h("progress", { "aria-label": doing, max: total || null, value: total ? done : null });
  showNote(state, total ? t("{doing}: {done} of {total} documents…", { doing, done, total }) : `${doing}…`);
  state.append(bar);
}

function showExport({ status, error, created_at: from, size, expires_at: until, download_url: file }, state) {
  if (status === "failed") return showNote(state, t("The export of {moment} failed. {error}", { moment: moment(from), error }), "field-error");
  // One that has expired is of no use to anybody.
  if (!file) return state.replaceChildren();
  const volume = bytes(size).replace(" ", "\u00a0");
  showNote(state, t("The export of {moment} is ready, {volume}. It is kept until {moment2}.", { moment: moment(from), volume, moment2: moment(until) }));
  state.append(h("a", { class: "button button-small", href: file }, t("Download the export")));
}

function showNote(state, words, style = null) {
  state.replaceChildren(h("p", { class: style }, words));
}
