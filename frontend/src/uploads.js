// Files into the workspace, by button or by dropping them anywhere on the page, and web pages by their addresses.
import { upload } from "./api.js";
import { h, icon, toast } from "./dom.js";
import { bytes, counted } from "./format.js";
import { addressesIn } from "./web-pages.js";

export function startUploads(page, { files, uploads, webPages, addresses, addressError, dropHint, dropTarget }, { workspace, onAdded }) {
  files.addEventListener("change", () => {
    sendFiles([...files.files]);
    files.value = "";
  });
  webPages.addEventListener("submit", (event) => {
    event.preventDefault();
    const { addresses: given, refused } = addressesIn(addresses.value);
    showRefused(refused);
    if (refused.length) return addresses.focus();
    addresses.value = "";
    sendAll(given.map((url) => ["urls", url, uploadLine(url, "Adding")]));
  });
  addresses.addEventListener("input", () => showRefused([]));
  addresses.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    webPages.requestSubmit();
  });
  onDrop(page, dropHint, {
    onEnter: () => (dropTarget.textContent = workspace() ? ` to “${workspace().name}”` : ""),
    onFiles: sendFiles,
  });

  function showRefused(refused) {
    addressError.hidden = !refused.length;
    addressError.textContent = refused.length ? `“${refused[0]}” is not the address of a web page. Write one address on each line, such as https://example.org/page.` : "";
    addresses.setAttribute("aria-invalid", String(refused.length > 0));
  }

  function sendFiles(chosen) {
    sendAll(chosen.map((file) => ["files", file, uploadLine(file.name, `Uploading, ${bytes(file.size)}`)]));
  }

  /** One request for each: one that is refused doesn't take the others with it. */
  async function sendAll(chosen) {
    uploads.append(...chosen.map(([, , line]) => line.element));
    const results = [];
    for (const one of chosen) results.push(await sendOne(...one));
    const known = results.filter((document) => document?.duplicate);
    if (known.length) toast(known.length === 1 ? `“${known[0].name}” was here already.` : `${counted(known.length, "document")} were here already.`);
  }

  async function sendOne(field, value, line) {
    const form = new FormData();
    if (workspace()) form.append("workspace_id", workspace().id);
    form.append(field, value);
    try {
      const { documents } = await upload("/documents", form, line.progress);
      line.element.remove();
      onAdded(documents);
      return documents[0];
    } catch (error) {
      line.fail(error.message);
      return null;
    }
  }
}

function uploadLine(name, doing) {
  const bar = h("progress", { max: 1, value: 0, "aria-label": `Upload of ${name}` });
  const words = h("span", { class: "upload-words" }, doing);
  const element = h("div", { class: "upload" }, h("span", { class: "upload-name" }, name), words, bar);
  return {
    element,
    progress: (share) => {
      bar.value = share;
      if (share === 1) words.textContent = "Storing";
    },
    fail: (message) => {
      const close = h("button", { class: "icon-button", type: "button", "aria-label": `Dismiss ${name}`, onclick: () => element.remove() }, icon("x"));
      element.classList.add("is-failed");
      element.setAttribute("role", "alert");
      words.textContent = message;
      bar.replaceWith(close);
    },
  };
}

function onDrop(page, hint, { onEnter, onFiles }) {
  let depth = 0;
  const show = (visible) => {
    if (visible) onEnter();
    hint.hidden = !visible;
  };
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragenter", (event) => {
    if (!hasFiles(event)) return;
    depth += 1;
    show(true);
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
    onFiles([...event.dataTransfer.files]);
  });
}
