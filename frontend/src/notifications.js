// The bell in the top bar: how many notifications are unread, live. Its list is loaded when it is opened.
import { parts } from "./dom.js";
import { importWithTexts, t, tPlural } from "./texts.js";
import { backoff } from "./tool-stream.js";

const STAYS_CLOSED = [4401, 4403, 4404];

export function startNotifications() {
  const bell = document.querySelector("[data-notifications]");
  if (!bell) return;
  const { count, list } = parts(bell);
  const summary = bell.querySelector("summary");

  follow(async ({ unread, is_new: isNew }) => {
    count.textContent = unread > 99 ? "99+" : unread;
    count.hidden = !unread;
    summary.setAttribute("aria-label", unread ? tPlural("Notifications, {count} unread one", "Notifications, {count} unread ones", { count: unread }) : t("Notifications"));
    if (isNew && document.hidden) (await importWithTexts(() => import("./browser-notifications.js"))).showNew();
    if (isNew && bell.open) showList();
  });
  bell.addEventListener("toggle", () => bell.open && showList());

  async function showList() {
    const { showNotifications } = await importWithTexts(() => import("./notification-list.js"));
    await showNotifications(list);
  }
}

function follow(onChange, attempt = 0) {
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/notifications`);
  socket.onmessage = ({ data }) => {
    attempt = 0;
    const message = JSON.parse(data);
    if (message.event === "notifications") onChange(message.data);
  };
  socket.onclose = ({ code }) => {
    if (!STAYS_CLOSED.includes(code)) setTimeout(() => follow(onChange, attempt + 1), backoff(attempt));
  };
}
