// Printing a PDF: its pages are drawn as images of the paper's size, and the browser prints these alone.
import { h, toast } from "./dom.js";
import { t, tPlural } from "./texts.js";

/** More pages take too much memory: the reader's own program prints them better. */
export const MOST_PAGES = 200;
const DPI = 150;

/** Print all pages of `pdf`; tells how far it is, and is over when the dialog has closed. */
export async function printPdf(pdf) {
  if (pdf.numPages > MOST_PAGES) return toast(tPlural("This document has {count} page. Open the original file and print it from there.", "This document has {count} pages. Open the original file and print it from there.", { count: pdf.numPages }));
  toast(pdf.numPages > 10 ? tPlural("Preparing {count} page to print.", "Preparing {count} pages to print.", { count: pdf.numPages }) : t("Preparing to print."));
  const images = [];
  const paper = h("div", { class: "print-pages", "aria-hidden": "true" });
  try {
    for (let number = 1; number <= pdf.numPages; number += 1) {
      const image = await drawnPage(await pdf.getPage(number));
      images.push(image);
      paper.append(image);
    }
    document.body.append(paper);
    await Promise.all(images.map((image) => image.decode()));
    window.print();
  } finally {
    paper.remove();
    for (const image of images) URL.revokeObjectURL(image.src);
  }
  return undefined;
}

async function drawnPage(page) {
  const viewport = page.getViewport({ scale: DPI / 72 });
  const canvas = h("canvas", { width: Math.floor(viewport.width), height: Math.floor(viewport.height) });
  await page.render({ canvas, viewport, intent: "print" }).promise;
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  canvas.width = 0; // Frees its memory at once.
  return h("img", { src: URL.createObjectURL(blob), alt: "" });
}
