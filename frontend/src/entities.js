// In the place of the package “entities” in the bundle: the browser knows the names of characters, so that its table of
// 20 kB is not sent. Markdown-it gives it one name at a time, as `&auml;`.

/** The character of a name, or the name itself if there is none. The content of a text area is text, never elements. */
export function decodeHTMLStrict(name) {
  const box = document.createElement("textarea");
  box.innerHTML = name;
  // Of a name that only begins like one that HTML knows without its semicolon, as in `&notice;`, the rest would remain.
  return box.value.endsWith(";") && name !== "&semi;" ? name : box.value;
}
