// Keys of every page. Those without Ctrl can be switched off: who speaks to the computer types them by accident.
import { recall, remember } from "./remembered.js";
import { importWithTexts } from "./texts.js";

const SINGLE = "keys.single";
const ENTRIES = "[data-document] a[href], .search-hit-link, .history-list a, .hit-title a";

export function startShortcuts() {
  const dialog = document.querySelector("[data-shortcuts]");
  if (!dialog) return;
  const choice = dialog.querySelector("[data-single-keys]");
  choice.checked = recall(SINGLE) !== "off";
  choice.addEventListener("change", () => remember(SINGLE, choice.checked ? "on" : "off"));
  for (const button of document.querySelectorAll("[data-open-shortcuts]")) button.addEventListener("click", () => dialog.showModal());
  for (const button of document.querySelectorAll("[data-open-palette]")) button.addEventListener("click", palette);
  document.addEventListener("keydown", (event) => pressed(event, dialog, choice));
}

function pressed(event, dialog, choice) {
  if (event.defaultPrevented || event.isComposing || event.repeat && event.key === "k" && (event.ctrlKey || event.metaKey)) return;
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
    event.preventDefault();
    palette();
    return;
  }
  if (!choice.checked || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]:modal")) return;
  const actions = {
    "/": palette,
    "?": () => dialog.showModal(),
    n: () => newQuestion(),
    j: () => step(1),
    k: () => step(-1),
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
}

const palette = () => importWithTexts(() => import("./palette.js")).then(({ openPalette }) => openPalette());

/** On a conversation that has not begun the box is there already. */
function newQuestion() {
  const link = document.querySelector("[data-new-question]");
  if (link) link.click();
  else location.assign("/");
}

function step(by) {
  const entries = [...document.querySelectorAll(ENTRIES)].filter((one) => one.checkVisibility() && !one.closest("[data-viewer]"));
  if (!entries.length) return;
  const at = entries.indexOf(document.activeElement);
  const next = at < 0 ? (by > 0 ? 0 : entries.length - 1) : at + by;
  entries[Math.max(0, Math.min(entries.length - 1, next))].focus();
}

function isTyping(target) {
  return target instanceof Element && target.closest("input:not([type=checkbox], [type=radio], [type=button]), textarea, select, [contenteditable], video, audio, [role=slider]") !== null;
}
