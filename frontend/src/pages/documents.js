import { startDocuments } from "../documents.js";
startDocuments(document.querySelector("[data-page=documents]"));
