// Links inside a PDF: to its own pages, and after a question to the web. A document may link anywhere else; we do not follow.
import { LinkTarget, PDFLinkService } from "pdfjs-dist/legacy/web/pdf_viewer.mjs";
import { t } from "./texts.js";

export class PdfLinks extends PDFLinkService {
  constructor(eventBus) {
    super({ eventBus, externalLinkTarget: LinkTarget.BLANK, externalLinkRel: "noopener noreferrer nofollow" });
  }

  /** Called by the library for each link annotation, before it is shown. */
  addLinkAttributes(link, url) {
    const address = webAddress(url);
    link.removeAttribute("href");
    if (!address) return;
    link.href = address.href;
    link.target = "_blank";
    link.rel = this.externalLinkRel;
    link.title = t("Opens {host} in a new tab", { host: address.host });
    link.setAttribute("aria-label", t("Link to {host}", { host: address.host }));
    link.onclick = () => window.confirm(`${t("This document links to this address. Open it in a new tab?")}\n\n${address.href}`);
  }

  /** Named actions may print, save or quit: only those that turn pages are followed. */
  executeNamedAction(action) {
    if (["NextPage", "PrevPage", "FirstPage", "LastPage", "GoBack", "GoForward"].includes(action)) super.executeNamedAction(action);
  }

  executeSetOCGState() {}
}

/** An address of the web, or null. */
export function webAddress(url) {
  const address = URL.parse?.(url) ?? null;
  return address && ["http:", "https:"].includes(address.protocol) && !address.username ? address : null;
}
