// What every page has around its content: the theme toggle and the account menu.
import { currentTheme, setTheme } from "./theme-choice.js";

export function startChrome() {
  for (const button of document.querySelectorAll("[data-theme-toggle]")) startToggle(button);
  for (const menu of document.querySelectorAll("[data-menu]")) startMenu(menu);
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
