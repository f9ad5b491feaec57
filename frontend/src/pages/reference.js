import { startReference } from "../reference.js";
startReference(document.querySelector("[data-page=reference]"));
