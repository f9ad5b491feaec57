// Earlier questions of this reader, newest first.
import { get } from "./api.js";
import { h, icon } from "./dom.js";
import { WEB } from "./execution.js";
import { since } from "./since.js";

export function startHistory(page, parts, { tools, onOpen }) {
  const { history, historyEmpty, historyList, historyMore, showHistory, hideHistory } = parts;
  let next = null;
  let selected = new URLSearchParams(location.search).get("execution");

  const setOpen = (open) => {
    history.classList.toggle("is-open", open);
    showHistory.setAttribute("aria-expanded", String(open));
    if (open) hideHistory.focus();
  };

  async function load(path) {
    try {
      const list = await get(path);
      next = list.next;
      historyMore.hidden = !next;
      return list.results;
    } catch {
      // Without the list, everything else on the page still works.
      return [];
    }
  }

  const item = (execution) => {
    const { id } = execution;
    const open = (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      setOpen(false);
      onOpen(id);
    };
    const current = id === selected ? "true" : null;
    const link = h(
      "a",
      { href: `/?execution=${encodeURIComponent(id)}`, onclick: open, "data-execution": id, "aria-current": current },
      h("span", { class: "history-query" }, execution.inputs.query),
      h("span", { class: "history-when" }, execution.tool === WEB ? [icon("globe"), "Web, "] : null, since(execution.created_at)),
    );
    return h("li", {}, link);
  };

  async function refresh() {
    const results = await load(`/executions?${tools.map((tool) => `tool=${tool}&`).join("")}limit=30`);
    historyList.replaceChildren(...results.map(item));
    historyEmpty.hidden = results.length > 0;
    select(selected);
  }

  function select(id) {
    selected = id;
    for (const link of historyList.querySelectorAll("a")) {
      if (link.dataset.execution === id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    if (id) window.history.replaceState(null, "", `/?execution=${encodeURIComponent(id)}`);
  }

  historyMore.addEventListener("click", async () => historyList.append(...(await load(next)).map(item)));
  showHistory.addEventListener("click", () => setOpen(!history.classList.contains("is-open")));
  hideHistory.addEventListener("click", () => {
    setOpen(false);
    showHistory.focus();
  });
  history.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !history.classList.contains("is-open")) return;
    event.stopPropagation();
    setOpen(false);
    showHistory.focus();
  });
  refresh();
  return { refresh, select };
}
