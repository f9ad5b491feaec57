// The list of documents: filtered and sorted by the API, kept up to date by a feed, changed one by one or many at once.
import { statusOf } from "./activity.js";
import { get, patch, post } from "./api.js";
import { arranged } from "./arrange.js";
import { startBulkBar } from "./bulk-bar.js";
import { startCollections } from "./collections.js";
import { startColumns } from "./columns.js";
import { cardOf } from "./document-card.js";
import { rowOf } from "./document-row.js";
import { conditionsOf, FIELDS, fromAddress, NEWEST_FIRST, nextSort, toAddress } from "./documents-query.js";
import { announce, h, parts, toast } from "./dom.js";
import { startFeed } from "./feed.js";
import { bytes, documentCount, language } from "./format.js";
import { chooseWorkspace, mayEdit, readOnlyWords, targetsOf } from "./move.js";
import { PagedRows } from "./paged-rows.js";
import { chooseReplacement, replaceFile } from "./replace-file.js";
import { debounced } from "./scope.js";
import { ChosenDocuments } from "./chosen.js";
import { askPassword } from "./unlock.js";
import { startUploads } from "./uploads.js";
import { FORMATS } from "./locale.js";
import { t } from "./texts.js";

// Rows are made a block at a time: this many take a tenth of a second at most, on a slow machine too.
const BLOCK = 25;
const PAGE = 100;

export async function startDocuments(page) {
  const list = new DocumentList(page);
  await list.start();
}

class DocumentList {
  #page;
  #parts;
  #state = fromAddress(location.search);
  #workspaces = new Map();
  #selection = new ChosenDocuments(() => this.#chosen());
  #depths = new Map();
  #rows = null;
  #next = null;
  #feed = null;
  #loading = 0;
  #newer = null;
  #isLoadingMore = false;
  #bulk;
  #collections;

  constructor(page) {
    this.#page = page;
    this.#parts = parts(page);
    startUploads(page, this.#parts, {
      workspace: () => this.#uploadWorkspace(),
      collection: () => this.#collections.chosen(),
      onAdded: (documents) => this.#added(documents),
      onRefused: () => toast(readOnlyWords(this.#workspaces.get(this.#state.filters.workspace))),
    });
    this.#collections = this.#startCollections();
    this.#bulk = startBulkBar(page, this.#parts, {
      selection: this.#selection,
      filter: () => conditionsOf(this.#state.filters),
      loaded: () => this.#choosable(),
      matching: () => this.#parts.bulkBar.dataset.matching,
      targets: () => [...this.#workspaces.values()].filter(mayEdit),
      onGone: (ids) => ids.forEach((id) => this.#deleted(id)),
      onChanged: () => this.#reload().then(() => this.#collections.load()),
    });
  }

  #startCollections() {
    return startCollections(this.#page, this.#parts, {
      filters: () => this.#state.filters,
      workspaces: () => this.#workspaces,
      target: () => this.#uploadWorkspace(),
      choose: (collection) => this.#filter({ ...this.#state.filters, collection }),
      act: (action, done) => this.#bulk.run(action, done),
    });
  }

  async start() {
    const { filters, more, clearFilters, sort, showFailed, columns, table, viewTable, viewGrid, chooseAll } = this.#parts;
    const changed = debounced(() => this.#filtersChanged());
    filters.addEventListener("input", (event) => (event.target === sort ? this.#sortBy(sort.value) : changed()));
    filters.addEventListener("submit", (event) => event.preventDefault());
    filters.addEventListener("input", () => this.#suitRole());
    more.addEventListener("click", () => this.#loadMore());
    new IntersectionObserver(([entry]) => entry.isIntersecting && this.#loadMore(), { rootMargin: "1500px" }).observe(more);
    clearFilters.addEventListener("click", () => this.#filter(Object.fromEntries(FIELDS.map((name) => [name, ""]))));
    showFailed.addEventListener("click", () => this.#filter({ ...this.#state.filters, status: this.#state.filters.status === "failed" ? "" : "failed" }));
    for (const button of table.querySelectorAll("[data-sort]")) button.addEventListener("click", () => this.#sortBy(nextSort(this.#state.sort, button.dataset.sort)));
    for (const [button, view] of [[viewTable, "table"], [viewGrid, "grid"]]) button.addEventListener("click", () => this.#show(view));
    chooseAll.addEventListener("click", () => (chooseAll.checked ? this.#selection.choose(this.#choosable()) : this.#selection.clear()));
    window.addEventListener("popstate", () => this.#go(fromAddress(location.search)));
    startColumns(columns, table);
    this.#fillForm();
    this.#arrange();
    this.#feed = startFeed({
      workspaces: () => this.#watched(),
      onUpdate: (document) => this.#updated(document),
      onDelete: (id) => this.#deleted(id),
      onPoll: () => this.#poll(),
    });
    // The reader may upload from now on.
    this.#newer = new Map();
    try {
      await this.#loadWorkspaces();
      await this.#collections.load();
    } catch (error) {
      toast(error.message, { error: true });
    }
    await this.#reload(this.#newer);
  }

  async #loadWorkspaces() {
    const { results } = await get("/workspaces", { limit: 200 });
    const { workspace, workspaceField, uploadWorkspace } = this.#parts;
    this.#workspaces = new Map(results.map((one) => [one.id, one]));
    workspace.append(...results.map(({ id, name }) => new Option(name, id)));
    workspace.value = this.#workspaces.has(this.#state.filters.workspace) ? this.#state.filters.workspace : "";
    const writable = results.filter(mayEdit);
    uploadWorkspace.append(...writable.map(({ id, name }) => new Option(name, id)));
    uploadWorkspace.value = (writable.find((one) => one.personal) ?? writable[0])?.id ?? "";
    this.#suitRole();
    workspaceField.hidden = results.length < 2;
    this.#page.classList.toggle("one-workspace", results.length < 2);
  }

  // --- What is shown ---------------------------------------------------------------------------------------

  #fillForm() {
    const { filters, sort, moreFilters } = this.#parts;
    for (const name of FIELDS) {
      const control = filters.elements[name];
      if (!control) continue;
      const value = this.#state.filters[name];
      // Options come with the summary; a link may name one before.
      if (control.tagName === "SELECT" && value && ![...control.options].some((one) => one.value === value)) control.append(new Option(value, value));
      control.value = value;
    }
    sort.value = this.#state.sort;
    if (["type", "tag", "language", "from", "to"].some((name) => this.#state.filters[name])) moreFilters.open = true;
  }

  #filtersChanged() {
    const given = Object.fromEntries(new FormData(this.#parts.filters));
    this.#go({ ...this.#state, filters: { ...this.#state.filters, ...Object.fromEntries(FIELDS.filter((name) => name in given).map((name) => [name, given[name]])) } }, { replace: true });
  }

  #filter(filters) {
    this.#go({ ...this.#state, filters });
    this.#suitRole();
  }

  #sortBy(sort) {
    this.#go({ ...this.#state, sort });
  }

  #show(view) {
    this.#state = { ...this.#state, view };
    history.replaceState(null, "", location.pathname + toAddress(this.#state));
    const items = this.#rows.items;
    this.#arrange();
    for (let start = 0; start < items.length; start += BLOCK) this.#rows.add(items.slice(start, start + BLOCK));
    this.#suit();
  }

  #go(state, { replace = false } = {}) {
    this.#state = state;
    const address = location.pathname + toAddress(state);
    this.#collections.show();
    if (address !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", address);
    this.#fillForm();
    this.#arrange();
    this.#selection.clear();
    return this.#reload();
  }

  /** Make the table or the grid the list, empty; say in the heads of columns how it is sorted. */
  #arrange() {
    const { table, grid, tableWrap, viewTable, viewGrid } = this.#parts;
    const isGrid = this.#state.view === "grid";
    this.#rows?.clear();
    this.#rows = isGrid
      ? new PagedRows(grid, { newBlock: () => h("div", { class: "cards" }), row: (document) => this.#card(document), space: (height) => sized(h("div", { class: "cards-space" }), height) })
      : new PagedRows(table, { newBlock: () => h("tbody"), row: (document) => this.#row(document), space: (height) => h("tr", { "aria-hidden": "true" }, sized(h("td", { class: "row-space" }), height)) });
    tableWrap.classList.toggle("is-grid", isGrid);
    viewTable.setAttribute("aria-pressed", String(!isGrid));
    viewGrid.setAttribute("aria-pressed", String(isGrid));
    for (const button of table.querySelectorAll("[data-sort]")) {
      const is = this.#state.sort.replace(/^-/, "") === button.dataset.sort;
      button.closest("th").setAttribute("aria-sort", is ? (this.#state.sort.startsWith("-") ? "descending" : "ascending") : "none");
    }
  }

  /** Ask for the list; `newer` keeps what is heard of documents meanwhile, which the list may be too old to know. */
  async #reload(newer = new Map()) {
    const loading = (this.#loading += 1);
    this.#newer = newer;
    this.#next = null;
    const conditions = conditionsOf(this.#state.filters);
    const { workspace_id } = conditions;
    const isNarrow = Object.keys(conditions).length > (workspace_id ? 1 : 0);
    try {
      const [list, whole, matching] = await Promise.all([
        get("/documents", { ...conditions, ordering: this.#state.sort, limit: PAGE }),
        get("/documents/summary", { workspace_id }),
        isNarrow ? get("/documents/summary", conditions) : null,
      ]);
      if (loading !== this.#loading) return;
      this.#rows.clear();
      this.#depths.clear();
      this.#take(list);
      this.#newer = null;
      for (const show of newer.values()) show();
      this.#summarise(whole, matching ?? whole);
      this.#feed.watch();
    } catch (error) {
      if (loading !== this.#loading) return;
      this.#newer = null;
      toast(error.message, { error: true });
    }
  }

  /** Say how many there are and what they use; offer what there is to filter by. */
  #summarise(whole, matching) {
    const { filters, usage, failedBar, failedWords, showFailed, bulkBar } = this.#parts;
    usage.textContent = whole.documents ? `${documentCount(whole.documents)}, ${bytes(whole.bytes)}${matching.documents === whole.documents ? "" : ` · ${t("{number} shown", { number: matching.documents.toLocaleString(FORMATS) })}`}` : "";
    bulkBar.dataset.matching = matching.documents;
    const failed = whole.statuses.failed ?? 0;
    const shows = this.#state.filters.status === "failed";
    failedBar.hidden = !failed && !shows;
    failedWords.textContent = t("{failed} of {documents} failed.", { failed: failed.toLocaleString(FORMATS), documents: documentCount(whole.documents) });
    showFailed.textContent = shows ? t("Show all") : t("Show them");
    fill(filters.elements.type, whole.types, (type) => type.toUpperCase());
    fill(filters.elements.language, whole.languages, language);
    fill(filters.elements.tag, whole.tags, (tag) => tag);
    this.#parts.tagNames.replaceChildren(...Object.keys(whole.tags).map((tag) => new Option(tag, tag)));
  }

  async #loadMore() {
    if (!this.#next || this.#isLoadingMore) return;
    this.#isLoadingMore = true;
    // It is pushed down by what comes: hidden meanwhile, nothing that is seen jumps.
    this.#parts.more.classList.add("is-loading");
    const loading = this.#loading;
    try {
      const list = await get(this.#next);
      if (loading === this.#loading) this.#take(list);
    } catch (error) {
      toast(error.message, { error: true });
    }
    this.#isLoadingMore = false;
    requestAnimationFrame(() => this.#parts.more.classList.remove("is-loading"));
  }

  #take({ results, next }) {
    this.#next = next;
    const known = new Set(this.#rows.items.map(({ id }) => id));
    const inOrder = arranged(results.filter(({ id }) => !known.has(id)));
    for (const { document, depth } of inOrder) this.#depths.set(document.id, depth);
    const documents = inOrder.map(({ document }) => document);
    for (let start = 0; start < documents.length; start += BLOCK) this.#rows.add(documents.slice(start, start + BLOCK));
    this.#suit();
  }

  /** Show the list, or why it is empty. */
  #suit() {
    const { tableWrap, empty, noMatch, noMatchTitle, noMatchHelp, more } = this.#parts;
    const none = this.#rows.items.length === 0;
    tableWrap.hidden = none;
    const inCollection = this.#collections.chosen();
    noMatch.hidden = !(none && this.#isFiltered());
    noMatchTitle.textContent = inCollection ? t("No document of “{name}” matches", { name: inCollection.name }) : t("No document matches");
    noMatchHelp.textContent = inCollection ? t("Choose documents in the list and put them in by “Collection…”, or upload here.") : t("Try fewer words or other filters.");
    empty.hidden = !(none && noMatch.hidden);
    more.hidden = !this.#next;
    this.#chosen();
  }

  #row(document) {
    const workspace = this.#workspaces.get(document.workspace_id);
    return rowOf(document, { workspace, depth: this.#depths.get(document.id) ?? 0 }, this.#actions(document));
  }

  #card(document) {
    return cardOf(document, this.#workspaces.get(document.workspace_id), this.#actions(document));
  }

  #actions(document) {
    return {
      isChosen: (id) => this.#selection.has(id),
      onChoose: (id, chosen, range) => this.#selection.set(id, chosen, { range, ids: this.#choosable() }),
      onTag: (tag) => this.#filter({ ...this.#state.filters, tag }),
      onDelete: () => this.#bulk.remove([document]),
      onCancel: () => this.#attempt(async () => this.#updated(await post(`/documents/${document.id}/cancel`, {}))),
      onMove: targetsOf(document, this.#workspaces).length ? () => this.#move(document) : null,
      onReprocess: () => this.#attempt(async () => this.#updated(await post(`/documents/${document.id}/reprocess`, {}))),
      onUnlock: () => this.#unlock(document),
      onReplaceSound: () => this.#replace(document),
      onReplace: (file) => this.#attempt(async () => this.#updated(await replaceFile(document, file))),
    };
  }

  // --- What is chosen --------------------------------------------------------------------------------------

  #choosable() {
    return this.#rows.items.filter(({ workspace_id: id }) => mayEdit(this.#workspaces.get(id))).map(({ id }) => id);
  }

  #chosen() {
    const ids = this.#choosable();
    const { chooseAll, tableWrap } = this.#parts;
    for (const box of tableWrap.querySelectorAll("[data-action=choose]")) box.checked = this.#selection.has(box.closest("[data-document]").dataset.document);
    chooseAll.disabled = ids.length === 0;
    chooseAll.checked = ids.length > 0 && (this.#selection.isAll || this.#selection.size >= ids.length);
    chooseAll.indeterminate = !chooseAll.checked && this.#selection.size > 0;
    this.#bulk?.show();
  }

  // --- What changes ----------------------------------------------------------------------------------------

  /** An upload goes where the list is looking, else where the reader says; nowhere without the role. */
  #uploadWorkspace() {
    const within = this.#collections.chosen()?.workspace_id;
    const shown = this.#workspaces.get(within ?? this.#state.filters.workspace);
    return shown ? (mayEdit(shown) ? shown : null) : this.#workspaces.get(this.#parts.uploadWorkspace.value);
  }

  /** Offer only what the role in the chosen workspace allows, and say where an upload goes. */
  #suitRole() {
    const { adding, emptyHelp, filters, readOnly, uploadTarget, uploadWorkspace } = this.#parts;
    const shown = this.#workspaces.get(filters.elements.workspace.value);
    const refused = Boolean(shown) && !mayEdit(shown);
    adding.hidden = refused;
    readOnly.hidden = !refused;
    emptyHelp.hidden = refused;
    if (refused) readOnly.textContent = readOnlyWords(shown);
    if (shown && !refused) uploadWorkspace.value = shown.id;
    uploadWorkspace.disabled = Boolean(shown);
    uploadTarget.hidden = this.#workspaces.size < 2;
  }

  #watched() {
    const { workspace } = this.#state.filters;
    return workspace ? [workspace] : [...this.#workspaces.keys()];
  }

  #added(documents) {
    for (const document of documents) this.#newer?.set(document.id, () => this.#added([document]));
    for (const { id } of documents) this.#rows.remove(id);
    for (const { id } of documents) this.#depths.delete(id);
    this.#rows.add(documents, { first: true });
    if (this.#collections.chosen()) this.#collections.load();
    this.#suit();
    this.#feed.watch();
  }

  #updated(document) {
    this.#newer?.set(document.id, () => this.#updated(document));
    const known = this.#rows.items.find(({ id }) => id === document.id);
    if (!this.#watched().includes(document.workspace_id)) return this.#deleted(document.id);
    if (!known) return this.#isFiltered() || this.#added([document]);
    const row = this.#rows.rowOf(document.id);
    // A row is replaced with what changes in it; the reader's focus in it must survive, and what is unfolded.
    const focused = row?.contains(window.document.activeElement) ? window.document.activeElement.dataset.action : null;
    const unfolded = row?.querySelector("details[open]");
    this.#rows.update(document);
    const fresh = this.#rows.rowOf(document.id);
    if (focused) fresh.querySelector(`[data-action="${focused}"]`)?.focus();
    if (unfolded) fresh.querySelector("details")?.setAttribute("open", "");
    if (known.status !== document.status && !statusOf(document).busy) announce(`${document.name}: ${statusOf(document).words}`);
    return undefined;
  }

  #isFiltered() {
    return Object.keys(conditionsOf({ ...this.#state.filters, workspace: "" })).length > 0;
  }

  #deleted(id) {
    this.#newer?.set(id, () => this.#deleted(id));
    this.#selection.forget(id);
    if (this.#rows.remove(id)) this.#suit();
  }

  /** Ask what has become of the documents that are worked on, and for those that came since. */
  #poll() {
    return Promise.all([this.#pollBusy(), this.#pollNew()]);
  }

  async #pollNew() {
    // In a list of another order, of which only a part is here, a new one can't be told from the rest.
    const isPartial = this.#next && this.#state.sort !== NEWEST_FIRST;
    if (this.#newer || this.#isFiltered() || isPartial) return;
    const newest = this.#rows.items.reduce((latest, { created_at: at }) => (at > latest ? at : latest), "");
    const { results } = await get("/documents", { workspace_id: this.#state.filters.workspace, created_after: newest, ordering: "created_at", limit: PAGE }).catch(() => ({ results: [] }));
    const known = new Set(this.#rows.items.map(({ id }) => id));
    for (const document of results) if (!known.has(document.id)) this.#updated(document);
  }

  async #pollBusy() {
    const busy = this.#rows.items.filter((document) => statusOf(document).busy);
    await Promise.all(
      busy.map(({ id }) =>
        get(`/documents/${id}`).then(
          (document) => this.#updated(document),
          (error) => error.status === 404 && this.#deleted(id),
        ),
      ),
    );
  }

  async #move(document) {
    const id = await chooseWorkspace(`“${document.name}”`, targetsOf(document, this.#workspaces));
    if (!id) return;
    await this.#attempt(async () => {
      this.#updated(await patch(`/documents/${document.id}`, { workspace_id: id }));
      toast(t("“{name}” is in {workspace} now.", { name: document.name, workspace: this.#workspaces.get(id).name }));
    });
  }

  async #replace(document) {
    const file = await chooseReplacement(document);
    if (file) await this.#attempt(async () => this.#updated(await replaceFile(document, file)));
  }

  async #unlock(document) {
    const unlocked = await askPassword(document.name, (password) => post(`/documents/${document.id}/unlock`, { password }));
    if (unlocked) this.#updated(unlocked);
  }

  async #attempt(action) {
    try {
      await action();
    } catch (error) {
      toast(error.message, { error: true });
    }
  }
}

function sized(element, height) {
  element.style.height = `${height}px`;
  return element;
}

/** Offer the values that there are, the most frequent first, and keep what is chosen. */
function fill(select, counts, wordsOf) {
  const chosen = select.value;
  const values = Object.keys(counts);
  if (chosen && !values.includes(chosen)) values.push(chosen);
  const options = values.map((value) => new Option(counts[value] ? `${wordsOf(value)} (${counts[value].toLocaleString(FORMATS)})` : wordsOf(value), value));
  select.replaceChildren(select.options[0], ...options);
  select.value = chosen;
}
