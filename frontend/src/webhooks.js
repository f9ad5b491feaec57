// The webhooks of a workspace: a form, tests, rotation, and what was sent to each of them.
import { del, get, patch, post } from "./api.js";
import { confirm } from "./confirm.js";
import { startCopy } from "./copy.js";
import { h, parts, toast } from "./dom.js";
import { ago, moment } from "./format.js";
import { t, tPlural } from "./texts.js";

const EVENTS = {
  "document.indexed": t("document ready"),
  "document.failed": t("document failed"),
  "document.deleted": t("document deleted"),
  "execution.completed": t("answer complete"),
  "execution.failed": t("answer failed"),
  "webhook.test": t("test"),
};
const DISABLED = {
  admin: t("Switched off"),
  failures: t("Switched off: its address could not be reached for more than a day"),
  gone: t("Switched off: its address answered that it is gone (410)"),
};
const LOOK_AGAIN_MS = 1500;
const LOOKS = 12;

export async function startWebhooks(page) {
  const all = parts(page);
  const base = `/workspaces/${page.dataset.workspace}/webhooks`;
  let changed = null;
  let rotated = null;

  const attempt = (work) => work().catch((error) => toast(error.message, { error: true }));
  startCopy(all.copy, all.secretValue);
  all.create.addEventListener("click", () => openForm(null));
  all.cancel.addEventListener("click", () => all.dialog.close());
  all.secretDone.addEventListener("click", () => (all.secret.hidden = true));
  all.form.addEventListener("submit", (event) => submit(event, all.error, save));
  all.rotationCancel.addEventListener("click", () => all.rotation.close());
  all.rotationForm.addEventListener("submit", (event) => submit(event, all.rotationError, rotate));

  async function submit(event, error, send) {
    event.preventDefault();
    error.hidden = true;
    try {
      await send();
      await list();
    } catch ({ message }) {
      error.textContent = message;
      error.hidden = false;
    }
  }

  function openForm(webhook) {
    changed = webhook;
    all.form.reset();
    all.error.hidden = true;
    all.formTitle.textContent = webhook ? t("Change the webhook") : t("New webhook");
    all.submit.textContent = webhook ? t("Save") : t("Create webhook");
    if (webhook) {
      all.form.elements.url.value = webhook.url;
      all.form.elements.description.value = webhook.description;
      for (const box of all.form.elements.events) box.checked = webhook.events.includes(box.value);
    }
    all.dialog.showModal();
  }

  async function save() {
    const data = new FormData(all.form);
    const body = { url: data.get("url").trim(), description: data.get("description").trim(), events: data.getAll("events") };
    if (!body.events.length) throw new Error(t("Choose at least one event."));
    const saved = changed ? await patch(`/webhooks/${changed.id}`, body) : await post(base, body);
    all.dialog.close();
    if (saved.secret) showSecret(saved);
  }

  async function rotate() {
    const overlap = Number(new FormData(all.rotationForm).get("overlap_secs"));
    const saved = await post(`/webhooks/${rotated.id}/rotate`, { overlap_secs: overlap });
    all.rotation.close();
    showSecret(saved);
  }

  function showSecret({ secret }) {
    all.secretValue.textContent = secret;
    all.secret.hidden = false;
    all.secret.focus();
  }

  const actions = {
    change: openForm,
    rotate(webhook) {
      rotated = webhook;
      all.rotationForm.reset();
      all.rotationError.hidden = true;
      all.rotation.showModal();
    },
    toggle: (webhook) => attempt(async () => {
      await patch(`/webhooks/${webhook.id}`, { is_enabled: !webhook.is_enabled });
      await list();
    }),
    remove: (webhook) => attempt(async () => {
      const words = { title: t("Delete the webhook?"), text: t("{url} is told nothing more.", { url: webhook.url }), action: t("Delete webhook") };
      if (!(await confirm(words))) return;
      await del(`/webhooks/${webhook.id}`);
      await list();
      toast(t("The webhook is deleted."));
    }),
    test: (webhook, deliveries) => attempt(async () => {
      const { id } = await post(`/webhooks/${webhook.id}/test`, {});
      deliveries.closest("details").open = true;
      await follow(webhook, id, deliveries);
    }),
  };

  async function list() {
    const { results } = await get(base, { limit: 200 });
    all.list.replaceChildren(...results.map((webhook) => cardOf(webhook, actions)));
    all.empty.hidden = results.length > 0;
  }

  await attempt(list);
}

/** The worker sends it: look until it has, or the card is drawn anew or gone. */
async function follow(webhook, id, deliveries) {
  for (let look = 0; look < LOOKS && deliveries.isConnected; look += 1) {
    const found = await showDeliveries(webhook, deliveries);
    if (found.find((each) => each.id === id)?.attempts) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}

function cardOf(webhook, actions) {
  const deliveries = h("div", { class: "webhook-deliveries" });
  const button = (label, onclick) => h("button", { class: "button button-quiet button-small", type: "button", onclick }, label);
  const details = h("details", {}, h("summary", {}, t("Last messages")), deliveries);
  details.addEventListener("toggle", () => details.open && showDeliveries(webhook, deliveries));
  return h(
    "li",
    { class: "webhook" },
    h("p", { class: "webhook-url" }, webhook.url),
    webhook.description ? h("p", {}, webhook.description) : null,
    h("p", { class: "webhook-facts" }, webhook.events.map((event) => EVENTS[event]).join(", ")),
    stateOf(webhook),
    h(
      "div",
      { class: "webhook-actions" },
      button(t("Send a test"), () => actions.test(webhook, deliveries)),
      button(t("Change"), () => actions.change(webhook)),
      button(t("Rotate secret"), () => actions.rotate(webhook)),
      button(webhook.is_enabled ? t("Switch off") : t("Switch on"), () => actions.toggle(webhook)),
      button(t("Delete"), () => actions.remove(webhook)),
    ),
    details,
  );
}

function stateOf({ disabled_because: why, failing_since: since }) {
  if (why) return h("p", { class: why === "admin" ? "webhook-facts" : "webhook-bad" }, DISABLED[why]);
  return since ? h("p", { class: "webhook-bad" }, t("Fails since {when}", { when: moment(since) })) : null;
}

async function showDeliveries({ id }, deliveries) {
  const { results } = await get(`/webhooks/${id}/deliveries`, { limit: 20 }).catch(() => ({ results: [] }));
  const none = h("p", { class: "webhook-facts" }, t("Nothing was sent in the last days."));
  deliveries.replaceChildren(results.length ? h("ul", {}, results.map(deliveryOf)) : none);
  return results;
}

function deliveryOf({ event, status, attempts, response_code: code, error, duration_ms: ms, created_at: at, next_attempt_at: next }) {
  const state = { delivered: t("Delivered"), failed: t("Failed"), waiting: attempts ? t("Will be tried again") : t("Waits for the worker") }[status];
  const answer = code ? t("answered {code} in {ms} ms", { code, ms }) : error;
  const tries = attempts > 1 ? tPlural("{count} attempt", "{count} attempts", { count: attempts }) : null;
  const facts = [EVENTS[event] ?? event, ago(at), answer, tries, next ? t("next at {when}", { when: moment(next) }) : null];
  return h("li", { "data-status": status }, h("strong", {}, state), ` · ${facts.filter(Boolean).join(" · ")}`);
}
