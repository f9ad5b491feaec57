import { startDocumentPicker } from "../document-picker.js";
startDocumentPicker(document.querySelector("[data-page=assistant]"));
