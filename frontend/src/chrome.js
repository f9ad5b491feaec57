// What every page has around its content: the theme toggle, the account menu, and a guard against dropped files.
import { toast } from "./dom.js";
import { currentTheme, setTheme } from "./theme-choice.js";

export function startChrome() {
  for (const button of document.querySelectorAll("[data-theme-toggle]")) startToggle(button);
  for (const menu of document.querySelectorAll("[data-menu]")) startMenu(menu);
  guardDrops();
}

/** A file that nobody takes would be opened by the browser in place of the page, and with it all that was typed. */
function guardDrops() {
  const unclaimed = (event) => event.dataTransfer?.types.includes("Files") && !event.defaultPrevented;
  window.addEventListener("dragover", (event) => unclaimed(event) && event.preventDefault());
  window.addEventListener("drop", (event) => {
    if (!unclaimed(event)) return;
    event.preventDefault();
    toast("Files can be dropped on the Documents page.");
  });
}

function startToggle(button) {
  const show = () => button.setAttribute("aria-pressed", String(currentTheme() === "dark"));
  button.addEventListener("click", () => {
    setTheme(currentTheme() === "dark" ? "light" : "dark");
    show();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
}

/** A <details> opens and closes by itself; a menu also closes on Escape and on a click elsewhere. */
function startMenu(menu) {
  document.addEventListener("click", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}
