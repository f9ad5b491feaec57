// One setting: what may be chosen, what it is called, and who gave the value that counts.
import { NAMES } from "./web-providers.js";

const LABELS = { true: "On", false: "Off", auto: "Automatic", none: "None", null: "None", ...NAMES };

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
  const from = inherited.source === "workspace" ? `the workspace ${workspace}` : "this deployment";
  if (chosen === null) return `From ${from}.`;
  const whose = level === "user" ? "Your choice." : "Set here.";
  return `${whose} Without it: ${labelOf(inherited.value)}, from ${from}.`;
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
