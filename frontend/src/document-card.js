// One document as a card with a picture of its first page.
import { statusOf } from "./activity.js";
import { chooseBox, kindOf, progressOf } from "./document-row.js";
import { h } from "./dom.js";
import { since } from "./since.js";
import { lengthOf } from "./units.js";

const WIDTH = 320;
const DRAWN = new Set(["ready", "partial", "indexing"]);

export function cardOf(document, workspace, actions) {
  const { id, name } = document;
  const { words, tone, busy } = statusOf(document);
  const length = lengthOf(document);
  return h(
    "article",
    { class: "card", "data-document": id, "aria-label": name },
    chooseBox(document, workspace, actions),
    h("a", { class: "card-picture", href: `/documents/${id}`, tabindex: -1, "aria-hidden": "true" }, pictureOf(document)),
    h("h2", { class: "card-name" }, h("a", { href: `/documents/${id}`, "data-action": "open" }, name)),
    h("p", { class: "card-facts" }, h("span", { class: `status status-${tone}` }, words), length ? h("span", {}, length) : null, since(document.created_at)),
    busy ? progressOf(document) : null,
  );
}

function pictureOf(document) {
  const badge = h("span", { class: "card-kind" }, kindOf(document).slice(0, 5));
  if (!hasPages(document)) return badge;
  const image = h("img", { src: `/api/v1/documents/${document.id}/pages/1?width=${WIDTH}`, alt: "", loading: "lazy", decoding: "async", width: WIDTH });
  image.addEventListener("error", () => image.replaceWith(badge));
  return image;
}

const hasPages = ({ mime_type: mime, page_count: pages, status }) => Boolean(pages) && DRAWN.has(status) && (mime === "application/pdf" || Boolean(mime?.startsWith("image/")));
