import { startWebhooks } from "../webhooks.js";
startWebhooks(document.querySelector("[data-page=webhooks]"));
