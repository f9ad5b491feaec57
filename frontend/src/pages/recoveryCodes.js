import { startRecoveryCodes } from "../account.js";
startRecoveryCodes(document.querySelector("[data-page=recoveryCodes]"));
