import { startKeys } from "../keys.js";
startKeys(document.querySelector("[data-page=keys]"));
