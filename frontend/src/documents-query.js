// What the list shows, in three forms: the fields of its form, the page's address, and the API's query.
import { startOfDay } from "./reader-days.js";

/** Fields in the address, by the name of their control. */
export const FIELDS = ["workspace", "collection", "search", "status", "type", "tag", "language", "from", "to"];
export const NEWEST_FIRST = "-created_at";
export const SORTS = ["created_at", "name", "size", "status", "type", "updated_at"];

/** Read an address's `?…` into `{filters, sort, view}`; what it lacks is "", and what nobody knows is left out. */
export function fromAddress(search) {
  const given = new URLSearchParams(search);
  const filters = Object.fromEntries(FIELDS.map((name) => [name, given.get(name) ?? ""]));
  const sort = given.get("sort") ?? NEWEST_FIRST;
  return { filters, sort: SORTS.includes(sort.replace(/^-/, "")) ? sort : NEWEST_FIRST, view: given.get("view") === "grid" ? "grid" : "table" };
}

/** Return the `?…` that leads to this view, "" for the plain list. */
export function toAddress({ filters, sort, view }) {
  const given = FIELDS.filter((name) => filters[name]).map((name) => [name, filters[name]]);
  if (sort !== NEWEST_FIRST) given.push(["sort", sort]);
  if (view === "grid") given.push(["view", view]);
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

/** Return the conditions as `GET documents` and `POST documents/bulk` take them, without empty ones. */
export function conditionsOf({ workspace, collection, search, status, type, tag, language, from, to }) {
  const all = {
    workspace_id: workspace,
    collection_id: collection,
    search: search?.trim(),
    status,
    type,
    tag,
    language,
    created_after: from && startOfDay(from),
    created_before: to && startOfDay(to, 1),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value));
}

/** The order after a click on a column's head: times and sizes begin with the largest, words with A. */
export function nextSort(sort, column) {
  const first = ["created_at", "updated_at", "size"].includes(column) ? `-${column}` : column;
  if (sort.replace(/^-/, "") !== column) return first;
  return sort.startsWith("-") ? column : `-${column}`;
}
