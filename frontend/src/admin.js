// The admin panel follows the product's theme, and the product follows what is chosen in the panel. Its theme
// library (Alpine) keeps its own copy of the choice, so both copies are kept equal.
import { patch } from "./api.js";
import { forget, recall, remember } from "./remembered.js";
import { storedTheme } from "./theme-choice.js";

const PRODUCT = "theme";
const PANEL = "adminTheme";

/** Before Alpine reads it: what the product's pages chose, or what the system says. */
function copyToPanel() {
  remember(PANEL, JSON.stringify(storedTheme() ?? "auto"));
}

/** After a click on the panel's switch, once Alpine has written its copy. */
function copyToProduct() {
  const chosen = JSON.parse(recall(PANEL) ?? '"auto"');
  if (chosen === (storedTheme() ?? "auto")) return;
  if (chosen === "auto") forget(PRODUCT);
  else remember(PRODUCT, chosen);
  // The account keeps it for all browsers.
  patch("/me", { theme: chosen === "auto" ? "system" : chosen }).catch(() => {});
}

/** A button that starts something slow is pressed once, and says that it works. */
function markBusy(event) {
  const button = event.submitter;
  if (!button?.dataset.busy) return;
  button.setAttribute("aria-disabled", "true");
  button.textContent = button.dataset.busy;
  event.target.addEventListener("submit", (again) => again.preventDefault());
}

/** A page that waits for a job looks again until the job has ended. */
function lookAgain() {
  const secs = Number(document.querySelector("[data-look-again]")?.dataset.lookAgain);
  if (secs) setTimeout(() => location.reload(), 1000 * secs);
}

/** The theme leaves the heads of columns with buttons empty. */
function nameForScreenReaders() {
  for (const head of document.querySelectorAll("#content th")) {
    if (!head.textContent.trim() && !head.querySelector("input, label")) {
      head.append(Object.assign(document.createElement("span"), { className: "visually-hidden", textContent: "Remove" }));
    }
  }
}

copyToPanel();
new MutationObserver(() => setTimeout(copyToProduct)).observe(document.documentElement, { attributeFilter: ["class"] });
document.addEventListener("submit", markBusy);
document.addEventListener("DOMContentLoaded", lookAgain);
document.addEventListener("DOMContentLoaded", nameForScreenReaders);
