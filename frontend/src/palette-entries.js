// What the palette shows for some letters.
import { t } from "./texts.js";
const ACTIONS = [
  { title: t("New question"), href: "/", icon: "message-circle-question-mark", words: t("ask conversation") },
  { title: t("Upload documents"), href: "/documents/", icon: "upload", words: t("add file drop") },
  { title: t("Switch between light and dark"), action: "theme", icon: "moon", words: t("theme colours") },
  { title: t("Keyboard shortcuts"), action: "shortcuts", icon: "info", words: t("help keys") },
  { title: t("Log out"), action: "logout", icon: "user-round", words: t("sign out leave") },
];

/** `[{title, kind, icon, href? | action?}]`, in the order in which they are shown. */
export function entriesFor(typed, { pages, documents, conversations }) {
  const words = typed.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const meets = ({ title, words: more = "" }) => words.every((word) => startsAWord(`${title} ${more}`.toLowerCase(), word));
  const entries = [
    ...pages.filter(meets).map((page) => ({ ...page, kind: t("Page"), icon: "chevron-right" })),
    ...ACTIONS.filter(meets).map((action) => ({ ...action, kind: t("Action") })),
    ...documents.map(({ id, name }) => ({ title: name, href: `/documents/${id}`, kind: t("Document"), icon: "files" })),
    ...conversations.map(({ id, title }) => ({ title: title || t("Conversation"), href: `/c/${id}`, kind: t("Conversation"), icon: "history" })),
  ];
  if (!words.length) return entries;
  const given = typed.trim();
  return [
    ...entries,
    { title: t("Search passages for “{given}”", { given }), href: `/search?${new URLSearchParams({ q: given })}`, kind: t("Search"), icon: "search" },
    { title: t("Ask “{given}”", { given }), action: "ask", kind: t("Ask"), icon: "message-circle-question-mark" },
  ];
}

const startsAWord = (text, word) => text.startsWith(word) || text.includes(` ${word}`);
