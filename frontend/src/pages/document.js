import { startDocument } from "../document.js";
startDocument(document.querySelector("[data-page=document]"));
