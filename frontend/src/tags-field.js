// A document's tags: chips that can be taken off, and a field for one more.
import { h, icon } from "./dom.js";
import { t } from "./texts.js";

/** `onChange(tags)` is called with all tags when one is added or removed; null for readers who may not. */
export function tagsField(tags, onChange) {
  const chips = tags.map((tag) => chip(tag, onChange && (() => onChange(tags.filter((one) => one !== tag)))));
  const list = h("ul", { class: "tags", "aria-label": t("Tags") }, chips);
  if (!onChange) return tags.length ? list : h("p", { class: "details-none" }, t("No tags"));
  const input = h("input", { type: "text", maxlength: 100, placeholder: t("Add a tag"), "aria-label": t("Add a tag"), autocomplete: "off", "data-action": "tag" });
  const add = (event) => {
    event.preventDefault();
    const given = input.value.split(",").map((tag) => tag.trim()).filter(Boolean);
    if (given.length) onChange([...new Set([...tags, ...given])]);
  };
  return h("div", { class: "tags-field" }, tags.length ? list : null, h("form", { class: "tags-form", onsubmit: add }, input, h("button", { class: "button button-small", type: "submit" }, t("Add"))));
}

function chip(tag, onRemove) {
  const remove = onRemove && h("button", { class: "tag-remove", type: "button", "aria-label": t("Remove the tag {tag}", { tag }), onclick: onRemove }, icon("x"));
  return h("li", { class: "tag" }, h("span", {}, tag), remove || null);
}
