import { t } from "./texts.js";
/** Make an element: `h("button", {class: "button", onclick: save}, icon("check"), "Save")`. Text is always text. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) set(element, name, value);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else element.setAttribute(name, value === true ? "" : value);
}

const SVG = "http://www.w3.org/2000/svg";

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `${document.documentElement.dataset.icons}#${name}`);
  svg.append(use);
  return svg;
}

/** The parts of a page by their `data-part` names. */
export function parts(root) {
  const found = {};
  for (const element of root.querySelectorAll("[data-part]")) found[element.dataset.part] ??= element;
  return found;
}

/** Say something to screen readers without showing it. */
export function announce(message) {
  const region = document.getElementById("announcements");
  if (region) region.textContent = message;
}

/**
 * A short note at the edge of the screen that goes by itself after `ms`; errors stay until they are closed. `action` is
 * a button in it: `{label, onclick}`. Returns the note.
 */
export function toast(message, { error = false, action = null, ms = 5000 } = {}) {
  const region = document.getElementById("toasts");
  const close = h("button", { class: "icon-button", type: "button", "aria-label": t("Close this message") }, icon("x"));
  const act = action && h("button", { class: "toast-action", type: "button" }, action.label);
  const note = h("div", { class: error ? "toast toast-error" : "toast", role: error ? "alert" : null }, h("p", {}, message), act, close);
  close.addEventListener("click", () => note.remove());
  act?.addEventListener("click", () => {
    note.remove();
    action.onclick();
  });
  region.append(note);
  if (!error) setTimeout(() => note.remove(), ms);
  return note;
}
