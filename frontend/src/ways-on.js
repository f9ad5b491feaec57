// What can be tried where a question was not answered.
import { h } from "./dom.js";
import { t } from "./texts.js";

/** For an answer that did not find what was asked for: `[{words, name (of an icon), act}]`. */
export function suggestionsFor(where, { askAgain, reword }) {
  const ways = where.otherWays().map(({ words, name, choose }) => ({ words, name, act: async () => (await choose()) !== false && askAgain() }));
  return [...ways, { words: t("Ask in other words"), name: "pencil", act: reword }];
}

/** A link to the settings that can end a failure, or null. */
export function settingsLinkFor({ error }, where, session) {
  const canSetRight = error?.code === "tool_disabled" || error?.details?.limit === "workspace";
  const settings = canSetRight && where.settingsOf(session?.workspace_id);
  return settings ? h("a", { href: settings }, t("Workspace settings")) : null;
}
