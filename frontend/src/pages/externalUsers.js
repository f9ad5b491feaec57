import { startExternalUsers } from "../external-users.js";
startExternalUsers(document.querySelector("[data-page=externalUsers]"));
