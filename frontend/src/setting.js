// One setting: what may be chosen, what it is called, and who gave the value that counts.
import { NAMES } from "./web-providers.js";
import { t } from "./texts.js";

const LABELS = { true: t("On"), false: t("Off"), auto: t("Automatic"), none: t("None"), null: t("None"), never: t("Never"), failures: t("When one fails"), long: t("When one fails, or long work ends"), ...NAMES };

export const labelOf = (value) => LABELS[value] ?? String(value);

/** What may be chosen besides inheriting. */
export function valuesOf({ kind, most, choices = [] }) {
  if (kind === "switch") return [true, false];
  if (kind === "number") return Array.from({ length: most }, (_, index) => index + 1);
  return choices;
}

/** The value that a control holds; null inherits. An amount is written, everything else is one of some JSON. */
export function chosenIn(kind, text) {
  if (kind !== "amount") return JSON.parse(text);
  return text === "" ? null : Number(text);
}

/** Say where the value comes from that counts if `chosen` is chosen; null inherits. */
export function sourceOf(chosen, { inherited, level, workspace }) {
  const from = inherited.source === "workspace" ? t("the workspace {workspace}", { workspace }) : t("this deployment");
  if (chosen === null) return t("From {from}.", { from });
  const whose = level === "user" ? t("Your choice.") : t("Set here.");
  return `${whose} ${t("Without it: {value}, from {from}.", { value: labelOf(inherited.value), from })}`;
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
