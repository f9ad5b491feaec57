// The form above the list of documents: what is filtered, in which order, and what there is to filter by.
import { FIELDS } from "./documents-query.js";
import { bytes, documentCount, language } from "./format.js";
import { FORMATS } from "./locale.js";
import { t } from "./texts.js";

const FOLDED = ["type", "tag", "language", "from", "to"];

/** Put what the address says into the form. */
export function showFilters({ filters, sort, moreFilters }, state) {
  for (const name of FIELDS) {
    const control = filters.elements[name];
    if (!control) continue;
    const value = state.filters[name];
    // Options come with the summary; a link may name one before.
    if (control.tagName === "SELECT" && value && ![...control.options].some((one) => one.value === value)) control.append(new Option(value, value));
    control.value = value;
  }
  sort.value = state.sort;
  if (FOLDED.some((name) => state.filters[name])) moreFilters.open = true;
}

/** What the form says, and of what it has no control, what was filtered before. */
export function filtersIn(form, before) {
  const given = Object.fromEntries(new FormData(form));
  return { ...before, ...Object.fromEntries(FIELDS.filter((name) => name in given).map((name) => [name, given[name]])) };
}

/** Say how many there are and what they use. `matching` is of those that the list has. */
export function showUsage({ usage, bulkBar }, { whole, matching }) {
  const shown = matching.documents === whole.documents ? "" : ` · ${t("{number} shown", { number: matching.documents.toLocaleString(FORMATS) })}`;
  usage.textContent = whole.documents ? `${documentCount(whole.documents)}, ${bytes(whole.bytes)}${shown}` : "";
  bulkBar.dataset.matching = matching.documents;
}

/** Say the same, and how many have failed; offer what there is to filter by. `status` is what the list is filtered by. */
export function showSummary(parts, { whole, matching, status }) {
  showUsage(parts, { whole, matching });
  const { filters, failedBar, failedWords, showFailed, tagNames } = parts;
  const failed = whole.statuses.failed ?? 0;
  const areFailedShown = status === "failed";
  failedBar.hidden = !failed && !areFailedShown;
  failedWords.textContent = t("{failed} of {documents} failed.", { failed: failed.toLocaleString(FORMATS), documents: documentCount(whole.documents) });
  showFailed.textContent = areFailedShown ? t("Show all") : t("Show them");
  offer(filters.elements.type, whole.types, (type) => type.toUpperCase());
  offer(filters.elements.language, whole.languages, language);
  offer(filters.elements.tag, whole.tags, (tag) => tag);
  tagNames.replaceChildren(...Object.keys(whole.tags).map((tag) => new Option(tag, tag)));
}

/** Offer the values that there are, the most frequent first, and keep what is chosen. */
function offer(select, counts, wordsOf) {
  const chosen = select.value;
  const values = Object.keys(counts);
  if (chosen && !values.includes(chosen)) values.push(chosen);
  const options = values.map((value) => new Option(counts[value] ? `${wordsOf(value)} (${counts[value].toLocaleString(FORMATS)})` : wordsOf(value), value));
  select.replaceChildren(select.options[0], ...options);
  select.value = chosen;
}
