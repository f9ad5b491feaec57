// What a new user sees below the first question: questions about the guide, a place for files, and what else there is.
import { get, patch, upload } from "./api.js";
import { h, parts, toast } from "./dom.js";
import { bytes } from "./format.js";
import { t } from "./texts.js";

const BUSY = ["queued", "extracting", "indexing"];
const POLL_MS = 1500;

export function startFirstSteps(section) {
  const all = parts(section);
  all.closeSteps.addEventListener("click", () => close(section));
  for (const button of section.querySelectorAll("[data-question]")) button.addEventListener("click", () => ask(button.dataset.question));
  if (all.guide) watchGuide(all.guide, all.guideNote);
  startDropArea(section.dataset.workspace, all);
}

async function close(section) {
  section.remove();
  document.querySelector("[data-part=question]")?.focus();
  // If this fails, the cards are back the next time; nothing else is lost.
  await patch("/me", { shows_welcome: false }).catch(() => {});
}

/** Ask as if the reader had typed it, of documents and not of the web. */
function ask(question) {
  const documents = document.querySelector("[name=where][value=rag_search]");
  if (documents && !documents.checked) documents.click();
  const field = document.querySelector("[data-part=question]");
  field.value = question;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.form.requestSubmit();
}

/** The worker needs some seconds for the guide: until then its questions would find nothing. */
async function watchGuide(card, note) {
  let { status } = card.dataset;
  const buttons = card.querySelectorAll("[data-question]");
  while (BUSY.includes(status)) {
    show(t("The guide is being read. This takes a few seconds."));
    for (const button of buttons) button.disabled = true;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    if (!card.isConnected) return;
    status = await get(`/documents/${card.dataset.document}`).then((document) => document.status, () => status);
  }
  for (const button of buttons) button.disabled = status === "failed";
  if (status === "failed") show(t("The guide could not be read. Its page says why."));
  else note.hidden = true;

  function show(words) {
    note.hidden = false;
    if (note.textContent !== words) note.textContent = words;
  }
}

function startDropArea(workspace, { dropArea, stepFiles, stepUploads }) {
  const send = async (files) => {
    for (const file of files) await sendOne(workspace, file, stepUploads);
  };
  stepFiles.addEventListener("change", () => {
    send([...stepFiles.files]);
    stepFiles.value = "";
  });
  dropArea.addEventListener("dragover", (event) => {
    event.preventDefault();
    dropArea.classList.add("is-over");
  });
  dropArea.addEventListener("dragleave", () => dropArea.classList.remove("is-over"));
  dropArea.addEventListener("drop", (event) => {
    event.preventDefault();
    event.stopPropagation();
    dropArea.classList.remove("is-over");
    send([...event.dataTransfer.files]);
  });
}

async function sendOne(workspace, file, uploads) {
  const bar = h("progress", { max: 1, value: 0, "aria-label": t("Upload of {name}", { name: file.name }) });
  const words = h("span", { class: "upload-words" }, t("Uploading, {bytes}", { bytes: bytes(file.size) }));
  const line = h("div", { class: "upload" }, h("span", { class: "upload-name" }, file.name), words, bar);
  uploads.append(line);
  const form = new FormData();
  form.append("workspace_id", workspace);
  form.append("files", file);
  try {
    const { documents } = await upload("/documents", form, (share) => (bar.value = share));
    words.replaceChildren(h("a", { href: `/documents/${documents[0].id}` }, t("Added: see it")));
  } catch (error) {
    line.classList.add("is-failed");
    words.textContent = error.message;
    toast(error.message, { error: true });
  } finally {
    bar.remove();
  }
}
