// The list of documents: filtered and sorted by the API, kept up to date by a feed, changed one by one or many at once.
import { statusOf } from "./activity.js";
import { get } from "./api.js";
import { arranged } from "./arrange.js";
import { startBulkBar } from "./bulk-bar.js";
import { ChosenDocuments } from "./chosen.js";
import { startCollections } from "./collections.js";
import { startColumns } from "./columns.js";
import { changesOf } from "./document-actions.js";
import { cardOf } from "./document-card.js";
import { rowOf } from "./document-row.js";
import { filtersIn, showFilters, showSummary, showUsage } from "./documents-filters.js";
import { newRows, showOrder } from "./documents-layout.js";
import { pollBusy, pollNew } from "./documents-poll.js";
import { conditionsOf, FIELDS, fromAddress, NEWEST_FIRST, nextSort, toAddress } from "./documents-query.js";
import { ListedWorkspaces } from "./documents-workspaces.js";
import { announce, parts, toast } from "./dom.js";
import { startFeed } from "./feed.js";
import { mayEdit, readOnlyWords } from "./move.js";
import { debounced } from "./scope.js";
import { importWithTexts, t } from "./texts.js";
import { startUploads } from "./uploads.js";

const PAGE = 100;
const RECOUNT_MS = 500;

export async function startDocuments(page) {
  const list = new DocumentList(page);
  await list.start();
}

class DocumentList {
  #page;
  #parts;
  #state = fromAddress(location.search);
  #workspaces;
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
  #add;

  constructor(page) {
    this.#page = page;
    this.#parts = parts(page);
    this.#workspaces = new ListedWorkspaces(this.#parts, () => this.#state.filters.workspace);
    this.#add = startUploads(page, this.#parts, {
      workspace: () => this.#workspaces.uploadTarget(this.#collections.chosen()),
      collection: () => this.#collections.chosen(),
      onAdded: (documents) => this.#added(documents),
      onRefused: () => toast(readOnlyWords(this.#workspaces.byId.get(this.#state.filters.workspace))),
    });
    this.#collections = this.#startCollections();
    this.#bulk = startBulkBar(page, this.#parts, {
      selection: this.#selection,
      filter: () => conditionsOf(this.#state.filters),
      loaded: () => this.#choosable(),
      matching: () => this.#parts.bulkBar.dataset.matching,
      targets: () => this.#workspaces.editable,
      onGone: (ids) => ids.forEach((id) => this.#deleted(id)),
      onChanged: () => this.#reload().then(() => this.#collections.load()),
    });
  }

  #startCollections() {
    return startCollections(this.#page, this.#parts, {
      filters: () => this.#state.filters,
      workspaces: () => this.#workspaces.byId,
      target: () => this.#workspaces.uploadTarget(this.#collections.chosen()),
      choose: (collection) => this.#filter({ ...this.#state.filters, collection }),
      act: (action, done) => this.#bulk.run(action, done),
    });
  }

  async start() {
    const { filters, more, clearFilters, sort, showFailed, columns, table, viewTable, viewGrid, chooseAll } = this.#parts;
    const changed = debounced(() => this.#filtersChanged());
    filters.addEventListener("input", (event) => (event.target === sort ? this.#sortBy(sort.value) : changed()));
    filters.addEventListener("submit", (event) => event.preventDefault());
    filters.addEventListener("input", () => this.#workspaces.suitRole());
    more.addEventListener("click", () => this.#loadMore());
    new IntersectionObserver(([entry]) => entry.isIntersecting && this.#loadMore(), { rootMargin: "1500px" }).observe(more);
    clearFilters.addEventListener("click", () => this.#filter(Object.fromEntries(FIELDS.map((name) => [name, ""]))));
    showFailed.addEventListener("click", () => this.#filter({ ...this.#state.filters, status: this.#state.filters.status === "failed" ? "" : "failed" }));
    for (const button of table.querySelectorAll("[data-sort]")) button.addEventListener("click", () => this.#sortBy(nextSort(this.#state.sort, button.dataset.sort)));
    for (const [button, view] of [[viewTable, "table"], [viewGrid, "grid"]]) button.addEventListener("click", () => this.#show(view));
    chooseAll.addEventListener("click", () => (chooseAll.checked ? this.#selection.choose(this.#choosable()) : this.#selection.clear()));
    window.addEventListener("popstate", () => this.#go(fromAddress(location.search)));
    startColumns(columns, table);
    showFilters(this.#parts, this.#state);
    this.#arrange();
    this.#feed = startFeed({
      workspaces: () => this.#workspaces.watched,
      onUpdate: (document) => this.#updated(document),
      onDelete: (id) => this.#deleted(id),
      onPoll: () => this.#poll(),
    });
    // The reader may upload from now on.
    this.#newer = new Map();
    try {
      await this.#workspaces.load();
      this.#page.classList.toggle("one-workspace", this.#workspaces.byId.size < 2);
      await this.#collections.load();
    } catch (error) {
      toast(error.message, { error: true });
    }
    await this.#reload(this.#newer);
    if (new URLSearchParams(location.search).has("shared")) await this.#offerShared();
  }

  /** What another app has shared with the installed one waits in this browser. */
  async #offerShared() {
    history.replaceState(null, "", location.pathname);
    const { offerShared } = await importWithTexts(() => import("./shared-files.js"));
    await offerShared(this.#parts, this.#workspaces.editable, this.#parts.uploadWorkspace.value, this.#add);
  }

  // --- What is shown ---------------------------------------------------------------------------------------

  #filtersChanged() {
    this.#go({ ...this.#state, filters: filtersIn(this.#parts.filters, this.#state.filters) }, { replace: true });
  }

  #filter(filters) {
    this.#go({ ...this.#state, filters });
    this.#workspaces.suitRole();
  }

  #sortBy(sort) {
    this.#go({ ...this.#state, sort });
  }

  #show(view) {
    this.#state = { ...this.#state, view };
    history.replaceState(null, "", location.pathname + toAddress(this.#state));
    const items = this.#rows.items;
    this.#arrange();
    this.#rows.add(items);
    this.#suit();
  }

  #go(state, { replace = false } = {}) {
    this.#state = state;
    const address = location.pathname + toAddress(state);
    this.#collections.show();
    if (address !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", address);
    showFilters(this.#parts, this.#state);
    this.#arrange();
    this.#selection.clear();
    return this.#reload();
  }

  /** Make the table or the grid the list, empty. */
  #arrange() {
    const isGrid = this.#state.view === "grid";
    this.#rows?.clear();
    this.#rows = newRows(this.#parts, { isGrid, row: (document) => this.#row(document), card: (document) => this.#card(document) });
    showOrder(this.#parts.table, this.#state.sort);
  }

  /** Ask for the list; `newer` keeps what is heard of documents meanwhile, which the list may be too old to know. */
  async #reload(newer = new Map()) {
    const loading = (this.#loading += 1);
    this.#newer = newer;
    this.#next = null;
    const conditions = conditionsOf(this.#state.filters);
    try {
      const [list, summary] = await Promise.all([
        get("/documents", { ...conditions, ordering: this.#state.sort, limit: PAGE }),
        this.#summary(),
      ]);
      if (loading !== this.#loading) return;
      this.#rows.clear();
      this.#depths.clear();
      this.#take(list);
      this.#newer = null;
      for (const show of newer.values()) show();
      showSummary(this.#parts, summary);
      this.#feed.watch();
    } catch (error) {
      if (loading !== this.#loading) return;
      this.#newer = null;
      toast(error.message, { error: true });
    }
  }

  /** How many documents there are, and how many the filters leave. */
  async #summary() {
    const conditions = conditionsOf(this.#state.filters);
    const { workspace_id } = conditions;
    const isNarrow = Object.keys(conditions).length > (workspace_id ? 1 : 0);
    const [whole, matching] = await Promise.all([
      get("/documents/summary", { workspace_id }),
      isNarrow ? get("/documents/summary", conditions) : null,
    ]);
    return { whole, matching: matching ?? whole, status: this.#state.filters.status };
  }

  /** Count anew, once for many changes. What has failed says so in its row: a bar above would push the list down. */
  #recount = debounced(async () => {
    const loading = this.#loading;
    const summary = await this.#summary().catch(() => null);
    if (summary && loading === this.#loading) showUsage(this.#parts, summary);
  }, RECOUNT_MS);

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
    this.#rows.add(documents);
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
    const workspace = this.#workspaces.byId.get(document.workspace_id);
    return rowOf(document, { workspace, depth: this.#depths.get(document.id) ?? 0 }, this.#actions(document));
  }

  #card(document) {
    return cardOf(document, this.#workspaces.byId.get(document.workspace_id), this.#actions(document));
  }

  #actions(document) {
    return {
      isChosen: (id) => this.#selection.has(id),
      onChoose: (id, chosen, range) => this.#selection.set(id, chosen, { range, ids: this.#choosable() }),
      onTag: (tag) => this.#filter({ ...this.#state.filters, tag }),
      onDelete: () => this.#bulk.remove([document]),
      ...changesOf(document, { targets: this.#workspaces.targetsOf(document), onUpdate: (changed) => this.#updated(changed) }),
    };
  }

  // --- What is chosen --------------------------------------------------------------------------------------

  #choosable() {
    return this.#rows.items.filter(({ workspace_id: id }) => mayEdit(this.#workspaces.byId.get(id))).map(({ id }) => id);
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

  #added(documents) {
    for (const document of documents) this.#newer?.set(document.id, () => this.#added([document]));
    for (const { id } of documents) this.#rows.remove(id);
    for (const { id } of documents) this.#depths.delete(id);
    this.#rows.add(documents, { first: true });
    if (this.#collections.chosen()) this.#collections.load();
    this.#suit();
    this.#recount();
    this.#feed.watch();
  }

  #updated(document) {
    this.#newer?.set(document.id, () => this.#updated(document));
    const known = this.#rows.items.find(({ id }) => id === document.id);
    if (!this.#workspaces.watched.includes(document.workspace_id)) return this.#deleted(document.id);
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
    if (!this.#rows.remove(id)) return;
    this.#suit();
    this.#recount();
  }

  /** Ask what has become of the documents that are worked on, and for those that came since. */
  #poll() {
    const { items } = this.#rows;
    const handlers = { onUpdate: (document) => this.#updated(document), onGone: (id) => this.#deleted(id) };
    // In a list of another order, of which only a part is here, a new one can't be told from the rest.
    const isPartial = this.#next && this.#state.sort !== NEWEST_FIRST;
    const knowsNew = !this.#newer && !this.#isFiltered() && !isPartial;
    return Promise.all([pollBusy(items, handlers), knowsNew && pollNew(items, this.#state.filters.workspace, handlers)]);
  }
}
