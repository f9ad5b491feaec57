// Numbers, times and statuses in words.

const UNITS = ["bytes", "kB", "MB", "GB", "TB"];

export function bytes(size) {
  if (!size) return "0 bytes";
  const power = Math.min(Math.floor(Math.log10(size) / 3), UNITS.length - 1);
  const value = size / 1000 ** power;
  return `${value.toLocaleString("en", { maximumFractionDigits: power && value < 10 ? 1 : 0 })} ${UNITS[power]}`;
}

const STEPS = [
  [60, "second", 1],
  [3600, "minute", 60],
  [86400, "hour", 3600],
  [7 * 86400, "day", 86400],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const calendar = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" });

/** "2 hours ago"; after a week, the date. */
export function ago(iso, now = Date.now()) {
  const seconds = Math.round((now - Date.parse(iso)) / 1000);
  if (seconds < 10) return "just now";
  const step = STEPS.find(([limit]) => seconds < limit);
  return step ? relative.format(-Math.floor(seconds / step[2]), step[1]) : day(iso);
}

export const day = (iso) => calendar.format(new Date(iso));

const TONES = { ready: "good", partial: "warning", failed: "bad", cancelled: "quiet" };

/** A document's status as `{words, tone, busy}`. */
export function statusOf(document) {
  const { status, stage, searchable } = document;
  const tone = TONES[status] ?? "busy";
  return { words: wordsFor(status, stage, searchable), tone, busy: tone === "busy" };
}

function wordsFor(status, stage, searchable) {
  if (status === "indexing") return searchable === "words" ? "Indexing, findable by words" : stageWords(stage);
  const words = {
    queued: "Waiting",
    extracting: "Reading",
    ready: "Ready",
    partial: "Ready, with warnings",
    failed: "Failed",
    cancelled: "Cancelled",
  };
  return words[status] ?? status;
}

const stageWords = (stage) => (stage === "chunking" ? "Cutting into chunks" : "Indexing");

/** "page 3", "0:42", or "" for a place without either. */
export function placeOf({ page_number: page, start_time: start }) {
  if (page) return `page ${page}`;
  return start === null || start === undefined ? "" : clock(start);
}

export function clock(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
