// Numbers, times and statuses in words.
import { FORMATS, LANGUAGE, TIME_ZONE } from "./locale.js";
import { t, tPlural } from "./texts.js";

const UNITS = ["kilobyte", "megabyte", "gigabyte", "terabyte"];

/** "1.5 MB", "1,5 MB", "1,5 Mo". */
export function bytes(size) {
  if (size < 1000 || !size) return tPlural("{count} byte", "{count} bytes", { count: size || 0 });
  const power = Math.min(Math.floor(Math.log10(size) / 3), UNITS.length);
  const value = size / 1000 ** power;
  return value.toLocaleString(FORMATS, { style: "unit", unit: UNITS[power - 1], maximumFractionDigits: value < 10 ? 1 : 0 });
}

/** "42%", "42 %"; `share` is 0 to 1. */
export const percent = (share) => share.toLocaleString(FORMATS, { style: "percent" });

/** "0.25 s", "0,25 s". */
export const secondsInWords = (secs) => `${secs.toLocaleString(FORMATS, { minimumFractionDigits: 2, maximumFractionDigits: 2 })} s`;

const STEPS = [
  [60, "second", 1],
  [3600, "minute", 60],
  [86400, "hour", 3600],
  [7 * 86400, "day", 86400],
];
const DAY = { day: "numeric", month: "short", year: "numeric" };
const MINUTE = { ...DAY, hour: "2-digit", minute: "2-digit" };
const relative = new Intl.RelativeTimeFormat(LANGUAGE, { numeric: "auto" });
const calendar = new Intl.DateTimeFormat(FORMATS, { ...DAY, timeZone: TIME_ZONE });

/** "2 hours ago"; after a week, the date. */
export function ago(iso, now = Date.now()) {
  const seconds = Math.round((now - Date.parse(iso)) / 1000);
  if (seconds < 10) return t("just now");
  const step = STEPS.find(([limit]) => seconds < limit);
  return step ? relative.format(-Math.floor(seconds / step[2]), step[1]) : day(iso);
}

/** "Nov 23, 2026". */
export const day = (iso) => calendar.format(new Date(iso));

/** Day and time: "Nov 23, 2026, 09:30 AM". */
export const moment = (iso) => exact.format(new Date(iso));
const exact = new Intl.DateTimeFormat(FORMATS, { ...MINUTE, timeZone: TIME_ZONE });

export const documentCount = (count) => tPlural("{count} document", "{count} documents", { count });
export const passageCount = (count) => tPlural("{count} passage", "{count} passages", { count });

/** Where a context stands, or better its quote: "page 3", "0:42", or "" for a place without either. */
export function placeOf(context, quote = null) {
  const page = quote?.bbox?.[0]?.page_number ?? context.page_number;
  if (page) return t("page {page}", { page });
  const start = quote?.start_time ?? context.start_time;
  return start === null || start === undefined ? placeInFile(quote?.place ?? context.place) : clock(start);
}

export function clock(seconds) {
  const whole = Math.floor(seconds);
  const minutes = String(Math.floor(whole / 60) % 60).padStart(whole >= 3600 ? 2 : 1, "0");
  const parts = [minutes, String(whole % 60).padStart(2, "0")];
  return (whole >= 3600 ? [Math.floor(whole / 3600), ...parts] : parts).join(":");
}

/** "A, B and C". */
export const listed = (words) => lists.format(words);
const lists = new Intl.ListFormat(LANGUAGE, { type: "conjunction" });

/** "English" for "en". */
export const language = (code) => languages.of(code) ?? code;
const languages = new Intl.DisplayNames([LANGUAGE], { type: "language" });

/** "page 3 · minutes.pdf": the place first, for lists in which names are cut or all begin alike. */
export const whereOf = (hit) => [placeInWords(hit) || placeOf(hit), hit.document_name].filter(Boolean).join(" · ");

const through = ([first, last]) => (first === last ? `${first}` : `${first}–${last}`);

/** Where a chunk stands, as its reader would say it: "Lines 10–34", "Slide 3", "Sheet “Sales”, A1:C7", "0:42 – 1:10". */
export function placeInWords({ metadata, start_time: start, end_time: end }) {
  return placeInFile(metadata) || (start === null || start === undefined ? "" : `${clock(start)} – ${clock(end)}`);
}

function placeInFile({ lines, slides, sheet, cells } = {}) {
  if (sheet) return [t("Sheet “{sheet}”", { sheet }), cells].filter(Boolean).join(", ");
  if (slides) return `${slides.length > 1 ? t("Slides") : t("Slide")} ${through([slides[0], slides.at(-1)])}`;
  if (lines) return `${lines[0] === lines[1] ? t("Line") : t("Lines")} ${through(lines)}`;
  return cells ? t("Cells {cells}", { cells }) : "";
}
