import { startProfile } from "../account.js";
startProfile(document.querySelector("[data-page=profile]"));
