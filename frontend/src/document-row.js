import { countOf, findableWords, remedyOf, statusOf } from "./activity.js";
import { h, icon } from "./dom.js";
import { bytes, lengthOf } from "./format.js";
import { replaceButton } from "./replace-file.js";
import { since } from "./since.js";

const SHOWN_NOTES = 2;

function numberCell(label, words) {
  return h("td", { class: words ? "number" : "number is-blank", "data-label": label }, words || "–");
}

/** Zero chunks says no more than the status beside it. */
const chunksOf = ({ chunk_count: chunks }) => (chunks ? chunks.toLocaleString("en") : "");

/** A web page has no size before it is fetched. */
export const sizeOf = ({ size, url }) => (size || !url ? bytes(size) : "");

/** One document as a table row; `depth` is how deep it is attached to the row above. */
export function rowOf(document, workspace, depth, actions) {
  const { id, created_at: created } = document;
  const mayEdit = workspace?.role !== "viewer";
  return h(
    "tr",
    { "data-document": id, class: depth ? "is-attachment" : null },
    h("td", { class: "cell-name" }, nameOf(document, depth)),
    h("td", { "data-label": "Workspace", "data-workspace-column": true }, workspace?.name ?? ""),
    h("td", { class: "cell-status" }, statusCell(document, mayEdit ? actions : null)),
    numberCell("", lengthOf(document)),
    numberCell("Chunks", chunksOf(document)),
    numberCell("Size", sizeOf(document)),
    h("td", { class: "cell-when", "data-label": "Added" }, since(created)),
    h("td", { class: "cell-actions" }, mayEdit ? actionsOf(document, actions) : null),
  );
}

export const kindOf = ({ file_type: type, name, url }) => type || (url && "web") || (name.includes(".") ? name.split(".").at(-1) : "file");

function nameOf(document, depth) {
  const { id, name, url, attached_to: attachedTo } = document;
  const badge = h("span", { class: "kind", "aria-hidden": "true" }, kindOf(document).slice(0, 4));
  const notes = [];
  if (attachedTo && depth) notes.push(h("p", { class: "name-note" }, icon("paperclip"), "Attached"));
  if (attachedTo && !depth) notes.push(h("p", { class: "name-note" }, icon("paperclip"), h("a", { href: `/documents/${attachedTo}` }, "Attached to a message")));
  if (url && url !== name) notes.push(h("p", { class: "name-note" }, icon("globe"), hostOf(url)));
  return h("div", { class: "named" }, badge, h("div", {}, h("a", { href: `/documents/${id}`, "data-action": "open" }, name), notes));
}

export function hostOf(url) {
  return URL.canParse(url) ? new URL(url).host : url;
}

function statusCell(document, actions) {
  const { words, tone, busy } = statusOf(document);
  const findable = findableWords(document);
  return [
    h("p", { class: "status-line" }, h("span", { class: `status status-${tone}` }, words), findable ? h("span", { class: "badge" }, findable) : null),
    busy ? progressOf(document) : null,
    ...notesOf(document),
    actions ? remedyButton(document, actions) : null,
  ];
}

/** What went wrong and what to do about it; the rest of many warnings is on the document's page. */
function notesOf({ id, error, warnings }) {
  const notes = [error?.message, ...(warnings ?? []).map(({ message }) => message)].filter(Boolean);
  const shown = notes.slice(0, SHOWN_NOTES).map((note) => h("p", { class: "status-note" }, note));
  const more = notes.length - shown.length;
  return more > 0 ? [...shown, h("p", { class: "status-note" }, h("a", { href: `/documents/${id}` }, `${more} more`))] : shown;
}

/** The bar, and what it stands for in words. */
export function progressOf(document) {
  const { name, progress, status } = document;
  const count = countOf(document);
  const words = [statusOf(document).words, count].filter(Boolean).join(": ");
  const bar = h("progress", { max: 1, "aria-label": `Progress of ${name}`, "aria-valuetext": words });
  if (status !== "queued") bar.value = progress;
  return h("div", { class: "progressing" }, bar, count ? h("p", { class: "status-count" }, count) : null);
}

function remedyButton(document, { onReprocess, onReplace }) {
  const remedy = remedyOf(document);
  if (remedy === "retry") return retryButton(document, onReprocess);
  return remedy === "replace" ? replaceButton(document, onReplace) : null;
}

function retryButton({ name }, onclick) {
  return h("button", { class: "button button-small button-quiet", type: "button", "data-action": "reprocess", "aria-label": `Try again: ${name}`, onclick }, icon("refresh-cw"), "Try again");
}

/** Symbols at the row's end: a row that is finished must not shrink under the pointer, and take those below it along. */
function actionsOf(document, { onCancel, onDelete }) {
  const remove = iconButton("delete", "trash-2", `Delete ${document.name}`, onDelete);
  return statusOf(document).busy ? [iconButton("cancel", "circle-stop", `Cancel ${document.name}`, onCancel), remove] : [remove];
}

function iconButton(action, symbol, label, onclick) {
  return h("button", { class: "icon-button", type: "button", "data-action": action, "aria-label": label, title: label, onclick }, icon(symbol));
}
