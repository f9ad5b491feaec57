import { recall, remember } from "./remembered.js";

const KEY = "theme";
const THEMES = ["light", "dark"];

/** The reader's choice, or null. */
export function storedTheme() {
  const theme = recall(KEY);
  return THEMES.includes(theme) ? theme : null;
}

export function currentTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  return document.documentElement.dataset.theme ?? system;
}

export function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  remember(KEY, theme);
}
