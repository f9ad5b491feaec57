// The news of one document, while it is being worked on.

/**
 * Call `onUpdate(document)` with every state until the document is finished, `onGone()` if it can't be seen any more;
 * return a function that stops it.
 */
export function followDocument(id, { onUpdate, onGone }, Source = EventSource) {
  const source = new Source(`/api/v1/documents/${id}/events`);
  let joined = new Slices();
  const dispatch = ({ event, data }) => {
    if (event === "document_update") onUpdate(data);
    if (event !== "document_end") return;
    source.close();
    if (data.status === null) onGone();
  };
  for (const name of ["document_update", "document_end"]) source.addEventListener(name, ({ data }) => dispatch(JSON.parse(data)));
  source.addEventListener("_delta_sse", ({ data }) => {
    const whole = joined.add(JSON.parse(data).data);
    if (whole) dispatch(JSON.parse(whole));
  });
  source.onerror = () => {
    // A dropped connection is opened again by itself; what it missed of a group is sent anew.
    joined = new Slices();
  };
  return () => source.close();
}

/** The slices of an event that is larger than a frame. */
class Slices {
  #id = null;
  #chunks = [];

  add({ delta_id: id, index, total, chunk }) {
    if (id !== this.#id) [this.#id, this.#chunks] = [id, []];
    this.#chunks[index] = chunk;
    return this.#chunks.filter((one) => one !== undefined).length === total ? this.#chunks.join("") : null;
  }
}
