/** Ask before something that can't be undone; resolves to whether the reader agreed. */
export function confirm({ title, text, action }) {
  const dialog = document.querySelector("[data-confirm]");
  dialog.querySelector("h2").textContent = title;
  dialog.querySelector("[data-confirm-text]").textContent = text;
  dialog.querySelector("[data-confirm-action]").textContent = action;
  dialog.returnValue = "cancel";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "confirm"), { once: true });
  });
}
