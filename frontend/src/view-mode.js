// How a place is shown: in its PDF, on the image of its page, in a recording, or in the text of its chunk.

/** "pdf", "page", "media" or "text". */
export function modeOf(document, { chunkBoxes, quoteBoxes }) {
  if (isRecording(document)) return "media";
  if (document.mime_type === "application/pdf" && (document.page_count || chunkBoxes.length || quoteBoxes.length)) return "pdf";
  if (chunkBoxes.length || quoteBoxes.length || hasPageImages(document)) return "page";
  return "text";
}

export function isRecording({ mime_type: mime, duration }) {
  return /^(audio|video)\//.test(mime ?? "") || (duration !== null && duration !== undefined);
}

export const isVideo = ({ mime_type: mime }) => Boolean(mime?.startsWith("video/"));

/** Slides have pages too, but nobody draws them. */
function hasPageImages({ mime_type: mime, page_count: pages }) {
  return Boolean(pages) && Boolean(mime?.startsWith("image/"));
}
