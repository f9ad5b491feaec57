// Passkeys: the browser's dialogue, between a form and what the server wants to know (WebAuthn).
import { t } from "./texts.js";
const IMPOSSIBLE = t("This browser can’t use passkeys here. They need HTTPS and a host name.");
const REFUSED = t("The passkey was not used. Try again, or log in another way.");

/** Whether this page may use passkeys, and the browser can. */
export const canUsePasskeys = () => Boolean(globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON && isSecureContext);

/** Forms that send what a passkey says: to log in, to prove who one is, or to add one. */
export function startPasskeys(forms) {
  for (const form of forms) {
    // On the page of the login, who has no passkey should not see it.
    form.hidden = form.hidden && !canUsePasskeys();
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      send(form);
    });
  }
}

async function send(form) {
  showError(form, "");
  if (!canUsePasskeys()) return showError(form, IMPOSSIBLE);
  const button = form.querySelector("[type=submit]");
  button.disabled = true;
  try {
    const credential = await askBrowser(form);
    form.elements.credential.value = JSON.stringify(credential);
    form.submit();
  } catch (error) {
    // An expected error: the dialogue was closed, or no passkey fits.
    if (!(error instanceof DOMException)) console.warn(error);
    showError(form, REFUSED);
    button.disabled = false;
  }
}

async function askBrowser(form) {
  const mode = form.dataset.passkey;
  const options = JSON.parse(form.dataset.options ?? "{}");
  if (mode === "create") return navigator.credentials.create(creation(options.creation_options.publicKey));
  const { request_options: wanted } = mode === "login" ? await optionsOfLogin(form.action) : options;
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(wanted.publicKey) });
}

/** A passkey that can log in by itself: kept by the device, which checks who uses it. */
function creation(publicKey) {
  const wanted = { residentKey: "required", requireResidentKey: true, userVerification: "required" };
  const authenticatorSelection = { ...publicKey.authenticatorSelection, ...wanted };
  return { publicKey: PublicKeyCredential.parseCreationOptionsFromJSON({ ...publicKey, authenticatorSelection }) };
}

async function optionsOfLogin(address) {
  const reply = await fetch(address, { headers: { Accept: "application/json", "X-Requested-With": "XMLHttpRequest" } });
  if (!reply.ok) throw new DOMException("options", "NotAllowedError");
  return reply.json();
}

function showError(form, message) {
  const error = form.querySelector("[data-passkey-error]");
  error.textContent = message;
  error.hidden = !message;
}
