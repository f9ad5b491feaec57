// The line above a thread: the conversation's title, and whether and by whom it is shared.
import { t } from "./texts.js";

/** `session` is null before the conversation begins; `question` is its first one, in place of a title. */
export function showHead(page, { head, headHistory, headTitle, headNote, headMenu, composer }, session, question) {
  const isReadOnly = session?.is_own === false;
  head.hidden = !session;
  page.classList.toggle("has-head", Boolean(session));
  headTitle.textContent = session?.title || question || t("New conversation");
  headMenu.hidden = isReadOnly;
  headHistory.hidden = !isReadOnly;
  composer.hidden = isReadOnly;
  headNote.textContent = isReadOnly ? t("Shared by {name}. You can read it, but not ask in it.", { name: session.shared_by }) : session?.shared ? t("Shared in its workspace") : "";
}
