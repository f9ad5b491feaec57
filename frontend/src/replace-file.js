// Another file in place of one that can't be read: the document, its name in answers and its address stay.
import { upload } from "./api.js";
import { confirm } from "./confirm.js";
import { h, icon } from "./dom.js";
import { t } from "./texts.js";

/** A button that lets the reader choose a file and calls `onChosen(file)`. */
export const replaceButton = (document, onChosen) => h("label", { class: "button button-small button-quiet upload-button" }, icon("upload"), t("Replace file…"), inputFor(document, onChosen));

/** The same as a symbol. */
export const replaceIcon = (document, onChosen) => h("label", { class: "icon-button upload-button", title: t("Replace the file of {name}", { name: document.name }) }, icon("upload"), inputFor(document, onChosen));

function inputFor({ name }, onChosen) {
  const input = h("input", { class: "visually-hidden", type: "file", "aria-label": t("Replace the file of {name}", { name }), "data-action": "replace" });
  input.addEventListener("change", () => input.files.length && onChosen(input.files[0]));
  return input;
}

/** Send the file; returns the document as it is now, queued to be read. */
export function replaceFile({ id }, file) {
  const form = new FormData();
  form.append("file", file);
  return upload(`/documents/${id}/file`, form, () => {}, "PUT");
}

/** Let the reader choose a file, and say what becomes of the old one; resolves to the file, or to null. */
export function chooseReplacement({ name }) {
  const input = h("input", { type: "file" });
  return new Promise((resolve) => {
    input.addEventListener("cancel", () => resolve(null));
    input.addEventListener("change", async () => {
      const [file] = input.files;
      const agreed = await confirm({
        title: t("Replace “{name}”?", { name }),
        text: t("“{file}” takes its place and is read. The old file goes for good. Earlier answers keep their quotes, which say that they are from an earlier version.", { file: file.name }),
        action: t("Replace"),
      });
      resolve(agreed ? file : null);
    });
    input.click();
  });
}
