// The list of documents: kept up to date by a feed, filtered by the API.
import { statusOf } from "./activity.js";
import { del, get, post } from "./api.js";
import { confirm } from "./confirm.js";
import { announce, parts, toast } from "./dom.js";
import { startFeed } from "./feed.js";
import { arranged } from "./arrange.js";
import { rowOf } from "./document-row.js";
import { replaceFile } from "./replace-file.js";
import { debounced } from "./scope.js";
import { startUploads } from "./uploads.js";

export async function startDocuments(page) {
  const list = new DocumentList(page);
  await list.start();
}

class DocumentList {
  #parts;
  #workspaces = new Map();
  #documents = new Map();
  #next = null;
  #feed = null;
  #loading = 0;

  constructor(page) {
    this.#parts = parts(page);
    startUploads(page, this.#parts, {
      workspace: () => this.#uploadWorkspace(),
      onAdded: (documents) => this.#added(documents),
    });
  }

  async start() {
    const { filters, more, clearFilters } = this.#parts;
    const reload = () => this.#reload();
    filters.addEventListener("input", debounced(reload));
    filters.addEventListener("submit", (event) => event.preventDefault());
    more.addEventListener("click", () => this.#loadMore());
    clearFilters.addEventListener("click", () => {
      filters.reset();
      reload();
    });
    try {
      await this.#loadWorkspaces();
    } catch (error) {
      toast(error.message, { error: true });
    }
    this.#feed = startFeed({
      workspaces: () => this.#watched(),
      onUpdate: (document) => this.#updated(document),
      onDelete: (id) => this.#deleted(id),
      onPoll: () => this.#poll(),
    });
    await this.#reload();
  }

  async #loadWorkspaces() {
    const { results } = await get("/workspaces", { limit: 200 });
    const { workspace, workspaceField } = this.#parts;
    this.#workspaces = new Map(results.map((one) => [one.id, one]));
    workspace.append(...results.map(({ id, name }) => new Option(name, id)));
    workspaceField.hidden = results.length < 2;
    workspaceField.closest("[data-page]").classList.toggle("one-workspace", results.length < 2);
  }

  #query() {
    return Object.fromEntries(new FormData(this.#parts.filters));
  }

  /** An upload goes where the list is looking, else to the reader's personal workspace. */
  #uploadWorkspace() {
    return this.#workspaces.get(this.#query().workspace) ?? [...this.#workspaces.values()].find((one) => one.personal);
  }

  #watched() {
    const { workspace } = this.#query();
    return workspace ? [workspace] : [...this.#workspaces.keys()];
  }

  async #reload() {
    const loading = (this.#loading += 1);
    try {
      const list = await get("/documents", this.#query());
      if (loading !== this.#loading) return;
      this.#documents = new Map();
      this.#take(list);
      this.#feed.watch();
    } catch (error) {
      toast(error.message, { error: true });
    }
  }

  async #loadMore() {
    try {
      this.#take(await get(this.#next));
    } catch (error) {
      toast(error.message, { error: true });
    }
  }

  #take({ results, next }) {
    this.#next = next;
    for (const document of results) this.#documents.set(document.id, document);
    this.#show();
  }

  #show() {
    const { rows, tableWrap, empty, noMatch, more } = this.#parts;
    const { search, status } = this.#query();
    const none = this.#documents.size === 0;
    rows.replaceChildren(...arranged([...this.#documents.values()]).map(({ document, depth }) => this.#row(document, depth)));
    tableWrap.hidden = none;
    noMatch.hidden = !(none && (search || status));
    empty.hidden = !(none && noMatch.hidden);
    more.hidden = !this.#next;
  }

  #row(document, depth) {
    return rowOf(document, this.#workspaces.get(document.workspace_id), depth, {
      onDelete: () => this.#delete(document),
      onCancel: () => this.#cancel(document),
      onReprocess: () => this.#reprocess(document),
      onReplace: (file) => this.#replace(document, file),
    });
  }

  #added(documents) {
    const known = [...this.#documents.entries()];
    this.#documents = new Map([...documents.map((document) => [document.id, document]), ...known.filter(([id]) => !documents.some((one) => one.id === id))]);
    this.#show();
    this.#feed.watch();
  }

  #updated(document) {
    const known = this.#documents.get(document.id);
    if (!this.#watched().includes(document.workspace_id)) return this.#deleted(document.id);
    if (!known) return this.#filtered() || this.#added([document]);
    this.#documents.set(document.id, document);
    if (known.attached_to !== document.attached_to) return this.#show();
    const row = this.#parts.rows.querySelector(`[data-document="${document.id}"]`);
    // A row is replaced with what changes in it; the reader's focus in it must survive.
    const focused = row.contains(window.document.activeElement) ? window.document.activeElement.dataset.action : null;
    const fresh = this.#row(document, row.matches(".is-attachment") ? 1 : 0);
    row.replaceWith(fresh);
    if (focused) fresh.querySelector(`[data-action="${focused}"]`)?.focus();
    if (known.status !== document.status && !statusOf(document).busy) announce(`${document.name}: ${statusOf(document).words}`);
    return undefined;
  }

  #filtered() {
    const { search, status } = this.#query();
    return Boolean(search || status);
  }

  #deleted(id) {
    if (this.#documents.delete(id)) this.#show();
  }

  async #poll() {
    const busy = [...this.#documents.values()].filter((document) => statusOf(document).busy);
    await Promise.all(
      busy.map(({ id }) =>
        get(`/documents/${id}`).then(
          (document) => this.#updated(document),
          (error) => error.status === 404 && this.#deleted(id),
        ),
      ),
    );
  }

  async #delete(document) {
    const agreed = await confirm({
      title: `Delete “${document.name}”?`,
      text: "The file, its chunks and everything found in it go for good. Earlier answers that used it lose its words.",
      action: "Delete document",
    });
    if (!agreed) return;
    await this.#attempt(async () => {
      await del(`/documents/${document.id}`);
      this.#deleted(document.id);
      toast(`“${document.name}” is deleted.`);
    });
  }

  async #reprocess(document) {
    await this.#attempt(async () => this.#updated(await post(`/documents/${document.id}/reprocess`, {})));
  }

  async #replace(document, file) {
    await this.#attempt(async () => this.#updated(await replaceFile(document, file)));
  }

  async #cancel(document) {
    await this.#attempt(async () => this.#updated(await post(`/documents/${document.id}/cancel`, {})));
  }

  async #attempt(action) {
    try {
      await action();
    } catch (error) {
      toast(error.message, { error: true });
    }
  }
}
