// What the list of documents asks while no feed tells it: what became of those that are worked on, and which are new.
import { statusOf } from "./activity.js";
import { get } from "./api.js";

const MOST_NEW = 100;

/** Ask for the `items` that are worked on; `onGone(id)` is told of those that are not there any more. */
export function pollBusy(items, { onUpdate, onGone }) {
  const busy = items.filter((document) => statusOf(document).busy);
  return Promise.all(busy.map(({ id }) => get(`/documents/${id}`).then(onUpdate, (error) => error.status === 404 && onGone(id))));
}

/** Ask for documents that are newer than all `items`, in a workspace or in all. */
export async function pollNew(items, workspace, { onUpdate }) {
  const newest = items.reduce((latest, { created_at: at }) => (at > latest ? at : latest), "");
  const conditions = { workspace_id: workspace, created_after: newest, ordering: "created_at", limit: MOST_NEW };
  const { results } = await get("/documents", conditions).catch(() => ({ results: [] }));
  const known = new Set(items.map(({ id }) => id));
  for (const document of results) if (!known.has(document.id)) onUpdate(document);
}
