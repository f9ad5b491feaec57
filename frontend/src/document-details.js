// What is known about one document beside its text: how it is doing, how well it was read, and what may be changed.
import { findableWords, remedyOf, statusOf } from "./activity.js";
import { isSound, kindOf, progressOf, sizeOf, unlockButton } from "./document-row.js";
import { h, icon } from "./dom.js";
import { language } from "./format.js";
import { mayEdit as mayEditIn, readOnlyWords, targetsOf } from "./move.js";
import { qualityNodes } from "./quality-view.js";
import { replaceButton } from "./replace-file.js";
import { since } from "./since.js";
import { tagsField } from "./tags-field.js";
import { FORMATS } from "./locale.js";
import { t, translated } from "./texts.js";
import { lengthOf } from "./units.js";

/**
 * Nodes for `{document, quality, workspaces, attachments, renaming}`; `actions` are what the reader may do:
 * onRename(name), onRenaming(open), onTags(tags), onMove, onCancel, onReprocess, onReplace(file), onUnlock, onDelete, onOpenPage(number).
 */
export function detailsNodes(state, actions) {
  const { document, quality } = state;
  // What a sound document may need some day is no reader's first business.
  const upkeep = isAtRest(document);
  const workspace = state.workspaces.get(document.workspace_id);
  const mayEdit = mayEditIn(workspace);
  return [
    section("name", null, nameNode(state, mayEdit ? actions : null)),
    mayEdit || !workspace ? null : section("role", null, h("p", { class: "notice" }, readOnlyWords(workspace))),
    section("status", null, statusNodes(document, mayEdit && !upkeep ? actions : null)),
    section("quality", t("How well it was read"), quality ? qualityNodes(quality, hasPages(document) ? actions.onOpenPage : null) : null),
    section("tags", t("Tags"), tagsField(document.tags, mayEdit ? actions.onTags : null)),
    section("facts", t("Details"), factsNode(state, mayEdit ? actions : null)),
    state.attachments.length ? section("attachments", t("Attachments"), attachmentsNode(state.attachments)) : null,
    mayEdit ? section("end", null, h("div", { class: "details-actions" }, upkeep ? upkeepNodes(document, actions) : null, deleteNode(actions))) : null,
  ].filter(Boolean);
}

function section(name, title, ...children) {
  return h("section", { class: `details-section details-${name}`, "data-section": name }, title ? h("h3", {}, title) : null, ...children);
}

const hasPages = ({ mime_type: mime, page_count: pages }) => Boolean(pages) && (mime === "application/pdf" || mime?.startsWith("image/"));

function nameNode({ document, renaming }, actions) {
  if (!renaming) {
    const label = t("Rename");
    const pencil = actions && h("button", { class: "icon-button", type: "button", "data-action": "rename", "aria-label": label, title: label, onclick: () => actions.onRenaming(true) }, icon("pencil"));
    return h("div", { class: "details-title" }, h("h2", {}, document.name), pencil);
  }
  const input = h("input", { type: "text", maxlength: 500, required: true, "aria-label": t("Name"), value: document.name, autocomplete: "off", "data-action": "name" });
  const save = (event) => {
    event.preventDefault();
    if (input.value.trim()) actions.onRename(input.value.trim());
  };
  const cancel = h("button", { class: "button button-small button-quiet", type: "button", onclick: () => actions.onRenaming(false) }, t("Cancel"));
  const form = h("form", { class: "rename", onsubmit: save }, input, h("div", { class: "form-actions" }, cancel, h("button", { class: "button button-small button-main", type: "submit" }, t("Save name"))));
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    actions.onRenaming(false);
  });
  return form;
}

function statusNodes(document, actions) {
  const { words, tone, busy } = statusOf(document);
  const findable = findableWords(document);
  return [
    h("p", { class: "status-line" }, h("span", { class: `status status-${tone}` }, words), findable ? h("span", { class: "badge" }, findable) : null),
    busy ? progressOf(document) : null,
    document.error ? h("p", { class: "details-error" }, translated(document.error.message)) : null,
    document.status === "cancelled" && document.chunk_count ? h("p", { class: "status-note" }, t("What was found before stays findable.")) : null,
    actions ? h("div", { class: "details-actions" }, busy ? action("cancel", icon("circle-stop"), t("Cancel"), actions.onCancel) : nextStep(document, actions)) : null,
  ];
}

const isAtRest = (document) => !statusOf(document).busy && !remedyOf(document) && document.status !== "failed";

function upkeepNodes(document, { onReprocess, onReplaceSound }) {
  const again = action("reprocess", icon("refresh-cw"), t("Process again"), onReprocess);
  return isSound(document) ? [again, action("replace", icon("upload"), t("Replace file…"), onReplaceSound)] : [again];
}

/** What helps a document that did not become ready. */
function nextStep(document, { onReprocess, onReplace, onUnlock }) {
  const remedy = remedyOf(document);
  if (remedy === "unlock") return [unlockButton(document, onUnlock), document.url ? null : replaceButton(document, onReplace)];
  if (remedy === "replace") return replaceButton(document, onReplace);
  return remedy === "retry" ? action("reprocess", icon("refresh-cw"), t("Try again"), onReprocess) : null;
}

function action(name, symbol, words, onclick) {
  return h("button", { class: "button button-small", type: "button", "data-action": name, onclick }, symbol, words);
}

function factsNode({ document, workspaces, parent }, actions) {
  const { chunk_count: chunks, url, created_at: created } = document;
  const facts = [
    [t("Kind"), kindOf(document)],
    [t("Size"), sizeOf(document)],
    [t("Length"), lengthOf(document)],
    [t("Chunks"), chunks ? chunks.toLocaleString(FORMATS) : null],
    [t("Language"), document.language ? language(document.language) : null],
    [t("Added"), since(created)],
    [t("Address"), url ? h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, url) : null],
    [t("Attached to"), document.attached_to ? h("a", { href: `/documents/${document.attached_to}` }, parent?.name ?? t("a message")) : null],
    [t("Workspace"), workspaces.size > 1 ? workspaceNode(document, workspaces, actions) : null],
  ];
  const rows = facts.filter(([, value]) => value).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)));
  return h("dl", { class: "facts" }, rows);
}

function workspaceNode(document, workspaces, actions) {
  const here = workspaces.get(document.workspace_id)?.name ?? "";
  if (!actions || !targetsOf(document, workspaces).length) return here;
  return [here, h("button", { class: "button button-small button-quiet move-button", type: "button", "data-action": "move", onclick: actions.onMove }, t("Move to…"))];
}

function attachmentsNode(attachments) {
  const item = (one) => h("li", {}, icon("paperclip"), h("a", { href: `/documents/${one.id}` }, one.name), h("span", { class: `status status-${statusOf(one).tone}` }, statusOf(one).words));
  return h("ul", { class: "attachments" }, attachments.map(item));
}

function deleteNode({ onDelete }) {
  return h("button", { class: "button button-small button-quiet details-delete", type: "button", "data-action": "delete", onclick: onDelete }, icon("trash-2"), t("Delete document"));
}
