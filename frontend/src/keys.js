// API keys: a list, a form, and the secret that is shown once.
import { del, get, post } from "./api.js";
import { confirm } from "./confirm.js";
import { h, icon, parts, toast } from "./dom.js";
import { ago, day } from "./format.js";

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

  async function list() {
    const { results } = await get("/api-keys", { limit: 200 });
    all.rows.replaceChildren(...results.map((key) => rowOf(key, workspaces, () => remove(key))));
    all.tableWrap.hidden = !results.length;
    all.empty.hidden = results.length > 0;
  }

  async function remove(key) {
    const agreed = await confirm({
      title: `Delete the key “${key.name}”?`,
      text: "Programs that use it lose access at once.",
      action: "Delete key",
    });
    if (!agreed) return;
    try {
      await del(`/api-keys/${key.id}`);
      await list();
      toast(`The key “${key.name}” is deleted.`);
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
  h("label", {}, h("input", { type: "checkbox", name: "workspace_ids", value: id }), ` only ${name}`);

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

function rowOf(key, workspaces, onDelete) {
  const expired = key.expires_at && Date.parse(key.expires_at) < Date.now();
  const where = key.workspace_ids ? key.workspace_ids.map((id) => workspaces.get(id) ?? "a former workspace").join(", ") : "everywhere";
  const label = `Delete the key ${key.name}`;
  return h(
    "tr",
    {},
    h("td", { class: "cell-name" }, key.name),
    h("td", { "data-label": "Key" }, h("code", {}, `${key.prefix}…`)),
    h("td", { "data-label": "May" }, key.scopes.join(", ")),
    h("td", { "data-label": "Where" }, where || "nowhere"),
    h("td", { "data-label": "Last used" }, key.last_used_at ? ago(key.last_used_at) : "never"),
    h("td", { "data-label": "Expires", class: expired ? "is-expired" : null }, key.expires_at ? `${expired ? "expired " : ""}${day(key.expires_at)}` : "never"),
    h("td", { class: "cell-actions" }, h("button", { class: "icon-button", type: "button", "aria-label": label, title: label, onclick: onDelete }, icon("trash-2"))),
  );
}

function startCopy(button, source) {
  const words = button.querySelector("span");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      words.textContent = "Copied";
      setTimeout(() => (words.textContent = "Copy"), 2000);
    } catch {
      // Browsers give the clipboard to secure pages only: select it, so that the reader can copy.
      getSelection().selectAllChildren(source);
      words.textContent = "Press Ctrl+C";
    }
  });
}
