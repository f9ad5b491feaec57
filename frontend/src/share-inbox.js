// What another app has shared with the installed one, between the worker that receives it and the page that adds it. It
// stays in this browser until somebody says where it goes.
const NAME = "shared";
const LIST = "/share/list";
/** More files than this at once are no share of somebody's. */
const MOST_FILES = 100;

/** Keep what a form of the manifest's `share_target` holds; what was shared before and not added is gone. */
export async function putShared(form) {
  await forgetShared();
  const cache = await caches.open(NAME);
  const files = form.getAll("files").filter((file) => file instanceof File).slice(0, MOST_FILES);
  for (const [index, file] of files.entries()) await cache.put(`/share/${index}`, new Response(file));
  const [title, text, url] = ["title", "text", "url"].map((name) => form.get(name) ?? "");
  const list = { title, text, url, files: files.map(({ name, type }) => ({ name, type })) };
  await cache.put(LIST, Response.json(list));
}

/** What was shared: `{title, text, url, files}` with `File`s, or null. */
export async function readShared() {
  const cache = await caches.open(NAME);
  const list = await (await cache.match(LIST))?.json();
  if (!list) return null;
  const contents = await Promise.all(list.files.map(async (_, index) => (await cache.match(`/share/${index}`)).blob()));
  return { ...list, files: list.files.map(({ name, type }, index) => new File([contents[index]], name, { type })) };
}

export const forgetShared = () => caches.delete(NAME);
