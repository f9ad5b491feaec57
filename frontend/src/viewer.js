// The panel beside the answer: it shows a cited place in the way that suits the document's kind.
import { get } from "./api.js";
import { h, icon, parts } from "./dom.js";
import { MediaView } from "./media-view.js";
import { PageView } from "./page-view.js";
import { TextView } from "./text-view.js";
import { modeOf } from "./view-mode.js";

const NARROW = "(max-width: 60rem)";
const VIEWS = { page: PageView, media: MediaView, text: TextView };
const WORDS = {
  page: { stage: "Page", previous: "Previous page", next: "Next page" },
  media: { stage: "Recording", previous: "Previous part", next: "Next part" },
  text: { stage: "Text", previous: "Previous chunk", next: "Next chunk" },
};

/** The place a citation points at, from a context and one of its quotes. */
export function placeOfCitation(context, quote) {
  return {
    documentId: context.document_id,
    chunkId: context.chunk_id,
    chunkBoxes: context.bbox ?? [],
    quoteBoxes: quote?.bbox ?? [],
    quoteText: quote?.text ?? null,
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
  #place = null;
  #view = null;
  #requestedPage = null;
  #showing = 0;

  /** `asSheet`: cover the screen on a phone. `onClose` is told when the reader closes the viewer. */
  constructor(dialog, { asSheet = true, onClose = () => {} } = {}) {
    this.#dialog = dialog;
    this.#parts = parts(dialog);
    this.#options = { asSheet, onClose };
    const { close, previous, next, smaller, larger, back, number, stage } = this.#parts;
    close.addEventListener("click", () => this.close());
    previous.addEventListener("click", () => this.#view?.step(-1));
    next.addEventListener("click", () => this.#view?.step(1));
    smaller.addEventListener("click", () => this.#view?.zoom(-1));
    larger.addEventListener("click", () => this.#view?.zoom(1));
    back.addEventListener("click", () => this.showPlace(this.#place));
    number.addEventListener("change", () => this.goTo(Number.parseInt(number.value, 10)));
    number.addEventListener("focus", () => number.select());
    stage.addEventListener("keydown", (event) => this.#key(event));
    dialog.addEventListener("keydown", (event) => event.key === "Escape" && this.#escape(event));
    dialog.addEventListener("close", () => {
      this.#view?.leave();
      this.#options.onClose();
    });
  }

  /** Open at a place: `{documentId, chunkId?, chunkBoxes, quoteBoxes, quoteText?, picture?, isMachineMade?, pageNumber?, startTime?}`. */
  async showPlace(place) {
    const showing = (this.#showing += 1);
    this.#place = place;
    this.#requestedPage = null;
    this.#open();
    try {
      const document = await this.#fetchDocument(place.documentId);
      if (showing !== this.#showing) return;
      this.#describe(document);
      await this.#showIn(document, place);
      if (this.#requestedPage) this.#view.goTo(this.#requestedPage);
    } catch (error) {
      if (showing === this.#showing) this.#say(error.message);
    }
    // On a page of its own the viewer is what was asked for; taking the focus there would skip the page's top.
    if (this.#options.asSheet && this.#dialog.open) this.#parts.stage.focus({ preventScroll: true });
  }

  /** Show the same place in a document that has changed. */
  refresh(document) {
    this.#documents.set(document.id, Promise.resolve(document));
    // Who is looking at a page keeps it, and its size.
    if (this.#view?.update && this.#dialog.dataset.mode === modeOf(document, this.#place)) return this.#view.update(document);
    return this.showPlace(this.#place);
  }

  /** Turn to a page; while the document is still loading, as soon as it is there. */
  goTo(pageNumber) {
    this.#requestedPage = pageNumber;
    this.#view?.goTo(pageNumber);
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

  async #fetchDocument(id) {
    if (!this.#documents.has(id)) this.#documents.set(id, get(`/documents/${id}`));
    return this.#documents.get(id).catch((error) => {
      this.#documents.delete(id);
      throw error;
    });
  }

  #describe({ id, name }) {
    this.#parts.name.textContent = name;
    this.#parts.original.href = `/api/v1/documents/${id}/file`;
  }

  #showIn(document, place) {
    const mode = modeOf(document, place);
    this.#view?.leave();
    this.#dialog.dataset.mode = mode;
    this.#name(WORDS[mode]);
    this.#view = new VIEWS[mode]({ parts: this.#parts, document, place, say: (message) => this.#say(message) });
    return this.#view.show();
  }

  #name(words) {
    this.#parts.stage.setAttribute("aria-label", words.stage);
    for (const [part, key] of [["previous", "←"], ["next", "→"]]) {
      this.#parts[part].setAttribute("aria-label", words[part]);
      this.#parts[part].title = `${words[part]} (${key})`;
    }
  }

  #key(event) {
    // The player and the boxes in which tables scroll have keys of their own.
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("video, audio, .passage-table")) return;
    const actions = {
      ArrowLeft: () => this.#view?.step(-1),
      ArrowRight: () => this.#view?.step(1),
      "+": () => this.#view?.zoom(1),
      "-": () => this.#view?.zoom(-1),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  #escape(event) {
    event.preventDefault();
    this.close();
  }

  #say(message) {
    this.#parts.stage.replaceChildren(h("p", { class: "notice viewer-notice" }, icon("triangle-alert"), message));
  }
}
