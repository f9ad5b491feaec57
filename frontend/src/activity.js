// What is being done to a document, in words: the stage, how much of it, and how long it will take.
import { FORMATS } from "./locale.js";
import { t } from "./texts.js";
import { unitCount } from "./units.js";

const BUSY_WORDS = { queued: t("Waiting"), indexing: t("Indexing") };
const OVER = {
  ready: { words: t("Ready"), tone: "good" },
  partial: { words: t("Ready, with warnings"), tone: "warning" },
  failed: { words: t("Failed"), tone: "bad" },
  cancelled: { words: t("Cancelled"), tone: "quiet" },
};

/** A document's status as `{words, tone, busy}`. */
export function statusOf(document) {
  const over = OVER[document.status];
  return over ? { ...over, busy: false } : { words: stageWords(document), tone: "busy", busy: true };
}

function stageWords(document) {
  if (document.status === "extracting") return reading(document);
  if (document.status === "indexing" && document.stage === "chunking") return t("Cutting into chunks");
  return BUSY_WORDS[document.status] ?? document.status;
}

function reading(document) {
  if (document.url && !document.size) return t("Fetching the page");
  if (document.duration !== null && document.duration !== undefined) return t("Listening");
  return isRecognising(document) ? t("Recognising text") : t("Reading");
}

/** Text that a file holds is found first, on all pages; what is counted after that are the scans. */
function isRecognising({ mime_type: mime, activity, page_count: pages, searchable }) {
  if (mime?.startsWith("image/")) return true;
  return Boolean(activity) && (searchable === "words" || (pages !== null && activity.total < pages));
}

/** "12 of 40 pages, about 1 min left", or "" while nothing is counted. */
export function countOf({ activity }) {
  if (!activity) return "";
  const { done, total, unit, seconds_left: left } = activity;
  const share = t("{done} of {units}", { done: done.toLocaleString(FORMATS), units: unitCount(total, unit) });
  return [share, done ? timeLeft(left) : ""].filter(Boolean).join(", ");
}

export function timeLeft(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 10) return t("a few seconds left");
  if (seconds < 55) return t("about {number} s left", { number: Math.ceil(seconds / 10) * 10 });
  if (seconds < 3570) return t("about {number} min left", { number: Math.round(seconds / 60) || 1 });
  return t("about {number} h left", { number: Math.round(seconds / 3600) });
}

/** Failures that the same bytes, or the same address, can only meet again. */
const LASTING = new Set(["blocked_url", "corrupted", "empty", "encrypted", "no_text", "too_large", "too_many_pages", "unsupported_type"]);

/** What may help a document that is not ready: "retry", "unlock" its file, "replace" it, or null. */
export function remedyOf({ status, error, url }) {
  if (status === "failed" && error?.code === "encrypted") return "unlock";
  if (status === "cancelled" || (status === "failed" && !LASTING.has(error?.code))) return "retry";
  return status === "failed" && !url ? "replace" : null;
}

const FINDABLE = { words: t("Findable by words"), full: t("Findable by words and meaning") };

/** By what a document can be found although it is not ready; "" where the status says it all. */
export function findableWords({ status, searchable }) {
  return status === "ready" || status === "partial" ? "" : FINDABLE[searchable] ?? "";
}
