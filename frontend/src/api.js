import { t, translated } from "./texts.js";
const BASE = "/api/v1";

/** What the API answers when it can’t do something: `code` for programs, `message` for people. */
export class ApiError extends Error {
  constructor(status, { code, message, param } = {}) {
    super(translated(message) ?? t("The server answered with an error ({status}). Try again.", { status }));
    this.status = status;
    this.code = code ?? "unknown";
    this.param = param ?? null;
  }
}

const OFFLINE = { code: "offline", message: t("The server can’t be reached. Check your connection and try again.") };

export const get = (path, query) => request("GET", withQuery(path, query));
export const post = (path, body) => request("POST", path, body);
export const put = (path, body) => request("PUT", path, body);
export const patch = (path, body, how) => request("PATCH", path, body, how);
export const del = (path) => request("DELETE", path);

export function withQuery(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const search = new URLSearchParams(given).toString();
  return search ? `${path}?${search}` : path;
}

/** `how` is further options of fetch. */
export async function request(method, path, body, how) {
  const response = await fetch(absolute(path), {
    ...how,
    method,
    headers: { Accept: "application/json", ...headersFor(method, body) },
    body: body === undefined ? undefined : JSON.stringify(body),
  }).catch(() => {
    throw new ApiError(0, OFFLINE);
  });
  return settle(response.status, await response.text());
}

/** Lists name their next page as a whole URL. */
function absolute(path) {
  return path.startsWith("http") ? new URL(path).pathname + new URL(path).search : BASE + path;
}

function headersFor(method, body) {
  const headers = {};
  if (method !== "GET") headers["X-CSRFToken"] = csrfToken();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  return headers;
}

function csrfToken() {
  return document.querySelector("[name=csrfmiddlewaretoken]").value;
}

function settle(status, text) {
  if (status === 401) return leaveForLogin();
  const body = parsed(text);
  if (status >= 200 && status < 300) return body;
  throw new ApiError(status, body?.error);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The session is over: log in, come back here. The promise never settles, so nothing flashes meanwhile. */
export function leaveForLogin() {
  location.assign(`/accounts/login/?ended=1&next=${encodeURIComponent(location.pathname + location.search)}`);
  return new Promise(() => {});
}

/** Send a form with files; fetch can’t tell how much has gone out, XMLHttpRequest can. */
export function upload(path, form, onProgress, method = "POST") {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    xhr.open(method, BASE + path);
    xhr.setRequestHeader("X-CSRFToken", csrfToken());
    xhr.setRequestHeader("Accept", "application/json");
    xhr.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total);
    });
    xhr.addEventListener("error", () => reject(new ApiError(0, OFFLINE)));
    xhr.addEventListener("load", () => {
      try {
        resolve(settle(xhr.status, xhr.responseText));
      } catch (error) {
        reject(error);
      }
    });
    xhr.send(form);
  });
}
