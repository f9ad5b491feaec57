import { startSettings } from "../settings.js";
startSettings(document.querySelector("[data-page=settings]"));
