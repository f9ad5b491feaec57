// Preferences and the settings of a workspace: a control for each, and where its value comes from.
import { get, patch, withQuery } from "./api.js";
import { announce, h, parts, toast } from "./dom.js";
import { changeOf, chosenIn, labelOf, sourceOf, valuesOf } from "./setting.js";
import { t } from "./texts.js";

export function startSettings(page) {
  new SettingsPage(page).start();
}

class SettingsPage {
  #page;
  #parts;
  #settings;
  #told = null;

  constructor(page) {
    this.#page = page;
    this.#parts = parts(page);
    this.#settings = [...page.querySelectorAll("[data-setting]")].map((node) => new Setting(node));
  }

  async start() {
    const { form, workspace } = this.#parts;
    form.addEventListener("input", () => this.#explain());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#save();
    });
    workspace?.addEventListener("change", () => this.#changeWorkspace());
    await this.#load();
    this.#show();
  }

  /** Preferences inherit from the workspace that is chosen; settings are those of the page's workspace. */
  get #address() {
    const { level, address } = this.#page.dataset;
    return level === "user" ? withQuery(address, { workspace_id: this.#parts.workspace?.value }) : address;
  }

  async #changeWorkspace() {
    const chosen = this.#chosen();
    await this.#load();
    this.#show(chosen);
  }

  async #load() {
    try {
      this.#told = await get(this.#address);
      this.#parts.save.disabled = false;
    } catch (error) {
      toast(error.message, { error: true });
    }
  }

  async #save() {
    for (const setting of this.#settings) setting.showError("");
    try {
      this.#told = await patch(this.#address, changeOf(this.#stored(), this.#chosen()));
      this.#show();
      toast(t("Saved."));
      announce(t("Saved."));
    } catch (error) {
      this.#showError(error);
    }
  }

  #showError({ param, message }) {
    const wrong = this.#settings.find(({ name }) => name === param);
    if (wrong) wrong.showError(message);
    else toast(message, { error: true });
  }

  #show(chosen = this.#stored()) {
    if (!this.#told) return;
    for (const setting of this.#settings) setting.show(this.#told, chosen[setting.name]);
    this.#explain();
    // What is folded is seen where it was chosen.
    for (const setting of this.#settings) if (setting.isOwn) setting.unfold();
  }

  #explain() {
    const { level, workspaceName } = this.#page.dataset;
    const { workspace } = this.#parts;
    const name = workspace ? workspace.selectedOptions[0].text : workspaceName;
    for (const setting of this.#settings) setting.explain(this.#told, { level, workspace: name });
  }

  #stored() {
    return Object.fromEntries(this.#settings.map(({ name }) => [name, this.#told ? at(this.#told, name) : null]));
  }

  #chosen() {
    return Object.fromEntries(this.#settings.map(({ name, chosen }) => [name, chosen]));
  }
}

const at = (told, name) => name.split(".").reduce((inner, key) => inner?.[key], told);

class Setting {
  #node;
  #control;

  constructor(node) {
    this.#node = node;
    this.#control = node.querySelector("select, input");
    this.name = node.dataset.setting;
  }

  get isOwn() {
    return this.chosen !== null;
  }

  unfold() {
    this.#node.closest("details")?.setAttribute("open", "");
  }

  get chosen() {
    return chosenIn(this.#node.dataset.kind, this.#control.value);
  }

  show(told, chosen) {
    const inherited = t("Inherited: {value}", { value: labelOf(at(told.inherited, this.name).value) });
    if (this.#node.dataset.kind === "amount") {
      this.#control.placeholder = inherited;
      this.#control.value = chosen ?? "";
    } else {
      this.#offer(inherited, at(told.choices, this.name));
      this.#control.value = JSON.stringify(chosen);
    }
    this.#control.disabled = false;
  }

  #offer(inherited, choices) {
    const { kind, most } = this.#node.dataset;
    const values = valuesOf({ kind, most: Number(most), choices });
    const options = values.map((value) => option(value, labelOf(value)));
    this.#control.replaceChildren(option(null, inherited), ...options);
  }

  explain(told, context) {
    const source = this.#node.querySelector(".setting-source");
    source.textContent = sourceOf(this.chosen, { ...context, inherited: at(told.inherited, this.name) });
    this.#node.classList.toggle("is-own", this.isOwn);
  }

  showError(message) {
    const error = this.#node.querySelector(".field-error");
    error.textContent = message;
    error.hidden = !message;
    if (message) this.unfold();
    this.#control.setAttribute("aria-invalid", String(Boolean(message)));
  }
}

const option = (value, label) => h("option", { value: JSON.stringify(value) }, label);
