// The worker of the installed app: it receives what another app shares, and lets all other requests pass.
import { putShared } from "./share-inbox.js";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "POST" && new URL(url).pathname === "/share") event.respondWith(receive(event.request));
});

/** Any site can send such a form, so nothing is added by it: the page asks first. */
async function receive(request) {
  await putShared(await request.formData()).catch(() => {});
  return Response.redirect("/documents/?shared", 303);
}
