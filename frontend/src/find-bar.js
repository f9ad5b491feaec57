// The search inside a document: a field, how many matches there are, and the way from one to the next.

const TYPING_MS = 200;

/** Start the bar of a viewer; `findOf()` returns the `find` of its view. */
export function startFind(parts, findOf) {
  const { findBar, findField, findCount, findBack, findOn, findClose, findOpen, stage } = parts;
  let typing = 0;

  const search = (options) => {
    clearTimeout(typing);
    findOf()?.search(findField.value, options);
  };

  function open() {
    findBar.hidden = false;
    findOpen.setAttribute("aria-expanded", "true");
    findField.focus();
    findField.select();
    if (findField.value) search();
  }

  /** Close the bar; returns whether it was open. */
  function close() {
    if (findBar.hidden) return false;
    clearTimeout(typing);
    const hadFocus = findBar.contains(document.activeElement);
    findBar.hidden = true;
    findOpen.setAttribute("aria-expanded", "false");
    findCount.textContent = "";
    findOf()?.close();
    if (hadFocus) stage.focus({ preventScroll: true });
    return true;
  }

  findOpen.addEventListener("click", () => (findBar.hidden ? open() : close()));
  findClose.addEventListener("click", close);
  findOn.addEventListener("click", () => search({ again: true }));
  findBack.addEventListener("click", () => search({ again: true, back: true }));
  findField.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(search, TYPING_MS);
  });
  findField.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    search({ again: true, back: event.shiftKey });
  });
  return { open, close };
}
