// The column of conversations. The server renders the first ones; this keeps them true, searches, and asks for more.
import { get } from "./api.js";
import { h, icon } from "./dom.js";
import { debounced } from "./scope.js";
import { t } from "./texts.js";

const MOST = 30;

/** `onMenu(button, id)` opens the menu of a conversation. */
export function startConversationList({ history, historyEmpty, historyList, historyMore, historySearch, showHistory, headHistory, hideHistory }, { current, onMenu }) {
  let next = null;
  let selected = current;
  // One beside the question; where nothing may be asked, one above the thread.
  const openers = [showHistory, headHistory];

  function setOpen(open) {
    history.classList.toggle("is-open", open);
    for (const opener of openers) opener.setAttribute("aria-expanded", String(open));
    if (open) hideHistory.focus();
    else openers.find((opener) => opener.offsetParent)?.focus();
  }

  function item({ id, title, pinned, shared }) {
    const words = title || t("New conversation");
    const signs = [pinned ? icon("pin") : null, shared ? icon("link") : null].filter(Boolean);
    return h(
      "li",
      { class: "conversation-item" },
      h("a", { href: `/c/${id}`, "data-session": id, "aria-current": id === selected ? "page" : null }, h("span", { class: "history-query" }, words), signs.length ? h("span", { class: "conversation-signs" }, signs) : null),
      h("button", { class: "icon-button conversation-more", type: "button", "data-menu-of": id, "aria-label": t("More for “{words}”", { words }) }, icon("ellipsis")),
    );
  }

  async function refresh() {
    const query = historySearch.value.trim();
    let list;
    try {
      list = await get("/sessions", { limit: MOST, q: query || null });
    } catch {
      return; // Without the list, everything else on the page still works.
    }
    if (query !== historySearch.value.trim()) return;
    show(list, historyList.replaceChildren.bind(historyList));
    historyEmpty.hidden = list.results.length > 0;
    historyEmpty.textContent = query ? t("No conversation has these words.") : t("Your conversations are listed here.");
  }

  function show(list, add) {
    next = list.next;
    historyMore.hidden = !next;
    add(...list.results.map(item));
  }

  /** What the server has rendered has no address of its rest: then the first two pages are asked for. */
  async function more() {
    if (next) show(await get(next), historyList.append.bind(historyList));
    else show(await get("/sessions", { limit: 2 * MOST }), historyList.replaceChildren.bind(historyList));
  }

  function select(id) {
    selected = id;
    for (const link of historyList.querySelectorAll("a")) {
      if (link.dataset.session === id) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }

  historyList.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-menu-of]");
    if (button) onMenu(button, button.dataset.menuOf);
  });
  historySearch.addEventListener("input", debounced(refresh));
  historyMore.addEventListener("click", more);
  for (const opener of openers) opener.addEventListener("click", () => setOpen(!history.classList.contains("is-open")));
  hideHistory.addEventListener("click", () => setOpen(false));
  history.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !history.classList.contains("is-open")) return;
    event.stopPropagation();
    setOpen(false);
  });
  return { refresh, select };
}
