// Another file in place of one that can't be read: the document, its name in answers and its address stay.
import { upload } from "./api.js";
import { h, icon } from "./dom.js";

/** A button that lets the reader choose a file and calls `onChosen(file)`. */
export function replaceButton({ name }, onChosen) {
  const input = h("input", { class: "visually-hidden", type: "file", "aria-label": `Replace the file of ${name}`, "data-action": "replace" });
  input.addEventListener("change", () => input.files.length && onChosen(input.files[0]));
  return h("label", { class: "button button-small button-quiet upload-button" }, icon("upload"), "Replace file…", input);
}

/** Send the file; returns the document as it is now, queued to be read. */
export function replaceFile({ id }, file) {
  const form = new FormData();
  form.append("file", file);
  return upload(`/documents/${id}/file`, form, () => {}, "PUT");
}
