// API keys: a list, a form, and the secret that is shown once.
import { del, get, post } from "./api.js";
import { confirm } from "./confirm.js";
import { startCopy } from "./copy.js";
import { h, icon, parts, toast } from "./dom.js";
import { ago, day, moment } from "./format.js";
import { t } from "./texts.js";

// From the smallest right to the largest.
const SCOPES = ["read", "write", "admin"];

export async function startKeys(page) {
  const all = parts(page);
  const workspaces = new Map();
  const { create, dialog, form, cancel, secret, secretDone } = all;

  create.addEventListener("click", () => openForm(all));
  cancel.addEventListener("click", () => dialog.close());
  form.elements.everywhere.addEventListener("change", () => allowWorkspaces(form));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await submit();
  });
  secretDone.addEventListener("click", () => (secret.hidden = true));
  for (const button of page.querySelectorAll("[data-copy]")) startCopy(button, all[button.dataset.copy]);

  async function submit() {
    all.error.hidden = true;
    try {
      const key = await post("/api-keys", requestOf(form));
      dialog.close();
      await list();
      showSecret(all, key);
    } catch (error) {
      all.error.textContent = error.message;
      all.error.hidden = false;
    }
  }

  let rotated = null;
  all.rotationCancel.addEventListener("click", () => all.rotation.close());
  all.rotationForm.addEventListener("submit", async (event) => {
    event.preventDefault();
    all.rotationError.hidden = true;
    try {
      const overlap = Number(new FormData(all.rotationForm).get("overlap_secs"));
      const key = await post(`/api-keys/${rotated.id}/rotate`, { overlap_secs: overlap });
      all.rotation.close();
      await list();
      showSecret(all, key);
    } catch (error) {
      all.rotationError.textContent = error.message;
      all.rotationError.hidden = false;
    }
  });

  function rotate(key) {
    rotated = key;
    all.rotationForm.reset();
    all.rotationError.hidden = true;
    all.rotation.querySelector("h2").textContent = t("Rotate the key “{name}”?", { name: key.name });
    all.rotation.showModal();
  }

  async function endOldSecret(key) {
    const agreed = await confirm({
      title: t("End the old secret of “{name}”?", { name: key.name }),
      text: `${t("Programs that still use it lose access at once.")} ${lastUse(key.old_secret)}`,
      action: t("End it now"),
    });
    if (!agreed) return;
    try {
      await del(`/api-keys/${key.id}/old-secret`);
      await list();
      toast(t("The old secret of “{name}” has ended.", { name: key.name }));
    } catch (error) {
      toast(error.message, { error: true });
    }
  }

  async function list() {
    const { results } = await get("/api-keys", { limit: 200 });
    all.rows.replaceChildren(...results.map((key) => rowOf(key, workspaces, { rotate, endOldSecret, remove })));
    all.tableWrap.hidden = !results.length;
    all.empty.hidden = results.length > 0;
  }

  async function remove(key) {
    const agreed = await confirm({
      title: t("Delete the key “{name}”?", { name: key.name }),
      text: t("Programs that use it lose access at once."),
      action: t("Delete key"),
    });
    if (!agreed) return;
    try {
      await del(`/api-keys/${key.id}`);
      await list();
      toast(t("The key “{name}” is deleted.", { name: key.name }));
    } catch (error) {
      toast(error.message, { error: true });
    }
  }

  try {
    const { results } = await get("/workspaces", { limit: 200 });
    for (const workspace of results) workspaces.set(workspace.id, workspace.name);
    all.workspaces.append(...results.map(workspaceChoice));
    allowWorkspaces(form);
    await list();
  } catch (error) {
    toast(error.message, { error: true });
  }
}

function openForm({ dialog, form, error }) {
  form.reset();
  allowWorkspaces(form);
  error.hidden = true;
  dialog.showModal();
  form.elements.name.focus();
}

const workspaceChoice = ({ id, name }) =>
  h("label", {}, h("input", { type: "checkbox", name: "workspace_ids", value: id }), " ", t("only {name}", { name }));

/** Single workspaces can be chosen once "all" is off. */
function allowWorkspaces(form) {
  const everywhere = form.elements.everywhere.checked;
  for (const box of form.querySelectorAll("[name=workspace_ids]")) {
    box.disabled = everywhere;
    if (everywhere) box.checked = false;
  }
}

function requestOf(form) {
  const data = new FormData(form);
  const days = Number(data.get("expiry"));
  return {
    name: data.get("name").trim(),
    scopes: data.getAll("scopes"),
    workspace_ids: data.has("everywhere") ? null : data.getAll("workspace_ids"),
    expires_at: days ? new Date(Date.now() + days * 86_400_000).toISOString() : null,
  };
}

function showSecret({ secret, secretValue, example }, { key }) {
  secretValue.textContent = key;
  example.textContent = exampleFor(location.origin, key);
  secret.hidden = false;
  secret.focus();
}

const exampleFor = (origin, key) =>
  [
    `curl ${origin}/api/v1/tools/rag_search \\`,
    `  -H "Authorization: Bearer ${key}" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '{"query": "What do my documents say about …?"}'`,
  ].join("\n");

const SOON = 7 * 86_400_000;

const lastUse = ({ last_used_at: used }) => (used ? t("It was last used {ago}.", { ago: ago(used) }) : t("It was not used since the rotation."));

function expiryOf({ expires_at: expires }) {
  if (!expires) return h("td", { "data-label": t("Expires") }, t("never"));
  const left = Date.parse(expires) - Date.now();
  const words = left < 0 ? t("expired {day}", { day: day(expires) }) : left < SOON ? t("soon: {moment}", { moment: moment(expires) }) : day(expires);
  return h("td", { "data-label": t("Expires"), class: left < 0 ? "is-expired" : left < SOON ? "is-ending" : null }, words);
}

function oldSecretOf(key, onEnd) {
  if (!key.old_secret) return null;
  const { works_until: until } = key.old_secret;
  return h(
    "p",
    { class: "old-secret" },
    `${t("Old secret works until {moment}.", { moment: moment(until) })} ${lastUse(key.old_secret)} `,
    h("button", { class: "link-button", type: "button", onclick: onEnd, "aria-label": t("End it now: the old secret of {name}", { name: key.name }) }, t("End it now")),
  );
}

function rowOf(key, workspaces, { rotate, endOldSecret, remove }) {
  const expired = key.expires_at && Date.parse(key.expires_at) < Date.now();
  const where = key.workspace_ids ? key.workspace_ids.map((id) => workspaces.get(id) ?? t("a former workspace")).join(", ") : t("everywhere");
  const action = (words, name, onclick) => h("button", { class: "icon-button", type: "button", "aria-label": words, title: words, onclick }, icon(name));
  return h(
    "tr",
    {},
    h("td", { class: "cell-name" }, key.name, oldSecretOf(key, () => endOldSecret(key))),
    h("td", { "data-label": t("Key") }, h("code", {}, `${key.prefix}…`)),
    h("td", { "data-label": t("Rights") }, SCOPES.filter((scope) => key.scopes.includes(scope)).join(", ")),
    h("td", { "data-label": t("Where") }, where || t("nowhere")),
    h("td", { "data-label": t("Last used") }, key.last_used_at ? ago(key.last_used_at) : t("never")),
    expiryOf(key),
    h(
      "td",
      { class: "cell-actions" },
      expired ? null : action(t("Rotate the key {name}", { name: key.name }), "refresh-cw", () => rotate(key)),
      action(t("Delete the key {name}", { name: key.name }), "trash-2", () => remove(key)),
    ),
  );
}
