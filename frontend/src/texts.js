// Texts in the reader's language. A page in another language has loaded the texts of its scripts before them
// (locus/templatetags/scripts.py), each under the key of the English text. `bin/translate` finds the calls, so texts stand
// in them as plain strings.
import { FORMATS, LANGUAGE } from "./locale.js";

const CATALOG = (globalThis.locusTexts ??= {});
const plurals = new Intl.PluralRules(LANGUAGE);

/** The number that stands for an English text in the catalog, where the text would take more room than its translation:
 * FNV-1a of its code points, as `core/languages/catalogs.py` writes it. */
export function keyOfText(text) {
  let key = 0x811c9dc5;
  for (const sign of text) key = Math.imul(key ^ sign.codePointAt(0), 0x01000193);
  return (key >>> 0).toString(16);
}

// A server has not always something to say.
const translationOf = (text) => (text ? CATALOG[keyOfText(text)] : undefined);

/** `t("Rename {name}", {name})`: the text in the reader's language, with the values in place of their names. */
export const t = (text, values = {}) => filled(translationOf(text) ?? text, values);

/** `tPlural("{count} page", "{count} pages", {count})`: the form for the number `count`, which is written as the reader
 * writes numbers. */
export function tPlural(one, other, values) {
  const [single, many] = translationOf(one) ?? [one, other];
  const form = plurals.select(values.count) === "one" ? single : many;
  return filled(form, { ...values, count: values.count.toLocaleString(FORMATS) });
}

/** Like `t`, for elements within a text: strings and nodes in their order, for `h`. */
export function tNodes(text, nodes) {
  return (translationOf(text) ?? text).split(/\{(\w+)\}/).map((part, index) => (index % 2 ? nodes[part] : part)).filter((part) => part !== "");
}

/** A text that the server has sent in English; it stays so if the catalog does not know it. */
export function translated(text) {
  const translation = translationOf(text);
  return typeof translation === "string" ? translation : text;
}

/** What `load()` imports, a module that only some readers of a page need. All texts come before it: the page has only
 * those of the scripts that it begins with. */
export async function importWithTexts(load) {
  const { allTexts } = document.documentElement.dataset;
  if (allTexts) await import(allTexts);
  return load();
}

const filled = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
