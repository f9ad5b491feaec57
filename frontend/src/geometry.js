// From the API's boxes (in the page's layout units, origin top left) to places on a drawn page.

const WIDTHS = [480, 720, 960, 1280, 1600, 2000, 2600, 3200, 4000];

export function boxesOnPage(boxes, pageNumber) {
  return (boxes ?? []).filter((box) => box.page_number === pageNumber);
}

/** A box as percentages of its page, so that it stays in place at every zoom. */
export function inPercent({ bbox: [x1, y1, x2, y2], layout_width: width, layout_height: height }) {
  return {
    left: (100 * x1) / width,
    top: (100 * y1) / height,
    width: (100 * (x2 - x1)) / width,
    height: (100 * (y2 - y1)) / height,
  };
}

/** A box on a page that its reader has turned clockwise by `degrees` (0, 90, 180 or 270). */
export function turnedBox(box, degrees) {
  if (!degrees) return box;
  const { bbox: [x1, y1, x2, y2], layout_width: width, layout_height: height } = box;
  const quarter = { ...box, bbox: [height - y2, x1, height - y1, x2], layout_width: height, layout_height: width };
  return turnedBox(quarter, degrees - 90);
}

/** How the image of a whole page must lie in a frame, of this `ratio`, so that only the box is seen. */
export function inCrop({ bbox: [x1, y1, x2, y2], layout_width: width, layout_height: height }) {
  const [across, down] = [x2 - x1, y2 - y1];
  return {
    ratio: across / down,
    width: `${(100 * width) / across}%`,
    height: `${(100 * height) / down}%`,
    left: `${(-100 * x1) / across}%`,
    top: `${(-100 * y1) / down}%`,
  };
}

export const isSameBox = (one, other) => Boolean(other) && one.page_number === other.page_number && one.bbox.every((edge, at) => edge === other.bbox[at]);

/** The page where the place begins: of the quote if it has boxes, else of the chunk. */
export function firstPage(quoteBoxes, chunkBoxes, fallback = 1) {
  return (quoteBoxes?.[0] ?? chunkBoxes?.[0])?.page_number ?? fallback ?? 1;
}

/** The smallest offered image width that is sharp at this size; few widths, so that renderings are reused. */
export function imageWidth(cssWidth, pixelRatio = 1) {
  const wanted = cssWidth * Math.min(pixelRatio, 3);
  return WIDTHS.find((width) => width >= wanted) ?? WIDTHS.at(-1);
}

/** The horizontal extent of boxes as shares of the page: `[left, right]`. */
function extent(boxes) {
  const places = boxes.map(inPercent);
  return [Math.min(...places.map(({ left }) => left)), Math.max(...places.map(({ left, width }) => left + width))].map(
    (percent) => percent / 100,
  );
}

/** How far to zoom in so that the boxes take up the width of the view, within reason. */
export function fittingZoom(boxes) {
  if (!boxes.length) return 1;
  const [left, right] = extent(boxes);
  return Math.min(2, Math.max(1, 0.94 / (right - left)));
}

/** Where to scroll so that the first of the boxes stands in the upper third of the view. */
export function scrollTopFor(boxes, pageHeight, viewHeight) {
  if (!boxes.length) return 0;
  const top = Math.min(...boxes.map((box) => inPercent(box).top));
  return Math.max(0, (top / 100) * pageHeight - viewHeight / 3);
}

/** Where to scroll so that the boxes stand in the middle of the view. */
export function scrollLeftFor(boxes, pageWidth, viewWidth) {
  if (!boxes.length) return 0;
  const [left, right] = extent(boxes);
  return Math.max(0, ((left + right) / 2) * pageWidth - viewWidth / 2);
}

/** A cut of the page around a passage, as a box: as wide as the passage and some more, and so high as `ratio` allows. */
export function frameAround(boxes, ratio = 2) {
  const page = boxesOnPage(boxes, boxes[0].page_number);
  const { page_number, layout_width: width, layout_height: height } = page[0];
  const edge = (at, choose) => choose(...page.map(({ bbox }) => bbox[at]));
  const [x1, y1, x2] = [edge(0, Math.min), edge(1, Math.min), edge(2, Math.max)];
  const margin = 0.03 * width;
  const across = Math.min(width, Math.max(x2 - x1 + 2 * margin, 0.45 * width));
  const down = Math.min(height, across / ratio);
  const left = clamp((x1 + x2 - across) / 2, 0, width - across);
  // Long passages are shown from their start.
  const tall = edge(3, Math.max) - y1;
  const top = clamp(tall < down ? y1 - (down - tall) / 2 : y1 - margin, 0, height - down);
  return { page_number, layout_width: width, layout_height: height, bbox: [left, top, left + across, top + down] };
}

const clamp = (value, least, most) => Math.min(most, Math.max(least, value));

/** Where a box lies in a frame of the same page, in percent of the frame. */
export function inFrame({ bbox: [x1, y1, x2, y2] }, { bbox: [left, top, right, bottom] }) {
  const [across, down] = [right - left, bottom - top];
  return { left: `${(100 * (x1 - left)) / across}%`, top: `${(100 * (y1 - top)) / down}%`, width: `${(100 * (x2 - x1)) / across}%`, height: `${(100 * (y2 - y1)) / down}%` };
}
