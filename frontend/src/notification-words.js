// Notifications in words: those of one upload become one entry.
import { listed } from "./format.js";
import { t, tPlural, translated } from "./texts.js";

const APART_MS = 10 * 60_000;
const MOST_NAMES = 3;
export const MOST_ALONE = 3;

/** Entries of a list, the newest first. Many of one kind that followed each other closely are one entry. */
export function entriesOf(notifications) {
  const runs = [];
  for (const each of notifications) {
    const run = runs.at(-1);
    if (run && belongs(each, run.at(-1))) run.push(each);
    else runs.push([each]);
  }
  return runs.flatMap((run) => (run.length > MOST_ALONE ? [entryOf(run)] : run.map((each) => entryOf([each]))));
}

function belongs(one, before) {
  const isClose = Date.parse(before.created_at) - Date.parse(one.created_at) < APART_MS;
  return one.document && before.document && one.kind === before.kind && one.workspace_id === before.workspace_id && isClose;
}

function entryOf(run) {
  const [first] = run;
  const common = { kind: first.kind, at: first.created_at, isUnread: run.some((each) => !each.is_read), workspace: first.workspace_name };
  if (run.length > 1) return { ...common, ...ofMany(run) };
  return { ...common, ...ofOne(first) };
}

function ofOne({ kind, document, document_id: id, workspace_id: workspace }) {
  if (kind === "webhook.disabled") {
    const text = t("Its address could not be reached for a long time.");
    return { title: t("A webhook was switched off"), text, address: `/workspaces/${workspace}/webhooks` };
  }
  const address = `/documents/${id}`;
  const name = document?.name ?? t("A document");
  if (kind === "document.failed") return { title: t("{name} could not be read", { name }), text: translated(document?.error_message ?? ""), address };
  return { title: t("{name} is ready", { name }), text: t("You can ask about it now."), address };
}

function ofMany(run) {
  const hasFailed = run[0].kind === "document.failed";
  const names = run.slice(0, MOST_NAMES).map(({ document }) => document.name);
  const more = run.length - names.length;
  return {
    title: hasFailed ? tPlural("{count} document could not be read", "{count} documents could not be read", { count: run.length }) : tPlural("{count} document is ready", "{count} documents are ready", { count: run.length }),
    text: listed(more ? [...names, t("{count} more", { count: more })] : names),
    address: hasFailed ? "/documents?status=failed" : "/documents",
  };
}
