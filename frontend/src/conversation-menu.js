// What can be done with a conversation: rename, pin, share, export, delete. One menu for the list and the page's head.
import { del, get, patch } from "./api.js";
import { copyText } from "./clipboard.js";
import { confirm } from "./confirm.js";
import { h, icon, toast } from "./dom.js";
import { t, tPlural } from "./texts.js";

const RECEIPT = {
  messages: (v) => tPlural("{count} question", "{count} questions", v),
  documents: (v) => tPlural("{count} attached file", "{count} attached files", v),
};

/** `onChange(session)` after a change, `onDelete(id)` after a deletion; `lastShown()` is the message that ends an export. */
export function startConversationMenu(page, { renameDialog, renameForm }, { onChange, onDelete, lastShown }) {
  const menu = h("div", { class: "menu-panel conversation-menu", popover: "auto", "aria-label": t("Conversation") });
  let current = null;
  let opener = null;
  page.append(menu);
  renameForm.addEventListener("submit", rename);
  renameForm.querySelector("[data-cancel]").addEventListener("click", () => renameDialog.close());

  /** Open beside `button` the menu of a conversation. */
  async function open(button, id) {
    try {
      current = await get(`/sessions/${id}`);
    } catch (error) {
      return toast(error.message, { error: true });
    }
    opener = button;
    menu.replaceChildren(...entries(current));
    menu.showPopover();
    place(menu, button);
    menu.querySelector("button, a").focus();
    return undefined;
  }

  function entries(session) {
    const entry = (name, words, act) => h("button", { type: "button", onclick: () => leave(act) }, icon(name), words);
    const file = (format, words) => h("a", { href: exportAddress(session.id, format), download: "", onclick: () => menu.hidePopover() }, icon("download"), words);
    return [
      entry("pencil", t("Rename"), () => startRename(session)),
      entry("pin", session.pinned ? t("Unpin") : t("Pin"), () => change({ pinned: !session.pinned })),
      entry("link", session.shared ? t("Copy the link") : t("Share in the workspace"), () => share(session)),
      ...(session.shared ? [entry("x", t("Stop sharing"), () => change({ shared: false }, t("Only you can read it again.")))] : []),
      file("md", t("Export as Markdown")),
      file("pdf", t("Export as PDF")),
      entry("trash-2", t("Delete"), () => remove(session)),
    ];
  }

  function exportAddress(id, format) {
    const last = lastShown(id);
    return `/api/v1/sessions/${id}/export?format=${format}${last ? `&message_id=${last}` : ""}`;
  }

  function leave(act) {
    menu.hidePopover();
    opener?.focus();
    act();
  }

  async function change(values, words = "") {
    try {
      const session = await patch(`/sessions/${current.id}`, values);
      if (words) toast(words);
      onChange(session);
      return session;
    } catch (error) {
      toast(error.message, { error: true });
      return null;
    }
  }

  async function share(session) {
    const words = t("Link copied. Members of its workspace can read this conversation, as far as they may see its documents.");
    if (session.shared || (await change({ shared: true }))) copyText(`${location.origin}/c/${session.id}`, words);
  }

  function startRename({ title }) {
    renameForm.elements.title.value = title;
    renameDialog.showModal();
    renameForm.elements.title.select();
  }

  async function rename(event) {
    event.preventDefault();
    if (await change({ title: renameForm.elements.title.value.trim() })) renameDialog.close();
  }

  async function remove({ id, title }) {
    const isSure = await confirm({ title: t("Delete “{name}”?", { name: title || t("New conversation") }), text: t("Its questions, answers and attached files are deleted. This can’t be undone."), action: t("Delete conversation") });
    if (!isSure) return;
    try {
      const { deleted } = await del(`/sessions/${id}`);
      const words = Object.entries(RECEIPT).filter(([name]) => deleted[name]).map(([name, inWords]) => inWords({ count: deleted[name] }));
      toast(t("Deleted: {what}.", { what: [tPlural("{count} conversation", "{count} conversations", { count: 1 }), ...words].join(", ") }));
      onDelete(id);
    } catch (error) {
      toast(error.message, { error: true });
    }
  }

  menu.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [...menu.querySelectorAll("button, a")];
    all[(all.indexOf(document.activeElement) + step + all.length) % all.length].focus();
  });
  return { open };
}

function place(menu, button) {
  const { left, right, bottom, top } = button.getBoundingClientRect();
  const { clientWidth: width, clientHeight: height } = document.documentElement;
  const isBelow = bottom + menu.offsetHeight + 8 <= height;
  menu.style.left = `${Math.max(8, Math.min(left, width - menu.offsetWidth - 8, right))}px`;
  menu.style.top = `${Math.max(8, isBelow ? bottom + 4 : top - menu.offsetHeight - 4)}px`;
}
