import { startSearchPage } from "../search-page.js";
startSearchPage(document.querySelector("[data-page=search]"));
