// Files into the workspace, by button or by dropping them anywhere on the page, and web pages by their addresses.
import { upload } from "./api.js";
import { filesOf, sendFile } from "./dropped-files.js";
import { h, icon, toast } from "./dom.js";
import { bytes } from "./format.js";
import { askPassword } from "./unlock.js";
import { addressesIn } from "./web-pages.js";
import { t, tPlural } from "./texts.js";

/** Returns `add({files, addresses}, workspaceId)`, for what comes in another way. */
export function startUploads(page, { files, photo, uploads, webPages, addresses, addressError, dropHint, dropTarget }, { workspace, collection, onAdded, onRefused }) {
  for (const input of [files, photo]) {
    input.addEventListener("change", () => {
      sendFiles([...input.files].map((file) => ({ file, folder: "" })));
      input.value = "";
    });
  }
  webPages.addEventListener("submit", (event) => {
    event.preventDefault();
    const { addresses: given, refused } = addressesIn(addresses.value);
    showRefused(refused);
    if (refused.length) return addresses.focus();
    addresses.value = "";
    sendPages(given);
  });
  addresses.addEventListener("input", () => showRefused([]));
  addresses.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    webPages.requestSubmit();
  });
  onDrop(page, dropHint, {
    onEnter: () => (dropTarget.textContent = workspace() ? ` ${t("to “{workspace}”", { workspace: (collection() ?? workspace()).name })}` : ""),
    mayDrop: () => workspace() !== null,
    onFiles: (chosen) => sendFiles(chosen),
    onRefused,
  });
  return async (shared, workspaceId) => {
    const where = { workspace_id: workspaceId };
    await sendFiles(shared.files.map((file) => ({ file, folder: "" })), where);
    await sendPages(shared.addresses, where);
  };

  function showRefused(refused) {
    addressError.hidden = !refused.length;
    addressError.textContent = refused.length ? t("“{text}” is not the address of a web page. Write one address on each line, such as https://example.org/page.", { text: refused[0] }) : "";
    addresses.setAttribute("aria-invalid", String(refused.length > 0));
  }

  /** Where what is added goes: the fields of an upload. */
  function place() {
    return { ...(workspace() ? { workspace_id: workspace().id } : {}), ...(collection() ? { collection_id: collection().id } : {}) };
  }

  function sendFiles(chosen, where = place()) {
    return sendAll(
      chosen.map((one) => {
        const line = uploadLine(one.file.name, t("Uploading, {bytes}", { bytes: bytes(one.file.size) }));
        return [(password) => sendFile(one, where, line.progress, password), line];
      }),
    );
  }

  function sendPages(urls, where = place()) {
    return sendAll(urls.map((url) => [() => sendPage(url, where), uploadLine(url, t("Adding"))]));
  }

  /** Send a protected archive once more, with its password. */
  async function retryWith(send, line) {
    const documents = await askPassword(line.name, send);
    if (!documents) return;
    line.element.remove();
    onAdded(documents);
  }

  async function sendPage(url, where) {
    const form = new FormData();
    for (const [name, id] of Object.entries(where)) form.append(name, id);
    form.append("urls", url);
    return (await upload("/documents", form, () => {})).documents;
  }

  /** One request for each: one that is refused doesn't take the others with it. */
  async function sendAll(chosen) {
    uploads.append(...chosen.map(([, line]) => line.element));
    const known = [];
    for (const [send, line] of chosen) {
      try {
        const documents = await send();
        line.element.remove();
        onAdded(documents);
        known.push(...documents.filter(({ duplicate }) => duplicate));
      } catch (error) {
        line.fail(error.message);
        if (error.code === "password_required") line.offer(t("Enter password…"), () => retryWith(send, line));
      }
    }
    if (known.length) toast(known.length === 1 ? t("“{name}” was here already.", { name: known[0].name }) : tPlural("{count} document was here already.", "{count} documents were here already.", { count: known.length }));
  }
}

function uploadLine(name, doing) {
  const bar = h("progress", { max: 1, value: 0, "aria-label": t("Upload of {name}", { name }) });
  const words = h("span", { class: "upload-words" }, doing);
  const element = h("div", { class: "upload" }, h("span", { class: "upload-name" }, name), words, bar);
  return {
    element,
    name,
    offer: (label, onclick) => words.append(" ", h("button", { class: "button button-small", type: "button", onclick }, icon("lock-keyhole-open"), label)),
    progress: (share) => {
      bar.value = share;
      if (share === 1) words.textContent = t("Storing");
    },
    fail: (message) => {
      const close = h("button", { class: "icon-button", type: "button", "aria-label": t("Dismiss {name}", { name }), onclick: () => element.remove() }, icon("x"));
      element.classList.add("is-failed");
      element.setAttribute("role", "alert");
      words.textContent = message;
      bar.replaceWith(close);
    },
  };
}

function onDrop(page, hint, { mayDrop, onEnter, onFiles, onRefused }) {
  let depth = 0;
  const show = (visible) => {
    if (visible) onEnter();
    hint.hidden = !visible;
  };
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragenter", (event) => {
    if (!hasFiles(event)) return;
    depth += 1;
    show(mayDrop());
  });
  document.addEventListener("dragleave", (event) => {
    if (!hasFiles(event)) return;
    depth -= 1;
    if (depth <= 0) show(false);
  });
  document.addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  document.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth = 0;
    show(false);
    if (!mayDrop()) return onRefused();
    filesOf(event.dataTransfer).then(onFiles);
  });
  document.addEventListener("paste", (event) => {
    if (!event.clipboardData?.files.length || event.target.closest("input, textarea")) return;
    event.preventDefault();
    if (!mayDrop()) return onRefused();
    filesOf(event.clipboardData).then(onFiles);
  });
}
