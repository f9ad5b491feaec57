import { startWorkspaces } from "../workspaces.js";
startWorkspaces(document.querySelector("[data-page=workspaces]"));
