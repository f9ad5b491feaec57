// The marks of a place over a page: pale for the chunk, strong for the quote, at every size.
import { h } from "./dom.js";
import { boxesOnPage, inPercent, isSameBox } from "./geometry.js";

/** A layer with the boxes of a place on page `number`; null if it has none there. */
export function placesNode(place, number) {
  const drawn = { chunk: place.chunkBoxes, header: place.headerBoxes, quote: place.quoteBoxes };
  const nodes = Object.entries(drawn).flatMap(([kind, boxes]) => boxesOnPage(boxes, number).map((box) => boxNode(kind, box, place.picture)));
  return nodes.length ? h("div", { class: "places" }, nodes) : null;
}

/** A picture is framed, where words are marked. */
function boxNode(kind, box, picture) {
  const shape = isSameBox(box, picture) ? "place-picture" : `place-${kind}`;
  const node = h("div", { class: `place ${shape}`, "data-place": kind });
  for (const [side, percent] of Object.entries(inPercent(box))) node.style[side] = `${percent}%`;
  return node;
}

/** The boxes that the reader came for: of the quote, else of the chunk. */
export const markedBoxes = ({ quoteBoxes, chunkBoxes }) => (quoteBoxes.length ? quoteBoxes : chunkBoxes);
