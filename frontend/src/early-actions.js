// What somebody does before the scripts of a page have run: kept, and carried out then, instead of being lost.

/** Links, `<summary>` and fields need no script; these buttons do nothing without one. Of text areas, those that say what
 * Enter does (`enterkeyhint`) send their form by it. */
const WAITS = "button[type=button]";

/** Keep early actions until the document is parsed and its scripts have run. Call it before the body is parsed. */
export function keepEarlyActions() {
  const actions = new Map();
  const changed = new Map();
  const keep = (event, key, action) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    // Who clicks three times because nothing happens means one click.
    if (!actions.has(key)) actions.set(key, action);
    document.documentElement.toggleAttribute("data-waiting", true);
  };
  const listeners = {
    click: (event) => {
      const button = event.target.closest(WAITS);
      if (button) keep(event, button, () => button.click());
    },
    submit: (event) => {
      const { target: form, submitter } = event;
      keep(event, form, () => form.requestSubmit(submitter));
    },
    keydown: (event) => {
      const { localName, form, enterKeyHint } = event.target;
      if (localName !== "textarea" || !enterKeyHint) return;
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) keep(event, form, () => form.requestSubmit());
    },
    input: ({ target }) => changed.set(target, contentOf(target)),
    change: ({ target }) => changed.set(target, contentOf(target)),
  };
  for (const [type, listener] of Object.entries(listeners)) document.addEventListener(type, listener, true);
  document.addEventListener("DOMContentLoaded", () => {
    for (const [type, listener] of Object.entries(listeners)) document.removeEventListener(type, listener, true);
    document.documentElement.toggleAttribute("data-waiting", false);
    for (const [field, content] of changed) {
      // A script that begins with its own idea of a field has not seen what was typed.
      Object.assign(field, content);
      for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
    }
    for (const act of actions.values()) act();
  });
}

/** What somebody put into a field; of files nothing has to be kept. */
function contentOf({ type, checked, value }) {
  if (type === "file") return {};
  return ["checkbox", "radio"].includes(type) ? { checked } : { value };
}
