// The panel that shows a document at a place, in the view that suits its kind.
//
// A view is a class with one document on the stage. `views.js` names it, `view-mode.js` chooses it, and it is loaded when
// it is first needed. `new View({ parts, document, place, say })` gets
//   parts     the elements of templates/kb/viewer.html by their `data-part`; `stage` is the view's own
//   document  a Document of the API
//   place     `{documentId, chunkId?, chunkBoxes, quoteBoxes, quoteText?, quoteRange?, headerBoxes?, picture?, isMachineMade?, pageNumber?, startTime?}`
//   say       shows a message in place of the document
// and has
//   static words    `{stage, previous, next}`: what the stage, and the buttons ‹ and ›, are called
//   static tools    which tools it works with; the others are hidden. Of “pages”, “zoom”, “scale”, “find”, “side”, “turn”, “print”, “passages”
//   show()          draw the document at its place; a promise. An error with `insteadMode` names the view to take instead
//   leave()         another view comes, or the panel closes: stop timers, downloads and workers
//   step(by)        one page, part or chunk back (-1) or on (1)
// and where it makes sense (the viewer asks with `?.`)
//   showPlace(place)  another place in the same document, without loading it again; else the view is made anew
//   update(document)  the document was processed again; what the reader looks at stays
//   goTo(page)        a page by its number
//   zoom(by)          smaller (-1) or larger (1); setScale(value) takes an option of the list “Size”
//   turn()            a quarter clockwise
//   print()           the whole document
//   link()            what follows `/documents/<id>?` to come back to what is in sight: `{page: 3}`, `{chunk: id}`
//   toggleSide()      the panel of thumbnails and outline
//   togglePassages()  the outlines of all chunks; returns whether they are shown
//   find              `{search(query, {back?, again?}), close()}`; the view reports matches by `parts.findCount`
import { get } from "./api.js";
import { h, icon, parts } from "./dom.js";
import { startFind } from "./find-bar.js";
import { day } from "./format.js";
import { modeOf } from "./view-mode.js";
import { startViewerMenu } from "./viewer-menu.js";
import { VIEWS } from "./views.js";
import { t } from "./texts.js";

const NARROW = "(max-width: 60rem)";

/** The place a citation points at, from a context and one of its quotes. */
export function placeOfCitation(context, quote) {
  return {
    documentId: context.document_id,
    chunkId: context.chunk_id,
    chunkBoxes: context.bbox ?? [],
    quoteBoxes: quote?.bbox ?? [],
    quoteText: quote?.text ?? null,
    quoteRange: quote?.chunk_end ? [quote.chunk_start, quote.chunk_end] : null,
    headerBoxes: quote?.header?.bbox ?? [],
    picture: context.picture ?? null,
    isMachineMade: quote?.machine_made ?? false,
    pageNumber: context.page_number,
    startTime: quote?.start_time ?? context.start_time,
  };
}

export class Viewer {
  #dialog;
  #parts;
  #options;
  #documents = new Map();
  #document = null;
  #place = null;
  #view = null;
  #find;
  #citations = null;
  #requestedPage = null;
  #showing = 0;

  /**
   * `asSheet`: cover the screen on a phone. `onClose` is told when the reader closes the viewer, `onAsk({document, quote})`
   * when they want to ask about it: `quote` is what they have selected, or null.
   */
  constructor(dialog, { asSheet = true, onClose = () => {}, onAsk = null } = {}) {
    this.#dialog = dialog;
    this.#parts = parts(dialog);
    this.#options = { asSheet, onClose, onAsk };
    this.#find = startFind(this.#parts, () => this.#view?.find);
    startViewerMenu(dialog, this.#parts, { viewOf: () => this.#view, documentOf: () => this.#document, placeOf: () => this.#place, onAsk });
    const { close, previous, next, smaller, larger, back, number, scale, citationBack, citationOn } = this.#parts;
    close.addEventListener("click", () => this.close());
    previous.addEventListener("click", () => this.#view?.step(-1));
    next.addEventListener("click", () => this.#view?.step(1));
    smaller.addEventListener("click", () => this.#view?.zoom?.(-1));
    larger.addEventListener("click", () => this.#view?.zoom?.(1));
    scale.addEventListener("change", () => this.#view?.setScale?.(scale.value));
    back.addEventListener("click", () => this.showPlace(this.#place, this.#citations));
    citationBack.addEventListener("click", () => this.#citations.go(this.#citations.at - 1));
    citationOn.addEventListener("click", () => this.#citations.go(this.#citations.at + 1));
    number.addEventListener("change", () => this.goTo(Number.parseInt(number.value, 10)));
    number.addEventListener("focus", () => number.select());
    dialog.addEventListener("keydown", (event) => this.#key(event));
    // On a page of its own the viewer is the page: its search is that of the page.
    if (!asSheet) document.addEventListener("keydown", (event) => this.#findKey(event));
    dialog.addEventListener("close", () => this.#closed());
  }

  /**
   * Open at a place (see above). `citations` are those of the answer, for ‹ and › between them: `{at, of, go(index)}`,
   * where `go` opens another one, counted from 0.
   */
  async showPlace(place, citations = null) {
    const showing = (this.#showing += 1);
    this.#place = place;
    this.#requestedPage = null;
    this.#open();
    this.#showCitations(citations);
    try {
      const [document, chunk] = await Promise.all([this.#fetchDocument(place.documentId), this.#fetchChunk(place.chunkId)]);
      if (showing !== this.#showing) return;
      await this.#showIn(document, this.#inThisVersion(place, chunk, document), showing);
      if (this.#requestedPage && showing === this.#showing) this.#view.goTo?.(this.#requestedPage);
    } catch (error) {
      if (showing === this.#showing) this.#say(error.message);
    }
    // On a page of its own the viewer is what was asked for; taking the focus there would skip the page's top.
    // Who goes from one citation to the next stays at that button.
    const isStepping = this.#parts.citationGroup.contains(document.activeElement);
    if (this.#options.asSheet && this.#dialog.open && !isStepping) this.#parts.stage.focus({ preventScroll: true });
  }

  /** Show the same place in a document that has changed. */
  refresh(document) {
    this.#documents.set(document.id, Promise.resolve(document));
    // Who is looking at a page keeps it, and its size; a file that has become another kind is shown anew.
    const isSameKind = this.#place && modeOf(document, this.#place) === this.#dialog.dataset.mode;
    if (this.#view?.update && this.#document?.id === document.id && isSameKind) {
      this.#document = document;
      return this.#view.update(document);
    }
    return this.showPlace(this.#place, this.#citations);
  }

  /** Turn to a page; while the document is still loading, as soon as it is there. */
  goTo(pageNumber) {
    this.#requestedPage = pageNumber;
    this.#view?.goTo?.(pageNumber);
  }

  close() {
    if (this.#options.asSheet) this.#dialog.close();
  }

  get isOpen() {
    return this.#dialog.open;
  }

  #open() {
    if (this.#dialog.open) return;
    if (!this.#options.asSheet) this.#dialog.open = true;
    else if (matchMedia(NARROW).matches) this.#dialog.showModal();
    else this.#dialog.show();
  }

  #closed() {
    this.#showing += 1;
    this.#leaveView();
    this.#options.onClose();
  }

  #leaveView() {
    this.#find.close();
    this.#view?.leave();
    this.#view = null;
  }

  async #fetchDocument(id) {
    if (!this.#documents.has(id)) this.#documents.set(id, get(`/documents/${id}`));
    return this.#documents.get(id).catch((error) => {
      this.#documents.delete(id);
      throw error;
    });
  }

  /** A chunk may be of a file that was replaced; nothing is said where that can't be known. */
  async #fetchChunk(id) {
    return id ? get(`/chunks/${id}`).catch(() => null) : null;
  }

  /** The place without marks, if they are those of a file that was replaced: its words are shown above instead. */
  #inThisVersion(place, chunk, { page_count: pages }) {
    const { earlier, earlierWhy, earlierWords } = this.#parts;
    const replaced = chunk?.file_replaced_at;
    earlier.hidden = !replaced;
    if (!replaced) return place;
    earlierWhy.textContent = t("From an earlier version of this document, replaced on {date}.", { date: day(replaced) });
    earlierWords.textContent = place.quoteText || chunk.text;
    const pageNumber = Math.min(place.pageNumber ?? 1, pages ?? 1);
    return { ...place, chunkId: null, chunkBoxes: [], quoteBoxes: [], headerBoxes: [], quoteText: null, quoteRange: null, picture: null, pageNumber };
  }

  async #showIn(document, place, showing) {
    const isSame = this.#document === document && this.#view?.showPlace;
    this.#describe(document);
    if (isSame) return this.#view.showPlace(place);
    const mode = modeOf(document, place);
    try {
      await this.#showView(mode, document, place, showing);
    } catch (error) {
      if (!error.insteadMode || showing !== this.#showing) throw error;
      await this.#showView(error.insteadMode, document, place, showing);
    }
    return undefined;
  }

  async #showView(mode, document, place, showing) {
    const View = await VIEWS[mode]();
    if (showing !== this.#showing) return undefined;
    this.#leaveView();
    this.#dialog.dataset.mode = mode;
    this.#equip(View);
    this.#view = new View({ parts: this.#parts, document, place, say: (message) => this.#say(message) });
    return this.#view.show();
  }

  #describe(document) {
    this.#document = document;
    this.#parts.name.textContent = document.name;
    this.#parts.name.title = document.name;
    const file = `/api/v1/documents/${document.id}/file`;
    this.#parts.original.href = file;
    this.#parts.download.href = file;
    this.#parts.download.download = document.name;
  }

  /** Call the buttons by what they do in this view, and show only those it can use. */
  #equip({ words, tools }) {
    this.#parts.stage.setAttribute("aria-label", words.stage);
    for (const [part, key] of [["previous", "←"], ["next", "→"]]) {
      this.#parts[part].setAttribute("aria-label", words[part]);
      this.#parts[part].title = `${words[part]} (${key})`;
    }
    for (const element of this.#dialog.querySelectorAll("[data-tool]")) element.hidden = !tools.includes(element.dataset.tool);
  }

  #showCitations(citations) {
    this.#citations = citations?.of > 1 ? citations : null;
    const { citationGroup, citationBack, citationOn, citationAt } = this.#parts;
    citationGroup.hidden = !this.#citations;
    if (!this.#citations) return;
    const { at, of } = this.#citations;
    citationAt.textContent = t("{number} of {total}", { number: at + 1, total: of });
    citationBack.disabled = at === 0;
    citationOn.disabled = at === of - 1;
  }

  #key(event) {
    if (event.key === "Escape") return this.#escape(event);
    if (this.#options.asSheet) this.#findKey(event);
    // The player and the boxes in which tables scroll have keys of their own.
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return undefined;
    if (!this.#parts.stage.contains(event.target) || event.target.closest("video, audio, input, select, .passage-table")) return undefined;
    const actions = {
      ArrowLeft: () => this.#view?.step(-1),
      ArrowRight: () => this.#view?.step(1),
      "+": () => this.#view?.zoom?.(1),
      "-": () => this.#view?.zoom?.(-1),
    };
    if (!actions[event.key]) return undefined;
    event.preventDefault();
    return actions[event.key]();
  }

  #findKey(event) {
    if (event.key.toLowerCase() !== "f" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    if (!this.#view?.find || document.querySelector("dialog:modal:not([data-viewer])")) return;
    event.preventDefault();
    this.#find.open();
  }

  /** What lies on top goes first: a menu, the search, then the viewer. */
  #escape(event) {
    event.preventDefault();
    const menu = this.#dialog.querySelector("details[open]");
    if (menu) {
      menu.open = false;
      menu.querySelector("summary").focus();
    } else if (!this.#find.close()) this.close();
  }

  #say(message) {
    this.#parts.stage.replaceChildren(h("p", { class: "notice viewer-notice" }, icon("triangle-alert"), message));
  }
}
