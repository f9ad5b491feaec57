// How the reader wants texts, dates and numbers: as their account says, else as the page's language and the browser's
// time zone.
const { lang, dataset } = globalThis.document?.documentElement ?? {};
const { formats, timeZone } = dataset ?? {};

export const LANGUAGE = lang || "en";
export const FORMATS = formats || LANGUAGE;
export const TIME_ZONE = timeZone || undefined;
