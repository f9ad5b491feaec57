// The first script of a page, before anything is painted: sets a chosen theme (without one, the system decides) and keeps
// what is done before the other scripts are there.
import { keepEarlyActions } from "./early-actions.js";
import { adoptTheme, isKeptByAccount, storedTheme } from "./theme-choice.js";

if (isKeptByAccount()) adoptTheme(document.documentElement.dataset.userTheme);
const theme = storedTheme();
if (theme) document.documentElement.dataset.theme = theme;
keepEarlyActions();
