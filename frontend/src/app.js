// What every page has. A page's own script is in pages/, by the name in its `data-page`.
import { startChrome } from "./chrome.js";
import { startFirstSteps } from "./first-steps.js";
import { startInstalledApp } from "./installed-app.js";
import { startNotifications } from "./notifications.js";
import { startShortcuts } from "./shortcuts.js";
import { startClock } from "./since.js";

startChrome();
startInstalledApp();
startNotifications();
startClock();
startShortcuts();
for (const steps of document.querySelectorAll("[data-first-steps]")) startFirstSteps(steps);
