// The viewer beside the thread: it shows the place of a citation, and its words are marked in the answer meanwhile.
import { markClaim } from "./claim.js";
import { toast } from "./dom.js";
import { PAGE } from "./execution.js";
import { importWithTexts, t } from "./texts.js";

export class PlaceOfAnswer {
  #page;
  #onAsk;
  #viewer = null;
  #module = null;
  #openedFrom = null;

  /** `onAsk({document, quote})` is called by who asks about what the viewer shows. */
  constructor(page, { onAsk }) {
    this.#page = page;
    this.#onAsk = onAsk;
    // Many read an answer and open nothing. Who comes near a source has the viewer by the time of the click.
    for (const event of ["pointerover", "focusin"]) page.addEventListener(event, ({ target }) => target.closest("[data-rank]") && this.#load().catch(() => {}));
  }

  /** Show what is cited; pages of the web open by their links. */
  async open({ kind, source, quote }, button) {
    if (kind === PAGE) return undefined;
    if (source.unavailable) return toast(t("You can no longer see this document."));
    this.#mark(button);
    const module = await this.#load().catch(() => null);
    // Meanwhile the reader may have gone on to another one.
    if (button !== this.#openedFrom) return undefined;
    if (!module) return this.#failed();
    this.#viewer ??= new module.Viewer(this.#page.querySelector("[data-viewer]"), { onClose: () => this.#closed(), onAsk: this.#onAsk });
    this.#page.classList.add("has-viewer");
    return this.#viewer.showPlace(module.placeOfCitation(source, quote), citationsAround(button));
  }

  #failed() {
    this.#mark(null);
    toast(t("The server can’t be reached. Check your connection and try again."), { error: true });
  }

  close() {
    if (this.#viewer) this.#viewer.close();
    else this.#mark(null);
  }

  /** The viewer's script; what failed to load is asked for again. */
  #load() {
    this.#module ??= importWithTexts(() => import("./viewer.js")).catch((error) => {
      this.#module = null;
      throw error;
    });
    return this.#module;
  }

  #mark(button) {
    for (const open of this.#page.querySelectorAll(".is-open:not(.history)")) open.classList.remove("is-open");
    this.#openedFrom = button;
    button?.classList.add("is-open");
    markClaim(button?.matches(".cite") ? button : null);
  }

  #closed() {
    const from = this.#openedFrom;
    this.#page.classList.remove("has-viewer");
    this.#mark(null);
    if (from?.isConnected) from.focus({ preventScroll: true });
  }
}

/** The citations of an answer, so that the viewer can go from one to the next. */
function citationsAround(button) {
  if (!button?.matches(".cite")) return null;
  const chips = [...button.closest(".turn").querySelectorAll("button.cite")];
  return { at: chips.indexOf(button), of: chips.length, go: (index) => chips[index]?.click() };
}
