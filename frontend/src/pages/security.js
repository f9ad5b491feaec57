import { startSecurity } from "../account.js";
startSecurity(document.querySelector("[data-page=security]"));
