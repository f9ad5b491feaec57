// What the questions of a conversation are put to: documents, the web, or both, and where among them.
import { patch } from "./api.js";
import { startAssistantChoice } from "./assistant-choice.js";
import { toast } from "./dom.js";
import { DOCUMENTS, WEB } from "./execution.js";
import { recall, remember } from "./remembered.js";
import { startScope } from "./scope.js";
import { startWebScope } from "./web-scope.js";
import { t } from "./texts.js";

const KEY = "ask.where";

/** `session()` is the conversation, or null before it begins; `onSession(session)` is called when it has changed. */
export function startWhere(page, parts, { session, onSession }) {
  const switches = [...page.querySelectorAll("[name=where]")];
  const scope = startScope(parts, { onChange: () => save({ scope: scope.value() }) });
  const web = switches.length ? startWebScope(parts, draw) : null;
  const assistant = startAssistantChoice(page, parts, { onChange: (id) => save({ assistant_id: id }) });
  const isOn = (tool) => (switches.length ? switches.some(({ value, checked }) => checked && value === tool) : tool === DOCUMENTS);

  // Who comes to ask about a document means the documents.
  const start = new URLSearchParams(location.search).has("document") ? DOCUMENTS : recall(KEY);
  if (start) setTools({ documents: start.includes(DOCUMENTS), web: start.includes(WEB) });
  for (const each of switches) each.addEventListener("change", () => switched(each));
  parts.deep.addEventListener("click", () => parts.deep.setAttribute("aria-pressed", String(!isDeep())));

  function isDeep() {
    return parts.deep.getAttribute("aria-pressed") === "true";
  }

  function setTools({ documents, web: isWeb }) {
    for (const each of switches) each.checked = each.value === WEB ? isWeb : documents || !isWeb;
    draw();
  }

  /** One of the two is always on. */
  function switched(changed) {
    if (!switches.some(({ checked }) => checked)) switches.find((each) => each !== changed).checked = true;
    remember(KEY, switches.filter(({ checked }) => checked).map(({ value }) => value).join(" "));
    draw();
    save({ tools: tools() });
  }

  function tools() {
    return { documents: isOn(DOCUMENTS), web: isOn(WEB) };
  }

  function draw() {
    page.classList.toggle("asks-web", isOn(WEB));
    page.classList.toggle("asks-documents", isOn(DOCUMENTS));
    parts.ask.disabled = !canAsk();
  }

  function canAsk() {
    return !isOn(WEB) || web.isOn();
  }

  /** Change the conversation, if it has begun; returns whether that went well. */
  async function save(values) {
    if (!session()?.is_own) return !session();
    try {
      onSession(await patch(`/sessions/${session().id}`, values));
      return true;
    } catch (error) {
      toast(error.message, { error: true });
      show(session());
      return false;
    }
  }

  function show({ tools: saved, scope: narrowed, workspace_id: workspace, assistant_id: who }) {
    assistant.show(who);
    setTools(saved);
    scope.show(narrowed);
    web?.fix(workspace);
  }

  draw();
  return {
    canAsk,
    show,
    /** What a new conversation begins with. */
    ofSession: () => ({ tools: tools(), scope: scope.value(), ...(web && isOn(WEB) && { workspace_id: web.inputs().workspace_id }), ...assistant.ofSession() }),
    /** What a question says besides its words. */
    ofMessage() {
      const deep = isDeep() ? { deep: true } : {};
      if (!isOn(WEB)) return deep;
      const { workspace_id: _, ...filters } = web.inputs();
      return Object.keys(filters).length ? { web: filters, ...deep } : deep;
    },
    chooseDocument(document) {
      if (!isOn(DOCUMENTS)) {
        setTools({ documents: true, web: isOn(WEB) });
        save({ tools: tools() });
      }
      scope.chooseDocument(document);
    },
    /** What else a question can be put to: `[{words, name (of an icon), choose}]`; `choose` resolves to whether it worked. */
    otherWays() {
      const ways = [];
      const turnOn = (tool) => () => {
        setTools({ ...tools(), [tool]: true });
        return save({ tools: tools() });
      };
      if (!isOn(DOCUMENTS)) ways.push({ words: t("Search your documents too"), name: "files", choose: turnOn("documents") });
      if (isOn(DOCUMENTS) && scope.isNarrow()) {
        ways.push({ words: t("Search all documents"), name: "files", choose: () => (scope.clear(), save({ scope: scope.value() })) });
      }
      if (!isOn(WEB) && web?.isOn()) ways.push({ words: t("Search the web too"), name: "globe", choose: turnOn("web") });
      return ways;
    },
    settingsOf: (id) => web?.settingsOf(id) ?? null,
  };
}
