import { startWorkspace } from "../workspace.js";
startWorkspace(document.querySelector("[data-page=workspace]"));
