// What every page has around its content: the theme toggle, the account menu, and a guard against dropped files.
import { patch } from "./api.js";
import { sendAnywhere } from "./send-anywhere.js";
import { currentTheme, isKeptByAccount, setTheme } from "./theme-choice.js";

export function startChrome() {
  for (const button of document.querySelectorAll("[data-theme-toggle]")) startToggle(button);
  for (const menu of document.querySelectorAll("[data-menu]")) startMenu(menu);
  for (const select of document.querySelectorAll("select[data-go]")) startChoice(select);
  for (const note of document.querySelectorAll("#toasts > .toast")) setTimeout(() => note.remove(), 5000);
  // On a phone the list of a frame, and its tabs, are a row that scrolls.
  const current = document.querySelector(".frame-list [aria-current], .page-tabs [aria-current]");
  current?.scrollIntoView({ block: "nearest", inline: "nearest" });
  guardDrops();
}

/** A choice of addresses: this page of another workspace, with the same query. */
function startChoice(select) {
  select.addEventListener("change", () => location.assign(select.value + location.search));
}

/** A file that nobody takes would be opened by the browser in place of the page, and with it all that was typed:
 * it becomes a document instead. */
function guardDrops() {
  const isLoggedIn = () => document.querySelector("[data-menu]") !== null;
  const unclaimed = (event) => event.dataTransfer?.types.includes("Files") && !event.defaultPrevented;
  window.addEventListener("dragover", (event) => unclaimed(event) && event.preventDefault());
  window.addEventListener("drop", (event) => {
    if (!unclaimed(event)) return;
    event.preventDefault();
    if (isLoggedIn()) sendAnywhere(event.dataTransfer);
  });
}

function startToggle(button) {
  const show = () => button.setAttribute("aria-pressed", String(currentTheme() === "dark"));
  button.addEventListener("click", () => {
    const theme = currentTheme() === "dark" ? "light" : "dark";
    setTheme(theme);
    show();
    // This browser remembers it as well, so a failure is of no importance. Who leaves at once is still heard.
    if (isKeptByAccount()) patch("/me", { theme }, { keepalive: true }).catch(() => {});
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
}

/** A <details> opens and closes by itself; a menu also closes on Escape and on a click elsewhere. */
function startMenu(menu) {
  document.addEventListener("click", (event) => {
    // Not by the parent of what was clicked: a click may have replaced it.
    if (!event.composedPath().includes(menu)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}
