import { h, icon } from "./dom.js";
import { ago, bytes, statusOf } from "./format.js";

/** Zero chunks says no more than the status beside it. */
function numberCell(label, number) {
  return h("td", { class: number ? "number" : "number is-blank", "data-label": label }, number ? number.toLocaleString("en") : "–");
}

/** One document as a table row. */
export function rowOf(document, workspace, { onDelete, onReprocess }) {
  const { id, name, created_at: created } = document;
  const mayEdit = workspace?.role !== "viewer";
  const kind = document.file_type ?? (name.includes(".") ? name.split(".").at(-1) : "file");
  return h(
    "tr",
    { "data-document": id },
    h("td", { class: "cell-name" }, nameOf(id, name, kind)),
    h("td", { "data-label": "Workspace", "data-workspace-column": true }, workspace?.name ?? ""),
    h("td", { class: "cell-status" }, statusCell(document, mayEdit ? onReprocess : null)),
    numberCell("Pages", document.page_count),
    numberCell("Chunks", document.chunk_count),
    h("td", { class: "number", "data-label": "Size" }, bytes(document.size)),
    h("td", { class: "cell-when", "data-label": "Added" }, h("time", { datetime: created, title: new Date(created).toLocaleString("en") }, ago(created))),
    h("td", { class: "cell-actions" }, mayEdit ? deleteButton(name, onDelete) : null),
  );
}

function nameOf(id, name, kind) {
  const badge = h("span", { class: "kind", "aria-hidden": "true" }, kind.slice(0, 4));
  return h("div", { class: "named" }, badge, h("a", { href: `/documents/${id}`, "data-action": "open" }, name));
}

function statusCell(document, onReprocess) {
  const { words, tone, busy } = statusOf(document);
  const notes = [document.error?.message, ...(document.warnings ?? []).map(({ message }) => message)].filter(Boolean);
  const again = () => h("button", { class: "button button-small button-quiet", type: "button", "data-action": "reprocess", onclick: onReprocess }, icon("refresh-cw"), "Try again");
  return [
    h("span", { class: `status status-${tone}` }, words),
    busy ? progressBar(document) : null,
    ...notes.map((note) => h("p", { class: "status-note" }, note)),
    onReprocess && ["failed", "cancelled"].includes(document.status) ? again() : null,
  ];
}

function progressBar({ name, progress, status }) {
  const bar = h("progress", { max: 1, "aria-label": `Progress of ${name}` });
  if (status !== "queued") bar.value = progress;
  return bar;
}

function deleteButton(name, onclick) {
  const label = `Delete ${name}`;
  return h("button", { class: "icon-button", type: "button", "data-action": "delete", "aria-label": label, title: label, onclick }, icon("trash-2"));
}
