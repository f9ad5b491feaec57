// In the place of the package “uc.micro” in the bundle: the browser knows the classes of characters, so that their ranges
// of 5 kB are not sent.

/** Punctuation and symbols, one UTF-16 unit or character at a time. */
export const P = /\p{P}/u;
export const S = /\p{S}/u;
