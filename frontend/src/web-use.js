// What a workspace spends: the server draws it, and here another workspace is chosen.
import { parts } from "./dom.js";

export function startWebUse(page) {
  const { workspace } = parts(page);
  workspace?.addEventListener("change", () => location.assign(workspace.value + location.search));
}
