// The workspaces of the list of documents: which are shown, where an upload goes, and what the reader may do there.
import { get } from "./api.js";
import { mayEdit, readOnlyWords, targetsOf } from "./move.js";

export class ListedWorkspaces {
  #parts;
  #chosen;
  #all = new Map();

  /** `chosen()` returns the id of the only one that is shown, or "". */
  constructor(parts, chosen) {
    this.#parts = parts;
    this.#chosen = chosen;
  }

  get byId() {
    return this.#all;
  }

  get editable() {
    return [...this.#all.values()].filter(mayEdit);
  }

  get watched() {
    return this.#chosen() ? [this.#chosen()] : [...this.#all.keys()];
  }

  async load() {
    const { results } = await get("/workspaces", { limit: 200 });
    const { workspace, workspaceField, uploadWorkspace } = this.#parts;
    this.#all = new Map(results.map((one) => [one.id, one]));
    // An option that the address has brought has no name yet.
    workspace.replaceChildren(workspace.options[0], ...results.map(({ id, name }) => new Option(name, id)));
    workspace.value = this.#all.has(this.#chosen()) ? this.#chosen() : "";
    const writable = results.filter(mayEdit);
    uploadWorkspace.append(...writable.map(({ id, name }) => new Option(name, id)));
    uploadWorkspace.value = (writable.find((one) => one.personal) ?? writable[0])?.id ?? "";
    this.suitRole();
    workspaceField.hidden = results.length < 2;
  }

  /** Those to which a document can move. */
  targetsOf(document) {
    return targetsOf(document, this.#all);
  }

  /** Where an upload goes: into that of a collection, or the one that is shown, else where the reader says; null without
   * the role. */
  uploadTarget(collection) {
    const shown = this.#all.get(collection?.workspace_id ?? this.#chosen());
    return shown ? (mayEdit(shown) ? shown : null) : this.#all.get(this.#parts.uploadWorkspace.value);
  }

  /** Offer only what the role in the chosen workspace allows, and say where an upload goes. */
  suitRole() {
    const { adding, emptyHelp, filters, readOnly, uploadTarget, uploadWorkspace } = this.#parts;
    const shown = this.#all.get(filters.elements.workspace.value);
    const refused = Boolean(shown) && !mayEdit(shown);
    adding.hidden = refused;
    readOnly.hidden = !refused;
    emptyHelp.hidden = refused;
    if (refused) readOnly.textContent = readOnlyWords(shown);
    if (shown && !refused) uploadWorkspace.value = shown.id;
    uploadWorkspace.disabled = Boolean(shown);
    uploadTarget.hidden = this.#all.size < 2;
  }
}
