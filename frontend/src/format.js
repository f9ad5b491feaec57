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

/** How long a document is to hear or to read: "0:42", "3 pages", "12 slides", or "" where nobody counts. */
export function lengthOf({ duration, page_count: pages, file_type: type }) {
  if (duration) return clock(duration);
  return pages ? counted(pages, SLIDES.has(type) ? "slide" : "page") : "";
}
const SLIDES = new Set(["pptx", "odp"]);

/** "1 page", "1,200 pages". */
export const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

/** Where a context stands, or better its quote: "page 3", "0:42", or "" for a place without either. */
export function placeOf(context, quote = null) {
  const page = quote?.bbox?.[0]?.page_number ?? context.page_number;
  if (page) return `page ${page}`;
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
const lists = new Intl.ListFormat("en", { type: "conjunction" });

/** "English" for "en". */
export const language = (code) => languages.of(code) ?? code;
const languages = new Intl.DisplayNames(["en"], { type: "language" });

const through = ([first, last]) => (first === last ? `${first}` : `${first}–${last}`);

/** Where a chunk stands, as its reader would say it: "Lines 10–34", "Slide 3", "Sheet “Sales”, A1:C7", "0:42 – 1:10". */
export function placeInWords({ metadata, start_time: start, end_time: end }) {
  return placeInFile(metadata) || (start === null || start === undefined ? "" : `${clock(start)} – ${clock(end)}`);
}

function placeInFile({ lines, slides, sheet, cells } = {}) {
  if (sheet) return [`Sheet “${sheet}”`, cells].filter(Boolean).join(", ");
  if (slides) return `${slides.length > 1 ? "Slides" : "Slide"} ${through([slides[0], slides.at(-1)])}`;
  if (lines) return `${lines[0] === lines[1] ? "Line" : "Lines"} ${through(lines)}`;
  return cells ? `Cells ${cells}` : "";
}
