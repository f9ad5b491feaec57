// One setting: what may be chosen, what it is called, and who gave the value that counts.
import { FORMATS } from "./locale.js";
import { NAMES } from "./web-providers.js";
import { t } from "./texts.js";

const LABELS = { true: t("On"), false: t("Off"), auto: t("Automatic"), none: t("None"), null: t("None"), never: t("Never"), failures: t("When one fails"), long: t("When one fails, or long work ends"), extractive: t("Quoted, no model"), ...NAMES };

/** The name of a value; a number may be stored in a smaller unit, `factor` of which are one of the shown. */
export function labelOf(value, factor = 1) {
  return LABELS[value] ?? (typeof value === "number" ? (value / factor).toLocaleString(FORMATS) : String(value));
}

/** The number that a field holds; null inherits. */
export const numberIn = (text, factor = 1) => (text.trim() === "" ? null : factor === 1 ? Number(text) : Math.round(Number(text) * factor));

/** Say where the value comes from that counts if `chosen` is chosen; null inherits. */
export function sourceOf(chosen, { inherited, level, workspace, factor }) {
  const isOfWorkspace = inherited.source === "workspace";
  if (chosen === null) return isOfWorkspace ? t("Default of the workspace {workspace}", { workspace }) : t("Default");
  const value = labelOf(inherited.value, factor);
  const whose = level === "user" ? t("Your choice.") : t("Set here.");
  return `${whose} ${isOfWorkspace ? t("The default of the workspace {workspace} is: {value}.", { workspace, value }) : t("The default is: {value}.", { value })}`;
}

/** The change that makes `chosen` of what is stored; both are `{"section.field": value}`. */
export function changeOf(stored, chosen) {
  const change = {};
  for (const [name, value] of Object.entries(chosen)) {
    if (value === stored[name]) continue;
    const [section, field] = name.split(".");
    (change[section] ??= {})[field] = value;
  }
  return change;
}
