import { startAsk } from "./ask.js";
import { startChrome } from "./chrome.js";
import { startDocument } from "./document.js";
import { startDocuments } from "./documents.js";
import { startKeys } from "./keys.js";
import { startSearchBench } from "./search-bench.js";
import { startSettings } from "./settings.js";
import { startClock } from "./since.js";
import { startWebUse } from "./web-use.js";

const PAGES = {
  ask: startAsk,
  document: startDocument,
  documents: startDocuments,
  keys: startKeys,
  searchBench: startSearchBench,
  settings: startSettings,
  webUse: startWebUse,
};

startChrome();
startClock();
const page = document.querySelector("[data-page]");
if (page) PAGES[page.dataset.page](page);
