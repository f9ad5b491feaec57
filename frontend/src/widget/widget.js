// An assistant in another site: one script tag, no cookies, nothing of the page's own styles or scripts is touched.
import { connect } from "./connection.js";
import { h } from "./elements.js";
import { placeCard } from "./place.js";
import { rendered } from "./text.js";
import TEXTS from "./texts.json";
import CSS from "./widget.css";

const POLL_MS = 2000;
const MOST_POLLS = 60;
const LIVE = ["queued", "running"];
const script = document.currentScript;
const { binding, token, lang, theme } = script.dataset;

const language = [lang, document.documentElement.lang, ...navigator.languages].map((name) => name?.slice(0, 2).toLowerCase()).find((name) => name in TEXTS) ?? "en";
const say = (key, values = {}) => TEXTS[language][key].replace(/\{(\w+)\}/g, (_, name) => values[name]);

const key = `locus-widget ${binding}`;
let asked = "";
const session = {
  // Some sites and browsers allow no storage: then each page begins a conversation.
  get: () => { try { return sessionStorage.getItem(key) || asked; } catch { return asked; } },
  set: (id) => { asked = id; try { sessionStorage.setItem(key, id); } catch { /* see above */ } },
};
const connection = connect({ server: new URL(script.src).origin, binding, tokenUrl: token, session });

const heading = h("h2", { id: "name" });
const close = h("button", { type: "button", onclick: hide }, say("close"));
const log = h("div", { class: "log", role: "log", tabindex: "0", "aria-labelledby": "name" });
const field = h("textarea", { id: "question", rows: "2", maxlength: "2000", placeholder: say("question") });
const send = h("button", { type: "submit" }, say("send"));
const stop = h("button", { type: "button", hidden: true, onclick: halt }, say("stop"));
const form = h("form", {}, h("label", { class: "hidden-text", for: "question" }, say("question")), field, send, stop);
const panel = h("section", { class: "panel", role: "dialog", "aria-labelledby": "name", hidden: true, lang: language }, h("header", {}, heading, close), log, form);
const open = h("button", { class: "open", type: "button", "aria-expanded": "false", hidden: true, lang: language, onclick: show });

let loaded = null;
let running = null;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  ask(field.value.trim());
});
field.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
panel.addEventListener("keydown", (event) => event.key === "Escape" && hide());

start();

async function start() {
  const host = h("div", { "data-locus-widget": true, "data-theme": theme });
  const root = host.attachShadow({ mode: "open" });
  // A constructed sheet: a site's policy need not allow inline styles.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(CSS);
  root.adoptedStyleSheets = [sheet];
  root.append(h("aside", { "aria-labelledby": "name" }, open, panel));
  document.body.append(host);
  try {
    const { name, description, starters } = await connection.config();
    heading.textContent = name;
    open.textContent = say("open", { name });
    open.hidden = false;
    log.append(welcome(description, starters));
  } catch (error) {
    console.warn(`Locus: ${words(error)} (${error.message})`);
    host.remove();
  }
}

function welcome(description, starters) {
  const buttons = starters.map((words) => h("li", {}, h("button", { type: "button", onclick: () => ask(words) }, words)));
  return h("div", { class: "welcome" }, description && h("p", {}, description), h("p", { class: "note" }, say(buttons.length ? "start" : "empty")), buttons.length ? h("ul", { class: "starters" }, buttons) : null);
}

function show() {
  panel.hidden = false;
  open.hidden = true;
  open.setAttribute("aria-expanded", "true");
  field.focus();
  loaded ??= load();
}

/** Show what was said on the pages before; an answer that is still written is waited for. */
async function load() {
  for (const message of await connection.messages().catch(() => [])) {
    const answer = turn(message.content);
    const run = message.answers.at(-1);
    if (LIVE.includes(run?.status)) during(run.execution_id, () => pollFor(answer));
    else finish(answer, run);
  }
}

function hide() {
  panel.hidden = true;
  open.hidden = false;
  open.setAttribute("aria-expanded", "false");
  open.focus();
}

/** Add a question and the place of its answer. */
function turn(question) {
  log.querySelector(".welcome")?.remove();
  const answer = h("div", { class: "answer" }, h("p", { class: "note" }, say("thinking")));
  log.append(h("p", { class: "question" }, question), answer);
  answer.scrollIntoView({ block: "end" });
  return answer;
}

async function ask(question) {
  await loaded;
  if (!question || running) return;
  field.value = "";
  const answer = turn(question);
  // What was pressed goes away.
  field.focus();
  await during(null, () => follow(answer, question).catch((error) => note(answer, words(error))));
}

/** Let nothing else be asked while an answer is written; `id` is its run, once that is known. */
async function during(id, work) {
  running = { id };
  toggle(true);
  try {
    await work();
  } finally {
    running = null;
    toggle(false);
  }
}

async function follow(answer, question) {
  let text = "";
  try {
    for await (const { event, data } of connection.question(question)) {
      running.id ??= data.execution_id ?? null;
      if (event === "tool_partial_update") {
        text += data.content;
        answer.replaceChildren(...rendered(text));
        answer.scrollIntoView({ block: "end" });
      } else if (event === "tool_end") return finish(answer, { result: data });
      else if (event === "error") return note(answer, say(data.code === "cancelled" ? "stopped" : data.code === "rate_limited" ? "slower" : "failed"));
    }
  } catch (error) {
    // Before the first event nothing has begun; afterwards the answer goes on without us.
    if (!running.id) throw error;
  }
  await pollFor(answer);
}

async function pollFor(answer) {
  for (let count = 0; count < MOST_POLLS; count++) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const found = (await connection.messages().catch(() => [])).at(-1)?.answers.at(-1);
    if (found && !LIVE.includes(found.status)) return finish(answer, found);
  }
  note(answer, say("failed"));
}

function finish(answer, run) {
  const response = run?.result?.response;
  if (!response) return note(answer, say(run?.status === "cancelled" ? "stopped" : "failed"));
  answer.replaceChildren(...rendered(response, (cited) => citation(answer, cited, run.result)));
  answer.scrollIntoView({ block: "nearest" });
}

function citation(answer, cited, result) {
  if (cited.url) {
    // Only what is an address of the web becomes a link.
    const isWeb = /^https?:\/\//i.test(cited.url);
    return isWeb ? h("a", { class: "cite", href: cited.url, target: "_blank", rel: "noopener noreferrer", "aria-label": say("source", { number: cited.rank, name: cited.title || cited.url }) }, String(cited.rank)) : null;
  }
  const name = result.contexts?.find(({ rank }) => rank === cited.rank)?.document_name ?? "";
  const button = h("button", { class: "cite", type: "button", "aria-expanded": "false", "aria-label": say("source", { number: cited.rank, name }) }, String(cited.rank));
  button.addEventListener("click", () => {
    const isOpen = button.getAttribute("aria-expanded") === "true";
    answer.querySelector(".place")?.remove();
    for (const other of answer.querySelectorAll("[aria-expanded=true]")) other.setAttribute("aria-expanded", "false");
    if (isOpen) return;
    button.setAttribute("aria-expanded", "true");
    const card = placeCard(connection, cited, say);
    (button.closest("p, ul, ol") ?? button).after(card);
    card.focus();
  });
  return button;
}

const note = (answer, text) => answer.replaceChildren(h("p", { class: "note", role: "status" }, text));

function words(error) {
  return say({ 403: "refused", 429: "slower" }[error.status] ?? "unreachable");
}

function toggle(isRunning) {
  send.hidden = isRunning;
  stop.hidden = !isRunning;
}

function halt() {
  field.focus();
  if (running?.id) connection.stop(running.id).catch(() => {});
}
