// The words that a reader has selected in a document.

/** Selected text is cut to this many characters: a question has at most 2,000. */
const LONGEST = 1000;

/** What is selected within `element`, white space folded; null if nothing is. */
export function selectionIn(element) {
  const selection = document.getSelection();
  if (!selection || selection.isCollapsed || !selection.rangeCount) return null;
  if (!element.contains(selection.getRangeAt(0).commonAncestorContainer)) return null;
  return foldedQuote(selection.toString());
}

export function foldedQuote(text) {
  const folded = text.replace(/\s+/g, " ").trim();
  if (!folded) return null;
  return folded.length > LONGEST ? `${folded.slice(0, LONGEST - 1)}…` : folded;
}

/** The beginning of a question about selected words. */
export const quotedStart = (quote) => `“${quote}”\n\n`;
