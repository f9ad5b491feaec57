import { forget, recall, remember } from "./remembered.js";

const KEY = "theme";
const OF_ACCOUNT = "themeOfAccount";
const THEMES = ["light", "dark"];

/** The choice that this browser keeps, or null. */
export function storedTheme() {
  const theme = recall(KEY);
  return THEMES.includes(theme) ? theme : null;
}

export function currentTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  return document.documentElement.dataset.theme ?? system;
}

/** Show a theme and keep it in this browser; "system" forgets the choice. */
export function setTheme(theme) {
  if (THEMES.includes(theme)) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  if (isKeptByAccount() || theme === "system") adoptTheme(theme);
  else remember(KEY, theme);
}

/** Keep the account's theme in this browser, for pages without a login and the admin panel. "system" takes back
 * only what came from an account. */
export function adoptTheme(theme) {
  if (THEMES.includes(theme)) {
    remember(KEY, theme);
    remember(OF_ACCOUNT, "yes");
  } else if (recall(OF_ACCOUNT)) {
    forget(KEY);
    forget(OF_ACCOUNT);
  }
}

/** Whether somebody is logged in, whose account keeps the theme. */
export const isKeptByAccount = () => document.documentElement.dataset.userTheme !== undefined;
