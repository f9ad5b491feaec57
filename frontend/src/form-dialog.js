// A form in a dialog: it opens empty, says what is wrong beside the buttons, and closes when its work is done.

/** `send(form)` may throw an error with a `message`; it resolves to whether the dialog closes. */
export function startFormDialog(dialog, opener, send) {
  const form = dialog.querySelector("form");
  const error = form.querySelector(".field-error");
  opener.addEventListener("click", () => {
    form.reset();
    form.dispatchEvent(new Event("change"));
    error.hidden = true;
    dialog.showModal();
  });
  dialog.querySelector("[data-cancel], [data-part=cancel]").addEventListener("click", () => dialog.close());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    error.hidden = true;
    try {
      if (await send(form)) dialog.close();
    } catch ({ message }) {
      error.textContent = message;
      error.hidden = false;
    }
  });
}
