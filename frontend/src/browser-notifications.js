// Notifications of the browser itself: only after a click on the button that asks for them, and only while the tab is hidden.
import { get } from "./api.js";
import { h, toast } from "./dom.js";
import { entriesOf } from "./notification-words.js";
import { t } from "./texts.js";

const KEY = "locus.browser-notifications";
const WAIT_MS = 3000;

const isSupported = typeof Notification === "function";
const isOn = () => isSupported && Notification.permission === "granted" && localStorage.getItem(KEY) === "on";

/** A button that switches them on or off in this browser; a sentence where the browser refuses. */
export function browserChoice(onChange) {
  if (!isSupported) return null;
  if (Notification.permission === "denied") {
    return h("p", { class: "notifications-refused" }, t("This browser shows no notifications of this site. Allow them in its settings for the site."));
  }
  const label = isOn() ? t("Stop browser notifications") : t("Show browser notifications too");
  return h("button", { type: "button", onclick: () => change(onChange) }, label);
}

async function change(onChange) {
  if (isOn()) {
    localStorage.removeItem(KEY);
  } else if ((await Notification.requestPermission()) === "granted") {
    localStorage.setItem(KEY, "on");
    toast(t("This browser notifies you while Locus is in another tab."));
  }
  onChange();
}

let waiting = null;
let since = new Date().toISOString();

/** Show what has come since the last time, together: the files of one upload end shortly after each other. */
export function showNew() {
  if (!isOn()) return;
  waiting ??= setTimeout(async () => {
    waiting = null;
    const { results } = await get("/notifications", { unread: true, limit: 60 }).catch(() => ({ results: [] }));
    const fresh = results.filter((each) => each.created_at > since);
    since = results[0]?.created_at ?? since;
    if (document.hidden) entriesOf(fresh).forEach(show);
  }, WAIT_MS);
}

function show({ title, text, address, at }) {
  // The same tag in all tabs of this browser: it is shown once.
  const note = new Notification(title, { body: text, tag: at, icon: document.querySelector("link[rel=icon]")?.href });
  note.onclick = () => {
    window.focus();
    location.assign(address);
  };
}
