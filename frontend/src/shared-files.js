// Files, addresses and text that another app has shared: listed, and added where the reader says.
import { h, icon, toast } from "./dom.js";
import { bytes } from "./format.js";
import { forgetShared, readShared } from "./share-inbox.js";
import { t } from "./texts.js";
import { addressesIn } from "./web-pages.js";

/** Ask what becomes of it. `offers` are workspaces, `chosen` the id of one; `onAdd({files, addresses}, workspaceId)` adds it. */
export async function offerShared({ sharedDialog: dialog, sharedList, sharedWorkspace }, offers, chosen, onAdd) {
  const shared = (await readShared().catch(() => null)) ?? { files: [] };
  const { files, addresses } = contentOf(shared);
  if (!files.length && !addresses.length) {
    toast(t("Nothing has arrived. Open Locus as an app once, then share it again."), { error: true });
    return;
  }
  sharedList.replaceChildren(
    ...files.map((file) => h("li", {}, icon("files"), h("span", { class: "shared-name" }, file.name), h("span", { class: "shared-size" }, bytes(file.size)))),
    ...addresses.map((address) => h("li", {}, icon("globe"), h("span", { class: "shared-name" }, address))),
  );
  sharedWorkspace.replaceChildren(...offers.map(({ id, name }) => new Option(name, id)));
  sharedWorkspace.value = chosen;
  dialog.returnValue = "";
  dialog.addEventListener(
    "close",
    async () => {
      await forgetShared();
      if (dialog.returnValue === "add") onAdd({ files, addresses }, sharedWorkspace.value);
    },
    { once: true },
  );
  dialog.showModal();
}

/** What is added: files, and addresses of pages; text without an address is a file, too. Apps put a title or a quote
 * before an address. */
export function contentOf({ files, title = "", text = "", url = "" }) {
  const found = [url, text, title].map(addressesOf).find((addresses) => addresses.length) ?? [];
  const isText = !found.length && text.trim();
  const name = title.trim().replace(/[/\\]/g, " ").slice(0, 100) || t("Shared text");
  return { files: isText ? [...files, new File([text], `${name}.txt`, { type: "text/plain" })] : files, addresses: found };
}

const addressesOf = (text) => addressesIn((text.match(/https?:\/\/\S+/gi) ?? []).join("\n")).addresses;
