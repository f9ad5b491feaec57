// Connecting a language model: find servers on this machine, list models, test one, use it.
import { del, get, post, request } from "./api.js";
import { confirm } from "./confirm.js";
import { announce, h, parts } from "./dom.js";
import { FORMATS } from "./locale.js";
import { t, tPlural } from "./texts.js";

const PATH = "/model-connection";
const COMPANIES = { anthropic: "Anthropic", openai: "OpenAI" };
/** More names are found by typing. */
const MOST_NAMES = 24;

export function startConnectModel(page) {
  const all = parts(page);
  all.disconnect?.addEventListener("click", () => disconnect(all));
  if (all.form) new ConnectForm(page, all).start();
}

async function disconnect({ disconnect: button }) {
  const agreed = await confirm({
    title: t("Disconnect the model?"),
    text: t("Its key is forgotten. Answers are quoted sentences again, for everybody."),
    action: t("Disconnect"),
  });
  if (!agreed) return;
  button.disabled = true;
  await del(PATH);
  location.reload();
}

function namesWords(count) {
  const models = tPlural("{count} model", "{count} models", { count });
  return count > MOST_NAMES ? t("{models} there. Type to find others.", { models }) : t("{models} there.", { models });
}

class ConnectForm {
  #page;
  #parts;

  constructor(page, all) {
    this.#page = page;
    this.#parts = all;
  }

  start() {
    const { form, again, list, test, address, key, names } = this.#parts;
    this.#fill();
    form.addEventListener("change", (event) => event.target.name === "provider" && this.#suitProvider());
    for (const field of [address, key]) field.addEventListener("input", () => this.#forget());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#during(event.submitter, () => this.#use());
    });
    again.addEventListener("click", () => this.#during(again, () => this.#look()));
    list.addEventListener("click", () => this.#during(list, () => this.#list()));
    test.addEventListener("click", () => form.reportValidity() && this.#during(test, () => this.#test()));
    names.addEventListener("click", ({ target }) => target.matches("button") && this.#choose(target.textContent));
    this.#look();
  }

  /** What is connected already is what the form begins with. */
  #fill() {
    const { provider, model, address } = this.#page.dataset;
    const { form, address: field, model: name } = this.#parts;
    if (provider !== "extractive" && form.elements.provider) {
      form.elements.provider.value = provider;
      name.value = model;
      if (provider === "openai-compatible") field.value = address;
    }
    this.#suitProvider();
  }

  #provider() {
    return new FormData(this.#parts.form).get("provider");
  }

  #suitProvider() {
    const provider = this.#provider();
    const { addressField, address, key, keyHelp } = this.#parts;
    const isCompany = provider in COMPANIES;
    const isStored = this.#page.dataset.hasKey === "true" && provider === this.#page.dataset.provider;
    addressField.hidden = isCompany;
    address.required = !isCompany;
    key.placeholder = isStored ? t("Stored: leave empty to keep it") : isCompany ? "" : t("Most servers of your own need none");
    keyHelp.textContent = isCompany
      ? t("From your account at {company}. Stored encrypted, and never shown again.", { company: COMPANIES[provider] })
      : t("Stored encrypted, and never shown again.");
    this.#forget();
    this.#sayWhatLeaves();
  }

  #server() {
    const data = new FormData(this.#parts.form);
    const provider = data.get("provider");
    return {
      provider,
      address: provider in COMPANIES ? "" : data.get("address").trim(),
      // Null stands for the stored key.
      api_key: data.get("api_key").trim() || null,
    };
  }

  #choice() {
    return { ...this.#server(), model: this.#parts.model.value.trim() };
  }

  /** Names and results of another server say nothing of this one. */
  #forget() {
    const { names, models, result, error } = this.#parts;
    names.replaceChildren();
    models.replaceChildren();
    result.hidden = true;
    error.hidden = true;
    this.#sayWhatLeaves();
  }

  #sayWhatLeaves() {
    const { leavesThen } = this.#parts;
    const { provider, address } = this.#server();
    if (provider in COMPANIES) leavesThen.textContent = t("If you use it, each question and the passages found for it are sent to {company}.", { company: COMPANIES[provider] });
    else if (/^https?:\/\/(127\.0\.0\.1|localhost|\[::1\])([:/]|$)/.test(address)) leavesThen.textContent = t("If you use it, nothing leaves this machine.");
    else leavesThen.textContent = address ? t("If you use it, each question and the passages found for it are sent to that address.") : "";
  }

  async #look() {
    const { servers, foundNote } = this.#parts;
    foundNote.textContent = t("Looking for Ollama, LM Studio, llama.cpp and vLLM …");
    const { servers: found } = await get(`${PATH}/servers`);
    servers.replaceChildren(...found.map((server) => this.#serverNode(server)));
    foundNote.textContent = found.length
      ? ""
      : t("None of Ollama, LM Studio, llama.cpp and vLLM answers at its usual port. Start one and look again, or write its address below.");
  }

  #serverNode(server) {
    const pick = () => {
      const { form, address, model } = this.#parts;
      form.elements.provider.value = server.provider;
      address.value = server.address;
      this.#suitProvider();
      this.#showNames(server.models);
      model.focus();
    };
    const words = h("p", {}, h("b", {}, server.name), h("span", {}, t("{models} at {address}", { models: tPlural("{count} model", "{count} models", { count: server.models.length }), address: server.address })));
    return h("li", {}, words, h("button", { class: "button button-small", type: "button", onclick: pick }, t("Choose")));
  }

  async #list() {
    const { models } = await post(`${PATH}/models`, this.#server());
    this.#showNames(models);
  }

  #showNames(found) {
    const { models, names, model, modelHelp } = this.#parts;
    models.replaceChildren(...found.map((name) => new Option(name, name)));
    names.replaceChildren(...found.slice(0, MOST_NAMES).map((name) => h("button", { class: "button button-small button-quiet", type: "button" }, name)));
    if (found.length && !found.includes(model.value)) model.value = found.length === 1 ? found[0] : "";
    modelHelp.textContent = found.length
      ? namesWords(found.length)
      : t("The server has no model for answers yet. Load one there, for instance with “ollama pull llama3.2”.");
    announce(modelHelp.textContent);
    this.#mark();
  }

  #choose(name) {
    this.#parts.model.value = name;
    this.#mark();
  }

  #mark() {
    const { names, model } = this.#parts;
    for (const button of names.children) button.setAttribute("aria-pressed", String(button.textContent === model.value));
  }

  async #test() {
    const { result } = this.#parts;
    result.hidden = false;
    result.classList.remove("notice-bad");
    result.textContent = t("Asking it when a lighthouse was built …");
    const { is_good: isGood, words, secs } = await post(`${PATH}/test`, this.#choice());
    result.classList.toggle("notice-bad", !isGood);
    result.textContent = isGood ? t("It works, in {seconds} s. {words}", { seconds: secs.toLocaleString(FORMATS, { maximumFractionDigits: 1 }), words: words.replace(/\s*<source_\d+>/g, "") }) : t("It does not work. {words}", { words });
  }

  async #use() {
    await request("PUT", PATH, this.#choice());
    location.reload();
  }

  /** One thing at a time; what goes wrong is said beside the buttons. */
  async #during(button, action) {
    const { error, result } = this.#parts;
    error.hidden = true;
    button.disabled = true;
    button.setAttribute("aria-busy", "true");
    try {
      await action();
    } catch (problem) {
      result.hidden = true;
      error.hidden = false;
      error.textContent = problem.message;
    } finally {
      button.disabled = false;
      button.removeAttribute("aria-busy");
    }
  }
}
