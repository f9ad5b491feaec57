import { startPasskeys } from "../passkeys.js";
startPasskeys(document.querySelectorAll("[data-page=passkeys]"));
