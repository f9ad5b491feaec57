import { startMembers } from "../members.js";
startMembers(document.querySelector("[data-page=members]"));
