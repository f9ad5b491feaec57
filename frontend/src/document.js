// One document in the viewer; `?chunk=` marks a chunk, `?page=` opens a page.
import { get } from "./api.js";
import { Viewer } from "./viewer.js";

export async function startDocument(page) {
  const query = new URLSearchParams(location.search);
  const viewer = new Viewer(page.querySelector("[data-viewer]"), { asSheet: false });
  const documentId = page.dataset.document;
  const chunkId = query.get("chunk");
  const notice = page.querySelector("[data-part=notice]");
  let chunk = null;
  try {
    chunk = chunkId && (await get(`/chunks/${encodeURIComponent(chunkId)}`));
  } catch (error) {
    notice.textContent = `The chunk of this link can’t be shown: ${error.message}`;
    notice.hidden = false;
  }
  await viewer.showPlace({
    documentId,
    chunkId: chunk ? chunkId : null,
    chunkBoxes: [],
    // A link names a whole chunk: it is what the reader came for, so it is marked as strongly as a quote.
    quoteBoxes: chunk?.bbox ?? [],
    quoteText: chunk?.text ?? null,
    pageNumber: chunk?.page_number ?? (Number.parseInt(query.get("page"), 10) || 1),
  });
}
