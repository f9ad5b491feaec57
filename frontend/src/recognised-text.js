// Scanned pages have no text of their own, or not what they show. What our recognition has read there is put in its
// place, so that pdf.js lets readers select, copy and find it like any other text.
import { get } from "./api.js";
import { library } from "./pdf-library.js";

const FONT = "recognised";
/** Where a line's letters stand, as a share of the height of its box from its top. */
const BASELINE = 0.8;

/** Let pages of `pdf` that were recognised answer with the words that the API knows. */
export function withRecognisedText(pdf, documentId) {
  const recognised = fetchRecognised(documentId);
  const known = new WeakSet();
  const getPage = pdf.getPage.bind(pdf);
  pdf.getPage = async (number) => {
    const page = await getPage(number);
    if (!known.has(page)) {
      known.add(page);
      extend(page, async () => ((await recognised).has(number) ? contentOf(await fetchLines(documentId, number), page) : null));
    }
    return page;
  };
  return pdf;
}

/**
 * Everything that the library does with a page's text begins with this stream. What a recognised page says of itself is
 * left out: it is nothing, or not what the page shows.
 */
function extend(page, contentOfPage) {
  const streamTextContent = page.streamTextContent.bind(page);
  page.streamTextContent = (options) => {
    let own = null;
    return new ReadableStream({
      async start(controller) {
        const content = await contentOfPage();
        if (!content) own = streamTextContent(options).getReader();
        else {
          controller.enqueue(content);
          controller.close();
        }
      },
      async pull(controller) {
        const { value, done } = await own.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => own?.cancel(reason),
    });
  };
}

/** The numbers of the pages whose words were recognised in their images. */
async function fetchRecognised(documentId) {
  const report = await get(`/documents/${documentId}/quality`).catch(() => null);
  return new Set(report?.recognised.map(({ number }) => number) ?? []);
}

/** A page that nobody has read yet has no words; nothing else depends on them. */
const fetchLines = (documentId, number) => get(`/documents/${documentId}/pages/${number}/text`).catch(() => null);

/** Lines `{text, bbox}` in the shape of the library's text content; null if there are none. */
function contentOf(read, page) {
  if (!read?.lines.length) return null;
  const view = page.getViewport({ scale: 1 });
  const [across, down] = [view.width / read.layout_width, view.height / read.layout_height];
  const [a, b, c, d, e, f] = library.Util.inverseTransform(view.transform);
  const items = read.lines.map(({ text, bbox: [x1, y1, x2, y2] }) => {
    const height = (y2 - y1) * down;
    const [x, y] = [x1 * across, y1 * down + BASELINE * height];
    return {
      str: text,
      dir: "ltr",
      // From the page as it is displayed to its own coordinates, which know neither its rotation nor its crop box.
      transform: [a * height, b * height, -c * height, -d * height, a * x + c * y + e, b * x + d * y + f],
      width: (x2 - x1) * across,
      height,
      fontName: FONT,
      hasEOL: true,
    };
  });
  return { items, styles: { [FONT]: { fontFamily: "sans-serif", ascent: BASELINE, descent: BASELINE - 1, vertical: false } }, lang: null };
}
