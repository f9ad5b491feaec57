// The external users of a workspace: a list, and the deletion of one with a receipt.
import { del, get } from "./api.js";
import { h, icon, parts, toast } from "./dom.js";
import { ago, bytes, documentCount } from "./format.js";
import { FORMATS } from "./locale.js";
import { t, tPlural } from "./texts.js";

const LOOK_AGAIN_MS = 1500;
const TYPE_MS = 300;
const KINDS = [
  ["documents", documentCount],
  ["executions", (count) => tPlural("{count} answer", "{count} answers", { count })],
  ["sessions", (count) => tPlural("{count} conversation", "{count} conversations", { count })],
];

export async function startExternalUsers(page) {
  const all = parts(page);
  const workspace = page.dataset.workspace;
  let chosen = null;
  let next = null;
  let typing = null;
  let asked = 0;

  all.search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(list, TYPE_MS);
  });
  all.more.addEventListener("click", async () => show(await get(next), { more: true }));
  all.cancel.addEventListener("click", () => all.dialog.close());
  all.typed.addEventListener("input", () => (all.remove.disabled = all.typed.value !== wordOf(chosen)));
  all.receiptDone.addEventListener("click", () => (all.receipt.hidden = true));
  all.form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!all.remove.disabled) remove();
  });

  async function list() {
    const mine = ++asked;
    try {
      const found = await get("/external-users", { workspace_id: workspace, q: all.search.value.trim(), limit: 50 });
      if (mine === asked) show(found);
    } catch (error) {
      toast(error.message, { error: true });
    }
  }

  function show({ results, next: following }, { more = false } = {}) {
    const rows = results.map((one) => rowOf(one, () => ask(one)));
    if (more) all.rows.append(...rows);
    else all.rows.replaceChildren(...rows);
    next = following;
    const none = !all.rows.children.length;
    all.more.hidden = !next;
    all.tableWrap.hidden = none;
    all.none.hidden = !none || !all.search.value.trim();
    all.empty.hidden = !none || Boolean(all.search.value.trim());
    all.filters.hidden = !all.empty.hidden;
  }

  function ask(one) {
    chosen = one;
    all.form.reset();
    all.error.hidden = true;
    all.remove.disabled = true;
    all.who.textContent = one.id;
    all.what.textContent = t("{what}. The same id in other workspaces stays.", { what: inWords(one) });
    all.word.textContent = wordOf(one);
    all.dialog.showModal();
  }

  async function remove() {
    all.remove.disabled = true;
    try {
      const receipt = await del(`/external-users/${encodeURIComponent(chosen.id)}?workspace_id=${workspace}`);
      all.dialog.close();
      showReceipt(receipt);
      all.receipt.focus();
      if (receipt.is_complete) await list();
      else follow(receipt.id);
    } catch (error) {
      all.error.textContent = error.message;
      all.error.hidden = false;
      all.remove.disabled = false;
    }
  }

  async function follow(id) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    try {
      const receipt = await get(`/external-user-deletions/${id}`);
      showReceipt(receipt);
      if (receipt.is_complete) await list();
      else follow(id);
    } catch (error) {
      toast(error.message, { error: true });
    }
  }

  function showReceipt({ is_complete: complete, deleted, scrubbed, id }) {
    all.receiptTitle.textContent = complete ? t("External user deleted") : t("Deleting the external user…");
    all.receiptWords.textContent = complete ? t("Gone: {what}.", { what: inWords(deleted) }) : t("Gone so far: {what}.", { what: inWords(deleted) });
    const others = scrubbed.executions ?? 0;
    all.receiptScrubbed.textContent = others ? tPlural("Their words were removed from {count} other answer.", "Their words were removed from {count} other answers.", { count: others }) : "";
    all.receiptId.textContent = id;
    all.receipt.hidden = false;
  }

  await list();
}

/** The id itself, or a word where an id can't be typed as it is. */
const wordOf = ({ id }) => (/^[!-~]([ -~]{0,62}[!-~])?$/.test(id) ? id : "delete");

function inWords(counts) {
  const words = KINDS.filter(([kind]) => counts[kind]).map(([kind, inWords]) => inWords(counts[kind]));
  if (counts.bytes) words.push(bytes(counts.bytes));
  return words.join(", ") || t("nothing but what was counted");
}

function rowOf(one, onDelete) {
  const label = t("Delete the external user {id}", { id: one.id });
  const storage = one.bytes ? ` (${bytes(one.bytes)})` : "";
  return h(
    "tr",
    {},
    h("td", { class: "cell-name" }, h("bdi", {}, one.id)),
    h("td", { "data-label": t("Documents") }, `${one.documents.toLocaleString(FORMATS)}${storage}`),
    h("td", { "data-label": t("Questions") }, Math.max(one.questions, one.executions).toLocaleString(FORMATS)),
    h("td", { "data-label": t("Tokens") }, one.tokens.toLocaleString(FORMATS)),
    h("td", { "data-label": t("Last seen") }, ago(one.last_seen_at)),
    h("td", { class: "cell-actions" }, h("button", { class: "icon-button", type: "button", "aria-label": label, title: label, onclick: onDelete }, icon("trash-2"))),
  );
}
