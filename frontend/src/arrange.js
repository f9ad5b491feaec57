// The order of the list: what is attached to a document stands right under it.

/** Return `[{document, depth}]`; an attachment whose document is not in the list stays where it is. */
export function arranged(documents) {
  const here = new Set(documents.map(({ id }) => id));
  const attached = new Map([[null, []]]);
  for (const document of documents) {
    const to = here.has(document.attached_to) ? document.attached_to : null;
    attached.set(to, [...(attached.get(to) ?? []), document]);
  }
  const below = (id, depth) => (attached.get(id) ?? []).flatMap((document) => [{ document, depth }, ...below(document.id, depth + 1)]);
  return below(null, 0);
}
