// Text to the clipboard, with a word on how it went.
import { toast } from "./dom.js";
import { t } from "./texts.js";

export async function copyText(text, done = t("Copied.")) {
  try {
    await navigator.clipboard.writeText(text);
    toast(done);
  } catch {
    // Browsers give the clipboard to secure pages only.
    toast(copyByCommand(text) ? done : t("This browser doesn’t let the page copy. Select the text and press Ctrl+C."));
  }
}

/** The old way, which pages without TLS still have. */
function copyByCommand(text) {
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "visually-hidden";
  document.body.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  focused?.focus({ preventScroll: true });
  return isDone;
}
