// Sets a theme the reader chose earlier before anything is painted; without one, the system decides.
import { storedTheme } from "./theme-choice.js";

const theme = storedTheme();
if (theme) document.documentElement.dataset.theme = theme;
