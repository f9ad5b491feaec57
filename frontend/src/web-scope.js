// Where on the web to look, and which workspace asks: its settings count, and it pays.
import { get } from "./api.js";
import { h } from "./dom.js";
import { recall, remember } from "./remembered.js";
import { inputsOf, labelOf } from "./web-inputs.js";
import { t } from "./texts.js";

const KEY = "ask.workspace";

/** `onChange()` is called whenever something was chosen, or the web was switched on elsewhere. */
export function startWebScope(parts, onChange) {
  const { webScope, webLabel, webDialog, webForm, webClear, webOff } = parts;
  const { workspace, time, sites } = webForm.elements;
  workspace.value = recall(KEY) ?? "";
  if (!workspace.value) workspace.selectedIndex = Math.max(0, optionsOf(workspace).findIndex(isOn));

  webScope.addEventListener("click", () => webDialog.showModal());
  webForm.addEventListener("input", changed);
  webClear.addEventListener("click", () => {
    time.value = "";
    sites.value = "";
    changed();
  });
  workspace.addEventListener("change", () => remember(KEY, workspace.value));
  document.addEventListener("visibilitychange", () => document.hidden || refresh());
  window.addEventListener("pageshow", ({ persisted }) => persisted && refresh());

  const chosen = () => workspace.selectedOptions[0];
  const optionOf = (id) => optionsOf(workspace).find(({ value }) => value === id);

  function changed() {
    show();
    onChange();
  }

  function show() {
    webLabel.textContent = labelOf({ workspaceName: workspace.length > 1 && chosen().text, time: time.value, sites: sites.value });
    webOff.replaceChildren(...(isOn(chosen()) ? [] : offNodes()));
  }

  function offNodes() {
    const { settings } = chosen().dataset;
    const choose = settings ? t("choose another workspace") : t("Choose another workspace");
    const elsewhere = optionsOf(workspace).some(isOn) ? h("button", { class: "link", type: "button", onclick: () => webDialog.showModal() }, choose) : null;
    const help = settings ? h("a", { href: settings }, t("Switch it on in the settings")) : t("An admin of the workspace can switch it on.");
    const words = `${t("Web search is off in {workspace}.", { workspace: chosen().text })} `;
    return [words, help, ...(elsewhere ? [settings ? ` ${t("or")} ` : " ", elsewhere] : [])];
  }

  /** Who has just switched it on in the settings comes back to this page. */
  async function refresh() {
    const option = chosen();
    if (isOn(option)) return;
    const tool = await get("/tools/web_search", { workspace_id: option.value }).catch(() => null);
    if (!tool?.enabled) return;
    option.dataset.enabled = "true";
    changed();
  }

  show();
  return {
    isOn: () => isOn(chosen()),
    inputs: () => inputsOf({ workspace: workspace.value, time: time.value, sites: sites.value }),
    /** A conversation has begun: it stays in its workspace. */
    fix(id) {
      if (optionOf(id)) workspace.value = id;
      workspace.disabled = true;
      changed();
    },
    settingsOf: (id) => optionOf(id)?.dataset.settings ?? null,
  };
}

const optionsOf = (select) => [...select.options];
const isOn = ({ dataset }) => dataset.enabled === "true";
