// Files for one conversation only: chosen, pasted into the question, or dropped anywhere on the page.
import { del, get, upload } from "./api.js";
import { h, icon, toast } from "./dom.js";
import { filesOf } from "./dropped-files.js";
import { t, translated } from "./texts.js";

const BUSY = ["queued", "extracting", "indexing"];
const POLL_MS = 1500;

/** `session()` resolves to the conversation, which is begun if there is none; `parts` are those of the page. */
export function startAttachments({ attach, attachFiles, attached, composer, question }, { session, isOpen }) {
  for (const item of attached.querySelectorAll("[data-document]")) adopt(item);
  attach.addEventListener("click", () => attachFiles.click());
  attachFiles.addEventListener("change", () => {
    send([...attachFiles.files].map((file) => ({ file })));
    attachFiles.value = "";
  });
  question.addEventListener("paste", (event) => {
    if (!isOpen() || !event.clipboardData.files.length) return;
    event.preventDefault();
    sendFrom(event.clipboardData);
  });
  const hasFiles = (event) => isOpen() && event.dataTransfer?.types.includes("Files") && !event.defaultPrevented;
  // What is taken here is not sent elsewhere: chrome.js listens on the window, which comes after the document.
  document.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    composer.classList.add("is-over");
  });
  document.addEventListener("dragleave", ({ relatedTarget }) => relatedTarget || composer.classList.remove("is-over"));
  document.addEventListener("drop", (event) => {
    composer.classList.remove("is-over");
    if (!hasFiles(event)) return;
    event.preventDefault();
    sendFrom(event.dataTransfer);
  });

  async function sendFrom(transfer) {
    const files = await filesOf(transfer);
    if (files.length) send(files);
  }

  async function send(files) {
    for (const each of files) await sendOne(each);
  }

  async function sendOne({ file }) {
    const bar = h("progress", { max: 1, value: 0, "aria-label": t("Upload of {name}", { name: file.name }) });
    const item = chip(file.name, [bar]);
    attached.append(item);
    try {
      const form = new FormData();
      form.append("session_id", (await session()).id);
      form.append("files", file);
      const { documents } = await upload("/documents", form, (share) => (bar.value = share));
      show(item, documents[0]);
      await watch(item, documents[0]);
    } catch (error) {
      item.remove();
      toast(`“${file.name}”: ${error.message}`, { error: true });
    }
  }

  /** A file that was attached before this page was opened. */
  function adopt(item) {
    const document = { id: item.dataset.document, name: item.dataset.name, status: item.dataset.status };
    show(item, document);
    watch(item, document);
  }

  async function watch(item, document) {
    let current = document;
    while (BUSY.includes(current.status) && item.isConnected) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      current = await get(`/documents/${document.id}`).catch(() => current);
      if (item.isConnected) show(item, current);
    }
  }

  function show(item, { id, name, status, error }) {
    const words = BUSY.includes(status) ? t("being read") : status === "failed" ? t("can’t be read") : "";
    item.classList.toggle("is-failed", status === "failed");
    item.title = translated(error?.message) ?? "";
    item.replaceChildren(icon("paperclip"), h("a", { href: `/documents/${id}` }, name), words ? h("span", { class: "attached-state", role: "status" }, words) : "", removeButton(item, id, name));
  }

  function removeButton(item, id, name) {
    const remove = async () => {
      try {
        await del(`/documents/${id}`);
        item.remove();
        question.focus();
      } catch (error) {
        toast(error.message, { error: true });
      }
    };
    return h("button", { class: "tag-remove", type: "button", "aria-label": t("Remove {name}", { name }), onclick: remove }, icon("x"));
  }

  return {
    /** A new conversation has no files. */
    clear: () => attached.replaceChildren(),
    isReading: () => attached.querySelector(".attached-state, progress") !== null,
  };
}

const chip = (name, more) => h("li", { class: "tag attached-file" }, icon("paperclip"), h("span", {}, name), more);
