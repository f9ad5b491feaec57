// Sets a chosen theme before anything is painted; without one, the system decides.
import { adoptTheme, isKeptByAccount, storedTheme } from "./theme-choice.js";

if (isKeptByAccount()) adoptTheme(document.documentElement.dataset.userTheme);
const theme = storedTheme();
if (theme) document.documentElement.dataset.theme = theme;
