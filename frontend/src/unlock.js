// Ask for the password of a protected file, until it fits or the reader gives up.
import { t } from "./texts.js";

/** `send(password)` opens the file and may throw; resolves to what it returned, or to null if the reader gave up. */
export function askPassword(name, send) {
  const dialog = document.querySelector("[data-unlock]");
  const form = dialog.querySelector("form");
  const { password } = form.elements;
  const error = dialog.querySelector(".field-error");
  const submit = form.querySelector("[type=submit]");
  let result = null;
  dialog.querySelector("h2").textContent = t("Unlock “{name}”", { name });
  form.reset();
  show("");
  form.onsubmit = async (event) => {
    event.preventDefault();
    submit.disabled = true;
    try {
      result = await send(password.value);
      dialog.close();
    } catch ({ message }) {
      show(message);
      password.select();
    } finally {
      submit.disabled = false;
    }
  };
  password.oninput = () => show("");
  dialog.querySelector("[data-unlock-cancel]").onclick = () => dialog.close();
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener(
      "close",
      () => {
        form.reset();
        resolve(result);
      },
      { once: true },
    );
  });

  function show(message) {
    error.textContent = message;
    error.hidden = !message;
    password.setAttribute("aria-invalid", String(Boolean(message)));
  }
}
