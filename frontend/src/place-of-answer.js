// The viewer beside the thread: it shows the place of a citation, and its words are marked in the answer meanwhile.
import { markClaim } from "./claim.js";
import { toast } from "./dom.js";
import { PAGE } from "./execution.js";
import { placeOfCitation, Viewer } from "./viewer.js";
import { t } from "./texts.js";

export class PlaceOfAnswer {
  #page;
  #viewer;
  #openedFrom = null;

  /** `onAsk({document, quote})` is called by who asks about what the viewer shows. */
  constructor(page, { onAsk }) {
    this.#page = page;
    this.#viewer = new Viewer(page.querySelector("[data-viewer]"), { onClose: () => this.#closed(), onAsk });
  }

  /** Show what is cited; pages of the web open by their links. */
  open({ kind, source, quote }, button) {
    if (kind === PAGE) return undefined;
    if (source.unavailable) return toast(t("You can no longer see this document."));
    this.#mark(button);
    this.#page.classList.add("has-viewer");
    return this.#viewer.showPlace(placeOfCitation(source, quote), citationsAround(button));
  }

  close() {
    this.#viewer.close();
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
