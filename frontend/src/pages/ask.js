import { startAsk } from "../ask.js";
startAsk(document.querySelector("[data-page=ask]"));
