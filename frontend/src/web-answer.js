// What an answer from the web says of its sources and of the search engines. Pure.
import { listed } from "./format.js";
import { locate, pieces } from "./passage.js";
import { nameOf } from "./web-providers.js";
import { t } from "./texts.js";

const FAILURES = {
  invalid_request: (name) => t("{name} would not take this question", { name }),
  rate_limited: (name) => t("{name} was rate limited", { name }),
  bot_challenge: (name) => t("{name} took us for a robot", { name }),
  auth: (name) => t("{name} refused our key", { name }),
  quota: (name) => t("{name} has no quota left", { name }),
  timeout: (name) => t("{name} took too long", { name }),
  unavailable: (name) => t("{name} was not available", { name }),
  bad_response: (name) => t("{name} gave no usable reply", { name }),
};

/** "Searched with Tavily; Brave was rate limited." */
export function searchedWith({ provider, providers, from_cache: isCached }) {
  if (isCached) return t("{name} found this lately and was not asked again.", { name: nameOf(provider) });
  const answered = providers[provider] === "empty" ? t("{name} found nothing", { name: nameOf(provider) }) : t("Searched with {name}", { name: nameOf(provider) });
  return `${[answered, ...failed(Object.entries(providers))].join("; ")}.`;
}

/** Why nobody answered, from what is told of each search engine: "No search engine answered: Brave took too long." */
export function failureWords({ message, details }) {
  if (!details?.providers) return message;
  const asked = outcomesOf(details.providers);
  const lasts = asked.every(([, outcome]) => LASTING.includes(outcome));
  return `${[t("No search engine answered"), ...failed(asked)].join(": ")}. ${lasts ? t("Ask your administrator.") : t("Try again in a while.")}`;
}

/** What stays wrong until somebody sees to it. */
const LASTING = ["auth", "quota"];

/** `[[name, outcome], …]` in the order of asking. Runs that were stored before 2026-11-23 have an object. */
function outcomesOf(providers) {
  return Array.isArray(providers) ? providers.map(({ provider, outcome }) => [provider, outcome]) : Object.entries(providers);
}

/** A list of one phrase about all that failed, or an empty one. */
function failed(outcomes) {
  const told = outcomes.filter(([, outcome]) => FAILURES[outcome]).map(([name, outcome]) => FAILURES[outcome](nameOf(name)));
  return told.length ? [listed(told)] : [];
}

const FILTERS = [
  [/^(time_range|freshness|search_recency_filter)$/, t("how old a page may be")],
  [/^search_(after|before)_date_filter$/, t("when a page was published")],
  [/^last_updated_/, t("when a page was changed")],
  [/domain/, t("the choice of sites")],
  [/^user_location$/, t("the place")],
];

/** A sentence about filters that were not applied, by the names of the request; "" if there is none. */
export function ignoredWords(names) {
  if (!names.length) return "";
  const words = new Set(names.map((name) => FILTERS.find(([shape]) => shape.test(name))?.[1] ?? t("the {name}", { name })));
  return t("Nobody could check {what}: pages that should have been left out may be among these.", { what: listed([...words]) });
}

/** The address as a link may have it, or null: other people wrote it. */
export function linkOf(url) {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  const isWeb = parsed?.protocol === "https:" || parsed?.protocol === "http:";
  return isWeb && !parsed.username && !parsed.password ? parsed.href : null;
}

/** Whose page it is, as the browser will know it: in ASCII, so that look-alikes show. */
export const hostOf = (url) => (linkOf(url) ? new URL(url).hostname.replace(/^www\./, "") : "");

/** How much of a snippet, in characters, stands before its quote. */
const LEAD = 90;

/** What is shown of a page: `[before, quoted, after]`. The quote may come from the page, where the snippet lacks it. */
export function excerptOf({ snippet, quote }) {
  const found = locate(snippet, quote);
  if (quote && !found) return ["", quote, ""];
  const [before, quoted, after] = pieces(snippet, [0, snippet.length], found);
  const isLong = quoted && before.length > LEAD;
  return [isLong ? `…${before.slice(-LEAD).replace(/^\S*\s/, "")}` : before, quoted, after];
}
