// What the admin panel's pages about documents draw in the browser: the quality report, as the product shows it.
import { qualityNodes } from "./quality-view.js";

const place = document.querySelector("[data-quality]");
if (place) {
  document.documentElement.dataset.icons = place.dataset.icons;
  place.append(...qualityNodes(JSON.parse(document.getElementById("quality-report").textContent), null));
}
