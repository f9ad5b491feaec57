// pdf.js, as this product uses it: nothing in a document runs, and nothing is loaded from elsewhere (ADR 46).
import * as library from "pdfjs-dist/legacy/build/pdf.mjs";

export { library };

/** Where build.js puts the worker and what it loads; import.meta.url is that of the built chunk. */
const ASSETS = new URL(`./pdf-${library.version}/`, import.meta.url).href;
library.GlobalWorkerOptions.workerSrc = new URL(`./pdf-worker-${library.version}.js`, import.meta.url).href;

/** How much is loaded at once, in bytes. */
const RANGE_BYTES = 2 ** 16;
/** Images with more pixels are not decoded: they would take the memory of the tab. */
const MAX_IMAGE_PIXELS = 2 ** 27;

/** Open the file of a document; only the parts of it that are needed are loaded. Returns the library's loading task. */
export function openPdf(documentId) {
  return library.getDocument({
    url: `/api/v1/documents/${documentId}/file`,
    rangeChunkSize: RANGE_BYTES,
    disableAutoFetch: true,
    disableStream: true,
    isEvalSupported: false,
    enableXfa: false,
    stopAtErrors: false,
    maxImageSize: MAX_IMAGE_PIXELS,
    cMapUrl: `${ASSETS}cmaps/`,
    standardFontDataUrl: `${ASSETS}standard_fonts/`,
    wasmUrl: `${ASSETS}wasm/`,
    iccUrl: `${ASSETS}iccs/`,
    verbosity: library.VerbosityLevel.ERRORS,
  });
}
