// What can be done with the document in the viewer: ask about it, copy a link to the place, print, turn, look at its passages.
import { toast } from "./dom.js";
import { rememberDraft } from "./draft.js";
import { quotedStart, selectionIn } from "./selection.js";
import { t } from "./texts.js";

/** Start the actions of a viewer; `viewOf`, `documentOf` and `placeOf` return what it shows now. */
export function startViewerMenu(dialog, parts, { viewOf, documentOf, placeOf, onAsk }) {
  const { copyLink, printAll, turn, toggleSide, passages, askSelection, askDocument, stage } = parts;
  const menu = dialog.querySelector("[data-viewer-menu]");

  for (const element of menu.querySelectorAll("a, button")) element.addEventListener("click", () => (menu.open = false));
  document.addEventListener("click", (event) => !menu.contains(event.target) && (menu.open = false));
  copyLink.addEventListener("click", () => copy(linkTo(documentOf(), viewOf(), placeOf())));
  printAll.addEventListener("click", () => viewOf()?.print?.());
  turn.addEventListener("click", () => viewOf()?.turn?.());
  toggleSide.addEventListener("click", () => viewOf()?.toggleSide?.());
  passages.addEventListener("click", () => {
    const shown = viewOf()?.togglePassages?.() ?? false;
    passages.setAttribute("aria-pressed", String(shown));
  });

  document.addEventListener("selectionchange", () => {
    askSelection.hidden = !selectionIn(stage);
  });
  // A press would take the selection away before the click.
  askSelection.addEventListener("pointerdown", (event) => event.preventDefault());
  askSelection.addEventListener("click", () => ask(selectionIn(stage)));
  askDocument?.addEventListener("click", () => ask(null));

  function ask(quote) {
    const about = documentOf();
    if (onAsk) return onAsk({ document: about, quote });
    const query = new URLSearchParams({ document: about.id });
    // The words don't go into the address: histories and logs keep those.
    if (quote) rememberDraft(quotedStart(quote));
    location.assign(`/?${query}`);
    return undefined;
  }
}

/** The address of what is in sight: of the marked chunk, or of the page or second where the reader is. */
export function linkTo(document, view, place) {
  const seen = view?.link?.() ?? (place?.chunkId ? { chunk: place.chunkId } : {});
  const query = new URLSearchParams(seen);
  const search = query.toString();
  return new URL(`/documents/${document.id}${search ? `?${search}` : ""}`, location.href).href;
}

async function copy(address) {
  try {
    await navigator.clipboard.writeText(address);
    toast(t("The link to this place is copied."));
  } catch {
    // Without https there is no clipboard: the reader copies it.
    toast(t("Copy this link: {address}", { address }));
  }
}
