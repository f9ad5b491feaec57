// One document: its text in the viewer, and all that is known about it beside. `?chunk=` marks a chunk, `?page=` opens a page.
import { statusOf } from "./activity.js";
import { del, get, patch, post, withQuery } from "./api.js";
import { confirm } from "./confirm.js";
import { detailsNodes } from "./document-details.js";
import { followDocument } from "./document-events.js";
import { announce, parts, toast } from "./dom.js";
import { chooseWorkspace, targetsOf } from "./move.js";
import { chooseReplacement, replaceFile } from "./replace-file.js";
import { askPassword } from "./unlock.js";
import { startSummary } from "./summary.js";
import { Viewer } from "./viewer.js";
import { t } from "./texts.js";

const NARROW = "(max-width: 60rem)";

export function startDocument(page) {
  return new DocumentPage(page).start();
}

class DocumentPage {
  #page;
  #parts;
  #viewer;
  #id;
  #state = { document: null, quality: null, workspaces: new Map(), attachments: [], parent: null, renaming: false };
  #stopFollowing = () => {};
  #placed = Promise.resolve();

  constructor(page) {
    this.#page = page;
    this.#parts = parts(page);
    this.#id = page.dataset.document;
    this.#viewer = new Viewer(page.querySelector("[data-viewer]"), { asSheet: false });
  }

  async start() {
    const { toggleDetails, closeDetails, details } = this.#parts;
    toggleDetails.addEventListener("click", () => this.#setOpen(details.hidden));
    closeDetails.addEventListener("click", () => this.#setOpen(false));
    details.addEventListener("keydown", (event) => event.key === "Escape" && matchMedia(NARROW).matches && this.#setOpen(false));
    startSummary(this.#page, { onOpen: (place, citations) => this.#openPlace(place, citations) });
    this.#setOpen(!matchMedia(NARROW).matches, { focus: false });
    this.#placed = this.#showPlace();
    await Promise.all([this.#placed, this.#loadDetails()]);
  }

  async #showPlace() {
    const query = new URLSearchParams(location.search);
    const chunk = await this.#linkedChunk(query.get("chunk"));
    await this.#viewer.showPlace({
      documentId: this.#id,
      chunkId: chunk?.id ?? null,
      chunkBoxes: [],
      // A link names a whole chunk: it is what the reader came for, so it is marked as strongly as a quote.
      quoteBoxes: chunk?.bbox ?? [],
      quoteText: chunk?.text ?? null,
      picture: chunk?.metadata.picture ?? null,
      pageNumber: chunk?.page_number ?? (Number.parseInt(query.get("page"), 10) || 1),
      startTime: chunk?.start_time ?? null,
    });
  }

  async #linkedChunk(id) {
    if (!id) return null;
    try {
      return await get(`/chunks/${encodeURIComponent(id)}`);
    } catch (error) {
      this.#notify(t("The chunk of this link can’t be shown: {message}", { message: error.message }));
      return null;
    }
  }

  async #loadDetails() {
    await this.#attempt(async () => {
      const [document, workspaces] = await Promise.all([get(`/documents/${this.#id}`), get("/workspaces", { limit: 200 }), this.#loadFindings()]);
      const parent = document.attached_to ? await get(`/documents/${document.attached_to}`).catch(() => null) : null;
      Object.assign(this.#state, { document, parent });
      this.#state.workspaces = new Map(workspaces.results.map((one) => [one.id, one]));
      this.#show();
      if (statusOf(document).busy) this.#follow();
    });
  }

  /** What processing leaves behind: the report, and the documents that were attached. */
  async #loadFindings() {
    const [quality, attachments] = await Promise.all([
      get(`/documents/${this.#id}/quality`),
      get(withQuery("/documents", { attached_to: this.#id, limit: 200, ordering: "name" })),
    ]);
    Object.assign(this.#state, { quality, attachments: attachments.results });
  }

  #follow() {
    this.#stopFollowing();
    this.#stopFollowing = followDocument(this.#id, {
      onUpdate: (document) => this.#changed(document),
      onGone: () => this.#notify(t("This document was deleted, or you can no longer see it.")),
    });
  }

  /** Take over a new state; when the work is over, look at what it brought. */
  async #changed(document) {
    const before = this.#state.document;
    this.#state.document = document;
    this.#show();
    const { words, busy } = statusOf(document);
    if (!statusOf(before).busy || busy) return;
    announce(`${document.name}: ${words}`);
    await this.#attempt(async () => {
      await this.#loadFindings();
      this.#show();
      await this.#viewer.refresh(document);
    });
  }

  #show() {
    const { detailsBody, askAbout } = this.#parts;
    askAbout.hidden = this.#state.document.searchable === "none";
    const active = detailsBody.contains(document.activeElement) ? document.activeElement : null;
    const nodes = detailsNodes(this.#state, this.#actions());
    // What the reader is writing must survive the news.
    const writing = active?.closest("form")?.closest("[data-section]");
    const kept = writing && !writing.dataset.done ? writing : null;
    detailsBody.replaceChildren(...nodes.map((node) => (kept && node.dataset.section === kept.dataset.section ? kept : node)));
    if (active?.dataset.action) (kept ? active : detailsBody.querySelector(`[data-action="${active.dataset.action}"]`))?.focus();
  }

  #actions() {
    return {
      onRenaming: (open) => this.#setRenaming(open),
      onRename: (name) => this.#patch({ title: name }, "name", t("The document is renamed.")),
      onTags: (tags) => this.#patch({ tags }, "tags"),
      onMove: () => this.#move(),
      onCancel: () => this.#attempt(async () => this.#changed(await post(`/documents/${this.#id}/cancel`, {}))),
      onReprocess: () => this.#attempt(() => this.#reprocess()),
      onUnlock: () => this.#unlock(),
      onReplaceSound: () => this.#replaceSound(),
      onReplace: (file) => this.#attempt(() => this.#replace(file)),
      onDelete: () => this.#delete(),
      onOpenPage: (number) => this.#openPage(number),
    };
  }

  async #move() {
    const { document, workspaces } = this.#state;
    const id = await chooseWorkspace(`“${document.name}”`, targetsOf(document, workspaces));
    if (id) await this.#patch({ workspace_id: id }, null, t("The document is in {workspace} now.", { workspace: workspaces.get(id).name }));
  }

  #setRenaming(open) {
    this.#state.renaming = open;
    this.#release("name");
    this.#show();
    this.#parts.detailsBody.querySelector(open ? "[data-action=name]" : "[data-action=rename]")?.focus();
  }

  /** A section whose form has done its work is drawn anew. */
  #release(section) {
    const element = this.#parts.detailsBody.querySelector(`[data-section="${section}"]`);
    if (element) element.dataset.done = "true";
  }

  async #patch(changes, section, message) {
    await this.#attempt(async () => {
      const changed = await patch(`/documents/${this.#id}`, changes);
      if (section) this.#release(section);
      this.#state.document = changed;
      if (section === "name") this.#setRenaming(false);
      this.#show();
      if (section === "tags") this.#parts.detailsBody.querySelector("[data-action=tag]")?.focus();
      if (changes.title) this.#renamed(changed.name);
      if (message) toast(message);
    });
    this.#show();
  }

  #renamed(name) {
    this.#parts.name.textContent = name;
    this.#page.querySelector("h1").textContent = name;
    document.title = `${name} · Locus`;
  }

  async #replace(file) {
    this.#state.document = await replaceFile(this.#state.document, file);
    this.#renamed(this.#state.document.name);
    this.#show();
    this.#follow();
  }

  async #replaceSound() {
    const file = await chooseReplacement(this.#state.document);
    if (file) await this.#attempt(() => this.#replace(file));
  }

  async #unlock() {
    const unlocked = await askPassword(this.#state.document.name, (password) => post(`/documents/${this.#id}/unlock`, { password }));
    if (!unlocked) return;
    this.#state.document = unlocked;
    this.#show();
    this.#follow();
  }

  async #reprocess() {
    this.#state.document = await post(`/documents/${this.#id}/reprocess`, {});
    this.#show();
    this.#follow();
  }

  async #delete() {
    const agreed = await confirm({
      title: t("Delete “{name}”?", { name: this.#state.document.name }),
      text: t("The file, its chunks and everything found in it go for good. Earlier answers that used it lose its words."),
      action: t("Delete document"),
    });
    if (!agreed) return;
    await this.#attempt(async () => {
      this.#stopFollowing();
      await del(`/documents/${this.#id}`);
      location.assign("/documents/");
    });
  }

  #openPage(number) {
    if (matchMedia(NARROW).matches) this.#setOpen(false);
    this.#viewer.goTo(number);
  }

  async #openPlace(place, citations) {
    if (matchMedia(NARROW).matches) this.#setOpen(false);
    // What the address names is still being shown, perhaps; it must not come after this.
    await this.#placed;
    await this.#viewer.showPlace(place, citations);
  }

  #setOpen(open, { focus = true } = {}) {
    const { details, toggleDetails, closeDetails } = this.#parts;
    details.hidden = !open;
    toggleDetails.setAttribute("aria-expanded", String(open));
    this.#page.classList.toggle("has-details", open);
    if (!focus) return;
    if (!open) toggleDetails.focus();
    else if (matchMedia(NARROW).matches) closeDetails.focus();
  }

  #notify(message) {
    const { notice } = this.#parts;
    notice.textContent = message;
    notice.hidden = false;
  }

  async #attempt(action) {
    try {
      await action();
    } catch (error) {
      toast(error.message, { error: true });
    }
  }
}
