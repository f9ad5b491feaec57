// How the reader wants texts, dates and numbers: as their account says, else as the browser does for the page's language
// and its time zone.
const { lang, dataset } = globalThis.document?.documentElement ?? {};
const { formats, timeZone } = dataset ?? {};

export const LANGUAGE = lang || "en";
/** Who reads English pages in Britain, or German ones in Switzerland, writes as there. */
const regional = lang && navigator.languages.find((tag) => tag.startsWith(`${lang}-`));
export const FORMATS = formats || regional || LANGUAGE;
export const TIME_ZONE = timeZone || undefined;
