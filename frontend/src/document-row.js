import { countOf, findableWords, remedyOf, statusOf } from "./activity.js";
import { h, icon } from "./dom.js";
import { bytes, language } from "./format.js";
import { mayEdit as mayEditIn } from "./move.js";
import { replaceIcon } from "./replace-file.js";
import { since } from "./since.js";
import { t, translated } from "./texts.js";
import { lengthOf } from "./units.js";

function numberCell(column, label, words) {
  return h("td", { class: words ? "number" : "number is-blank", "data-label": label, "data-column": column }, words || "–");
}

/** A web page has no size before it is fetched. */
export const sizeOf = ({ size, url }) => (size || !url ? bytes(size) : "");

/** One document as a table row; `depth` is how deep it is attached to the row above. */
export function rowOf(document, { workspace, depth }, actions) {
  const { id, created_at: created, tags, language: code } = document;
  const mayEdit = mayEditIn(workspace);
  return h(
    "tr",
    { "data-document": id, class: depth ? "is-attachment" : null },
    h("td", { class: "cell-choose" }, chooseBox(document, workspace, actions)),
    h("td", { class: "cell-name" }, nameOf(document, depth)),
    h("td", { "data-label": t("Workspace"), "data-column": "workspace" }, workspace?.name ?? ""),
    h("td", { class: "cell-status", "data-column": "status" }, statusCell(document, mayEdit ? actions : null)),
    h("td", { class: tags.length ? "cell-tags" : "cell-tags is-blank", "data-column": "tags" }, tags.map((tag) => h("button", { class: "tag tag-small", type: "button", "aria-label": t("Only documents tagged {tag}", { tag }), onclick: () => actions.onTag(tag) }, tag))),
    numberCell("length", "", lengthOf(document)),
    numberCell("size", t("Size"), sizeOf(document)),
    h("td", { class: code ? null : "is-blank", "data-column": "language" }, code ? language(code) : ""),
    h("td", { class: "cell-when", "data-label": t("Added"), "data-column": "added" }, since(created)),
    h("td", { class: "cell-actions" }, mayEdit ? actionsOf(document, actions) : null),
  );
}

/** What chooses a document for the bar of actions; nothing for readers who may not change it. */
export function chooseBox({ id, name }, workspace, { isChosen, onChoose }) {
  if (!mayEditIn(workspace)) return null;
  const box = h("input", { type: "checkbox", "aria-label": t("Choose {name}", { name }), autocomplete: "off", "data-action": "choose", onclick: (event) => onChoose(id, event.target.checked, event.shiftKey) });
  box.checked = isChosen(id);
  return h("label", { class: "choose" }, box);
}

export const kindOf = ({ file_type: type, name, url }) => type || (url && "web") || (name.includes(".") ? name.split(".").at(-1) : "file");

function nameOf(document, depth) {
  const { id, name, url, attached_to: attachedTo } = document;
  const badge = h("span", { class: "kind", "aria-hidden": "true" }, kindOf(document).slice(0, 4));
  const notes = [];
  if (attachedTo && depth) notes.push(h("p", { class: "name-note" }, icon("paperclip"), t("Attached")));
  if (attachedTo && !depth) notes.push(h("p", { class: "name-note" }, icon("paperclip"), h("a", { href: `/documents/${attachedTo}` }, t("Attached to a message"))));
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
    h("div", { class: "status-line" }, h("span", { class: `status status-${tone}` }, words), findable ? h("span", { class: "badge" }, findable) : null, notesOf(document)),
    busy ? progressOf(document) : null,
    actions && remedyOf(document) === "unlock" ? unlockButton(document, actions.onUnlock) : null,
  ];
}

/** What asks for the password of a protected file. */
export function unlockButton({ name }, onclick) {
  return h("button", { class: "button button-small unlock-button", type: "button", "data-action": "unlock", "aria-label": `${t("Enter password…")} ${name}`, onclick }, icon("lock-keyhole-open"), t("Enter password…"));
}

/** What went wrong and what to do about it: one line, which unfolds. */
function notesOf({ error, warnings }) {
  const notes = [error?.message, ...(warnings ?? []).map(({ message }) => message)].filter(Boolean).map(translated);
  if (!notes.length) return null;
  const [first, ...others] = notes;
  const more = others.length ? h("span", { class: "note-count" }, `+${others.length}`) : null;
  return h("details", { class: "notes" }, h("summary", {}, h("span", { class: "status-note" }, first), more, icon("chevron-right")), others.map((note) => h("p", { class: "status-note" }, note)));
}

/** The bar, and what it stands for in words. */
export function progressOf(document) {
  const { name, progress, status } = document;
  const count = countOf(document);
  const words = [statusOf(document).words, count].filter(Boolean).join(": ");
  const bar = h("progress", { max: 1, "aria-label": t("Progress of {name}", { name }), "aria-valuetext": words });
  if (status !== "queued") bar.value = progress;
  return h("div", { class: "progressing" }, bar, count ? h("p", { class: "status-count" }, count) : null);
}

/** Symbols at the row's end: a row that is finished must not shrink under the pointer, and take those below it along. */
function actionsOf(document, { onCancel, onReprocess, onReplace, onReplaceSound, onDelete, onMove }) {
  const { name } = document;
  const remedy = remedyOf(document);
  return [
    statusOf(document).busy ? iconButton("cancel", "circle-stop", t("Cancel {name}", { name }), onCancel) : null,
    remedy === "retry" ? iconButton("reprocess", "refresh-cw", t("Try again: {name}", { name }), onReprocess) : null,
    remedy === "replace" || (remedy === "unlock" && !document.url) ? replaceIcon(document, onReplace) : null,
    isSound(document) ? iconButton("replace", "upload", t("Replace the file of {name}", { name }), onReplaceSound) : null,
    onMove && iconButton("move", "folder-input", t("Move {name} to another workspace", { name }), onMove),
    iconButton("delete", "trash-2", t("Delete {name}", { name }), onDelete),
  ];
}

/** Read, and from a file: another one may take its place. */
export const isSound = ({ status, url }) => !url && (status === "ready" || status === "partial");

function iconButton(action, symbol, label, onclick) {
  return h("button", { class: "icon-button", type: "button", "data-action": action, "aria-label": label, title: label, onclick }, icon(symbol));
}
