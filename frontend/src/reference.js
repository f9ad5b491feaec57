// The API reference: one language for all examples, and a form to try an operation. Without it the page reads as well.
import { h } from "./dom.js";
import { recall, remember } from "./remembered.js";

const LANGUAGE = "reference-language";
const SHOWN_CHARS = 100_000;

export function startReference(page) {
  // Beside the text it is open; above it, on a phone, it would push the text down.
  if (!window.matchMedia("(max-width: 60rem)").matches) page.querySelector(".reference-menu").open = true;
  chooseLanguage(page, recall(LANGUAGE) ?? "curl");
  page.addEventListener("click", ({ target }) => {
    const sample = target.closest("summary")?.parentElement;
    if (!sample?.dataset.sample || sample.open) return;
    remember(LANGUAGE, sample.dataset.sample);
    chooseLanguage(page, sample.dataset.sample, sample);
  });
  for (const place of page.querySelectorAll("[data-try]")) place.append(tryIt(place.dataset));
}

/** Opens the examples in a language and closes the others; the one just clicked opens by itself. */
function chooseLanguage(page, language, clicked) {
  for (const sample of page.querySelectorAll("[data-sample]")) {
    if (sample !== clicked) sample.open = sample.dataset.sample === language;
  }
}

/** A form is made when it is opened: there would be hundreds of fields. */
function tryIt(operation) {
  const details = h("details", {}, h("summary", {}, "Try it"));
  details.addEventListener("toggle", () => details.append(form(operation)), { once: true });
  return details;
}

function form({ method, path, name, query, example, hasBody }) {
  const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map((found) => found[1]);
  const inPath = placeholders.map((each) => [each, field(each, { required: true })]);
  const inQuery = query.trim().split(" ").filter(Boolean).map((each) => [each, field(each)]);
  const key = field("API key; empty: as you are logged in", { type: "password" });
  const body = hasBody === "yes" ? h("textarea", { spellcheck: false }) : null;
  if (body) body.value = example || "{}";
  const reply = h("pre", { class: "try-reply", tabindex: 0, role: "status", hidden: true });
  const send = h("button", { class: "button button-small button-main", type: "submit" }, method === "GET" ? "Send" : `Send: this changes your data`);
  const onsubmit = async (event) => {
    event.preventDefault();
    send.disabled = true;
    reply.hidden = false;
    reply.textContent = "Sending…";
    reply.textContent = await answer(method, addressOf(path, inPath, inQuery), key.input.value, body?.value);
    send.disabled = false;
  };
  return h("form", { onsubmit, "aria-label": `Try ${name}` }, ...[...inPath, ...inQuery].map(([, each]) => each.label), body && h("label", {}, "Body", body), key.label, h("div", {}, send), reply);
}

function field(words, attributes = {}) {
  const input = h("input", { type: "text", autocomplete: "off", ...attributes });
  return { input, label: h("label", {}, words, input) };
}

function addressOf(path, inPath, inQuery) {
  const filled = inPath.reduce((address, [name, { input }]) => address.replace(`{${name}}`, encodeURIComponent(input.value)), path);
  const given = inQuery.filter(([, { input }]) => input.value).map(([name, { input }]) => [name, input.value]);
  const search = new URLSearchParams(given).toString();
  return search ? `${filled}?${search}` : filled;
}

async function answer(method, address, key, body) {
  const headers = {};
  if (key) headers.Authorization = `Bearer ${key}`;
  else if (method !== "GET") headers["X-CSRFToken"] = document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";
  if (body !== undefined) headers["Content-Type"] = "application/json";
  try {
    const reply = await fetch(address, { method, headers, body, credentials: key ? "omit" : "same-origin" });
    return `${reply.status} ${reply.statusText}\n\n${pretty(await reply.text())}`.slice(0, SHOWN_CHARS);
  } catch {
    return "The server can't be reached.";
  }
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
