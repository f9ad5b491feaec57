// A person's own pages: theme, passkeys, recovery codes.
import { parts } from "./dom.js";
import { canUsePasskeys } from "./passkeys.js";
import { setTheme } from "./theme-choice.js";
import { t } from "./texts.js";

/** Show the theme that is about to be saved, also in this browser when nobody is logged in. */
export function startProfile(form) {
  form.elements.theme.addEventListener("change", () => setTheme(form.elements.theme.value));
}

export function startSecurity(page) {
  const { addPasskey, noPasskeys } = parts(page);
  addPasskey.hidden = !canUsePasskeys();
  noPasskeys.hidden = canUsePasskeys();
}

export function startRecoveryCodes(page) {
  const { codes, copy, download } = parts(page);
  if (!codes) return;
  const text = [...codes.children].map((code) => `${code.textContent}\n`).join("");
  copy.addEventListener("click", async () => {
    await navigator.clipboard?.writeText(text);
    copy.querySelector("span").textContent = t("Copied");
  });
  download.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    link.download = "locus-recovery-codes.txt";
    link.click();
    URL.revokeObjectURL(link.href);
  });
}
