// A page of the web as a citation and as a source of an answer: it leads to the page, in a tab of its own.
import { h, icon } from "./dom.js";
import { excerptOf, hostOf, linkOf } from "./web-answer.js";
import { t } from "./texts.js";

const NEW_TAB = ` ${t("(opens in a new tab)")}`;

/** The one way out of an answer: to a page that was searched, wherever the text would like to lead. */
export function outside(url, attributes, ...children) {
  const href = linkOf(url);
  if (!href) return h("span", attributes, ...children);
  return h("a", { ...attributes, href, target: "_blank", rel: "noopener noreferrer nofollow" }, ...children);
}

/** Replace the button of a citation by a link to its page. */
export function dressPage(chip, number, page) {
  const { letter, rank } = chip.dataset;
  const words = page ? t("Source {number}, {title}, {host}", { number, title: page.title, host: hostOf(page.url) }) + NEW_TAB : t("Source {number}", { number });
  const link = outside(page?.url, { class: "cite", "data-letter": letter, "data-rank": rank }, h("span", { "aria-hidden": "true" }, String(number)), hidden(words));
  chip.replaceWith(link);
}

const hidden = (words) => h("span", { class: "visually-hidden" }, words);

/** An entry of the list of sources; `badge` shows its number. */
export function pageItem({ source }, badge) {
  const name = outside(source.url, { class: "source-name" }, source.title, hidden(NEW_TAB));
  const title = h("span", { class: "source-title" }, name, " ", h("span", { class: "source-place" }, hostOf(source.url), icon("external-link")));
  return h("li", { class: "source source-web" }, badge, h("span", { class: "source-body" }, title, h("span", { class: "source-preview" }, excerptNodes(source))));
}

/** A page's snippet, what was quoted of it marked. */
export function excerptNodes(source) {
  const [before, quoted, after] = excerptOf(source);
  return [before, quoted ? h("mark", { class: "marked" }, quoted) : null, after];
}
