// Preferences and the settings of a workspace: a control for each, and where its value comes from.
import { get, patch, withQuery } from "./api.js";
import { announce, h, parts, toast } from "./dom.js";
import { changeOf, labelOf, numberIn, sourceOf } from "./setting.js";
import { t, tPlural } from "./texts.js";

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
    this.#settings = [...page.querySelectorAll("[data-setting]")].map((node) => new Setting(node, () => this.#explain()));
  }

  async start() {
    const { form, workspace, discard, save } = this.#parts;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#save();
    });
    discard.addEventListener("click", () => {
      this.#show();
      save.focus();
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
    for (const setting of this.#settings) setting.explain({ level, workspace: name });
    this.#countChanges();
  }

  /** What is not saved yet is said beside the button, which stays in sight. */
  #countChanges() {
    const { bar, changes, discard } = this.#parts;
    const count = Object.values(changeOf(this.#stored(), this.#chosen())).reduce((sum, section) => sum + Object.keys(section).length, 0);
    bar.classList.toggle("has-changes", count > 0);
    changes.textContent = count ? tPlural("{count} change", "{count} changes", { count }) : "";
    discard.hidden = !count;
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
  #reset;
  #factor;
  #own = null;
  #inherited = null;

  /** `onChange()` is called when somebody chooses another value. */
  constructor(node, onChange) {
    this.#node = node;
    this.#control = node.querySelector("select, input");
    this.#reset = node.querySelector("[data-reset]");
    this.#factor = Number(node.dataset.factor ?? 1);
    this.name = node.dataset.setting;
    this.#control.addEventListener("input", () => {
      this.#own = this.#read();
      onChange();
    });
    this.#reset.addEventListener("click", () => {
      this.#own = null;
      this.#write();
      onChange();
      this.#control.focus();
    });
  }

  get isOwn() {
    return this.chosen !== null;
  }

  /** The value that is chosen here; null inherits. */
  get chosen() {
    return this.#own;
  }

  unfold() {
    this.#node.closest("details")?.setAttribute("open", "");
  }

  show(told, chosen) {
    this.#own = chosen;
    this.#inherited = at(told.inherited, this.name);
    if (this.#node.dataset.kind === "choice") this.#offer(at(told.choices, this.name));
    this.#control.disabled = false;
    this.#write();
  }

  #offer(choices = []) {
    const options = choices.map((value) => option(value, labelOf(value)));
    this.#control.replaceChildren(option(null, t("Default: {value}", { value: labelOf(this.#inherited.value) })), ...options);
  }

  #read() {
    const { kind } = this.#node.dataset;
    if (kind === "switch") return this.#control.checked;
    return kind === "choice" ? JSON.parse(this.#control.value) : numberIn(this.#control.value, this.#factor);
  }

  #write() {
    const { kind } = this.#node.dataset;
    if (kind === "switch") this.#control.checked = this.#own ?? this.#inherited.value;
    else if (kind === "choice") this.#control.value = JSON.stringify(this.#own);
    else {
      this.#control.placeholder = labelOf(this.#inherited.value, this.#factor);
      this.#control.value = this.#own === null ? "" : this.#own / this.#factor;
    }
  }

  explain(context) {
    const source = this.#node.querySelector(".setting-source > span");
    source.textContent = sourceOf(this.chosen, { ...context, inherited: this.#inherited, factor: this.#factor });
    source.classList.toggle("badge", !this.isOwn);
    // A list says it in its first option.
    source.hidden = !this.isOwn && this.#node.dataset.kind === "choice" && this.#inherited.source !== "workspace";
    this.#reset.hidden = !this.isOwn;
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
