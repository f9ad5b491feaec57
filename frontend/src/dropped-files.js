// What somebody drops or pastes: files, and folders with all that is in them; and how one of them is sent.
import { upload } from "./api.js";

const MOST = 2000;
const HIDDEN = /^(\.|Thumbs\.db$|desktop\.ini$)/;
const LONGEST_TAG = 100;

/** Resolve to `[{file, folder}]`; `folder` is the path of the folder that was dropped, or "". Call it within the event. */
export async function filesOf(transfer) {
  const entries = [...(transfer.items ?? [])].filter(({ kind }) => kind === "file").map((item) => item.webkitGetAsEntry?.());
  const plain = [...transfer.files].map((file) => ({ file, folder: "" }));
  if (!entries.some((entry) => entry?.isDirectory)) return plain;
  const found = [];
  for (const entry of entries.filter(Boolean)) await collect(entry, "", found);
  return found;
}

async function collect(entry, folder, found) {
  if (HIDDEN.test(entry.name) || found.length >= MOST) return;
  if (entry.isFile) {
    found.push({ file: await new Promise((resolve, reject) => entry.file(resolve, reject)), folder });
    return;
  }
  const path = folder ? `${folder}/${entry.name}` : entry.name;
  const reader = entry.createReader();
  // A folder is read in parts, the last of which is empty.
  for (;;) {
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!part.length) return;
    for (const inner of part) await collect(inner, path, found);
  }
}

/** Send one file to a `place`, the fields of an upload; its folder becomes a tag, and a zip archive is unpacked. Resolves to the documents. */
export async function sendFile({ file, folder }, place = {}, onProgress = () => {}, password = "") {
  const form = new FormData();
  for (const [name, id] of Object.entries(place)) form.append(name, id);
  // A comma would make two tags of it.
  if (folder) form.append("tags", folder.replaceAll(",", " ").slice(-LONGEST_TAG));
  if (/\.zip$/i.test(file.name)) form.append("unpack", "true");
  if (password) form.append("password", password);
  form.append("files", file);
  return (await upload("/documents", form, onProgress)).documents;
}
