import { t } from "./texts.js";
/** A button that copies the text of another element. */
export function startCopy(button, source) {
  const words = button.querySelector("span");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      words.textContent = t("Copied");
      setTimeout(() => (words.textContent = t("Copy")), 2000);
    } catch {
      // Browsers give the clipboard to secure pages only: select it, so that the reader can copy.
      getSelection().selectAllChildren(source);
      words.textContent = t("Press Ctrl+C");
    }
  });
}
