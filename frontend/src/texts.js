// Texts in the reader's language. The English text is the key; a page in another language has loaded the texts of its
// scripts before them (locus/templatetags/scripts.py). `bin/translate` finds the calls, so texts stand in them as plain
// strings.
import { FORMATS, LANGUAGE } from "./locale.js";

const CATALOG = (globalThis.locusTexts ??= {});
const plurals = new Intl.PluralRules(LANGUAGE);

/** `t("Rename {name}", {name})`: the text in the reader's language, with the values in place of their names. */
export const t = (text, values = {}) => filled(CATALOG[text] ?? text, values);

/** `tPlural("{count} page", "{count} pages", {count})`: the form for the number `count`, which is written as the reader
 * writes numbers. */
export function tPlural(one, other, values) {
  const [single, many] = CATALOG[one] ?? [one, other];
  const form = plurals.select(values.count) === "one" ? single : many;
  return filled(form, { ...values, count: values.count.toLocaleString(FORMATS) });
}

/** Like `t`, for elements within a text: strings and nodes in their order, for `h`. */
export function tNodes(text, nodes) {
  return (CATALOG[text] ?? text).split(/\{(\w+)\}/).map((part, index) => (index % 2 ? nodes[part] : part)).filter((part) => part !== "");
}

/** A text that the server has sent in English; it stays so if the catalog does not know it. */
export const translated = (text) => (typeof CATALOG[text] === "string" ? CATALOG[text] : text);

/** What `load()` imports, a module that only some readers of a page need. All texts come before it: the page has only
 * those of the scripts that it begins with. */
export async function importWithTexts(load) {
  const { allTexts } = document.documentElement.dataset;
  if (allTexts) await import(allTexts);
  return load();
}

const filled = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
