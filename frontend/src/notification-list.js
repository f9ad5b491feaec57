// The list below the bell. Opening it marks everything as read; what was new stays marked until it is closed.
import { get, post } from "./api.js";
import { browserChoice } from "./browser-notifications.js";
import { h } from "./dom.js";
import { ago } from "./format.js";
import { entriesOf } from "./notification-words.js";
import { t } from "./texts.js";

const LIMIT = 60;

export async function showNotifications(list) {
  let found;
  try {
    found = await get("/notifications", { limit: LIMIT });
  } catch (error) {
    list.replaceChildren(h("p", { class: "notifications-none", role: "alert" }, error.message));
    return;
  }
  const entries = entriesOf(found.results);
  const none = h("p", { class: "notifications-none" }, t("Nothing yet. You are told here when reading a document has failed, or has taken long."));
  list.replaceChildren(entries.length ? h("ul", { class: "notifications-list" }, entries.map(rowOf)) : none, footer(list));
  if (entries.some((entry) => entry.isUnread)) await post("/notifications/read", {}).catch(() => {});
}

function rowOf({ kind, title, text, address, at, isUnread, workspace }) {
  const unread = isUnread ? h("span", { class: "visually-hidden" }, `${t("Unread:")} `) : null;
  return h(
    "li",
    {},
    h(
      "a",
      { href: address, class: isUnread ? "is-unread" : null, "data-kind": kind },
      h("span", { class: "notification-title" }, unread, title),
      text ? h("span", { class: "notification-text" }, text) : null,
      h("span", { class: "notification-when" }, `${workspace} · ${ago(at)}`),
    ),
  );
}

function footer(list) {
  const again = () => {
    list.lastElementChild.replaceWith(footer(list));
    list.lastElementChild.querySelector("button, a").focus();
  };
  return h("div", { class: "notifications-end" }, browserChoice(again), h("a", { href: "/preferences" }, t("E-mail about documents")));
}
