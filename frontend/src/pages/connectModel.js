import { startConnectModel } from "../connect-model.js";
startConnectModel(document.querySelector("[data-page=connectModel]"));
