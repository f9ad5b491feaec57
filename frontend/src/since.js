// How long ago something was, kept true while the page is open; and exact times in the reader's time zone.
import { h } from "./dom.js";
import { ago, moment } from "./format.js";

const REDRAWN_MS = 15_000;

/** A `<time>` that says how long ago `iso` was; the exact time is its title. */
export const since = (iso) => h("time", { datetime: iso, title: moment(iso), "data-since": true }, ago(iso));

/** Keep every `since` of the page true: one timer for all, and at once when the reader comes back to the tab. */
export function startClock() {
  // The server does not know the browser's time zone.
  for (const time of document.querySelectorAll("time[data-moment]")) time.textContent = moment(time.dateTime);
  redraw();
  setInterval(redraw, REDRAWN_MS);
  document.addEventListener("visibilitychange", () => document.hidden || redraw());
}

function redraw() {
  for (const time of document.querySelectorAll("time[data-since]")) {
    const words = ago(time.dateTime);
    if (time.textContent !== words) time.textContent = words;
  }
}
