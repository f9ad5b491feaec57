// Files dropped or pasted on a page that has no place for them: they become documents of the personal workspace.
import { h, toast } from "./dom.js";
import { filesOf, sendFile } from "./dropped-files.js";
import { t, tPlural } from "./texts.js";

export async function sendAnywhere(transfer) {
  const files = await filesOf(transfer);
  if (!files.length) return;
  const note = toast(tPlural("Adding {count} file to your own documents …", "Adding {count} files to your own documents …", { count: files.length }), { ms: 3_600_000 });
  let added = 0;
  for (const one of files) {
    try {
      added += (await sendFile(one)).length;
    } catch (error) {
      toast(`${one.file.name}: ${error.message}`, { error: true });
    }
  }
  note.remove();
  if (!added) return;
  const done = toast(tPlural("{count} document added.", "{count} documents added.", { count: added }), { ms: 10_000 });
  done.querySelector("p").append(" ", h("a", { href: "/documents/" }, t("See documents")));
}
