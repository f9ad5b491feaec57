// Locus installed as an app has a worker, which receives what other apps share. A tab of the browser needs none.
export function startInstalledApp() {
  const register = () => navigator.serviceWorker?.register("/service-worker.js").catch(() => {});
  if (matchMedia("(display-mode: standalone)").matches) register();
  window.addEventListener("appinstalled", register);
}
