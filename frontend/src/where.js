// What a question is put to: the documents, or the web where the deployment has web tools.
import { DOCUMENTS, WEB } from "./execution.js";
import { recall, remember } from "./remembered.js";
import { startScope } from "./scope.js";
import { startWebScope } from "./web-scope.js";

const KEY = "ask.where";

export function startWhere(page, parts) {
  const documents = startScope(parts);
  const radios = [...page.querySelectorAll("[name=where]")];
  const web = radios.length ? startWebScope(parts, show) : null;
  const isWeb = () => radios.some(({ value, checked }) => checked && value === WEB);

  // Who comes to ask about a document means the documents.
  const start = new URLSearchParams(location.search).has("document") ? DOCUMENTS : recall(KEY);
  for (const radio of radios) {
    if (radio.value === start) radio.checked = true;
    radio.addEventListener("change", () => {
      remember(KEY, radio.value);
      show();
    });
  }

  function show() {
    page.classList.toggle("asks-web", isWeb());
    parts.ask.disabled = isWeb() && !web.isOn();
  }

  show();
  return {
    /** The tool and inputs of a question; null where it can't be asked. */
    of(query) {
      if (!isWeb()) return { tool: DOCUMENTS, inputs: { query, ...documents.inputs() } };
      return web.isOn() ? { tool: WEB, inputs: { query, ...web.inputs() } } : null;
    },
    settingsOf: (id) => web?.settingsOf(id) ?? null,
  };
}
