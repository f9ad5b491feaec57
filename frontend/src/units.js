// What a document consists of, in words: pages, slides, minutes.
import { clock } from "./format.js";
import { FORMATS } from "./locale.js";
import { t, tPlural } from "./texts.js";

const SLIDES = new Set(["pptx", "ppt", "odp"]);
const UNITS = {
  page: [t("page"), (v) => tPlural("{count} page", "{count} pages", v)],
  slide: [t("slide"), (v) => tPlural("{count} slide", "{count} slides", v)],
  sheet: [t("sheet"), (v) => tPlural("{count} sheet", "{count} sheets", v)],
  part: [t("part"), (v) => tPlural("{count} part", "{count} parts", v)],
  minute: [t("minute"), (v) => tPlural("{count} minute", "{count} minutes", v)],
  image: [t("image"), (v) => tPlural("{count} image", "{count} images", v)],
  frame: [t("frame"), (v) => tPlural("{count} frame", "{count} frames", v)],
};

/** "page": the name of a part of a document that the server counts. One that is not in `UNITS` stays as it is. */
export const nounOf = (unit) => UNITS[unit]?.[0] ?? unit;

/** "1 page", "1,200 pages". */
export const unitCount = (count, unit) => UNITS[unit]?.[1]({ count }) ?? `${count.toLocaleString(FORMATS)} ${unit}`;

/** How long a document is to hear or to read: "0:42", "3 pages", "12 slides", or "" where nobody counts. */
export function lengthOf({ duration, page_count: pages, file_type: type }) {
  if (duration) return clock(duration);
  return pages ? unitCount(pages, SLIDES.has(type) ? "slide" : "page") : "";
}
