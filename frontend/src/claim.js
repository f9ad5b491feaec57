// While a citation is open, the words it supports are marked in the answer with the same highlighter as on the page.
const BLOCKS = "p, li, td, th, h1, h2, h3, h4, h5, h6, blockquote";

/** The words from the citations before it, or from its block's start, up to the citation. */
export function claimRange(citation) {
  const block = citation.closest(BLOCKS);
  if (!block) return null;
  const chips = [...block.querySelectorAll(".cite")];
  let first = chips.indexOf(citation);
  // "… in 2022 [1][2]": both stand for the same words.
  while (first > 0 && !between(block, chips[first - 1], chips[first]).toString().trim()) first -= 1;
  return between(block, chips[first - 1], chips[first]);
}

function between(block, before, after) {
  const range = document.createRange();
  if (before) range.setStartAfter(before);
  else range.setStart(block, 0);
  range.setEndBefore(after);
  return range;
}

/** Mark the words of `citation`, or with null none. Marking is a bonus: older browsers do without. */
export function markClaim(citation) {
  if (!("highlights" in CSS)) return;
  CSS.highlights.delete("claim");
  const range = citation && claimRange(citation);
  if (range) CSS.highlights.set("claim", new Highlight(range));
}
