import { startSearchBench } from "../search-bench.js";
startSearchBench(document.querySelector("[data-page=searchBench]"));
