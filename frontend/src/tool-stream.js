// One run of a tool over its websocket. A dropped connection is taken up where it broke.
import { t } from "./texts.js";

const WAITS = [300, 1000, 2000, 4000, 8000, 8000, 8000];
const CLOSED_FOR_GOOD = {
  4401: { code: "unauthenticated", message: t("You are logged out. Log in again, then ask once more.") },
  4403: { code: "forbidden", message: t("This page’s address is not one the server accepts connections from.") },
  4404: { code: "not_found", message: t("This execution doesn’t exist any more.") },
};
const LOST = { code: "connection_lost", message: t("The connection to the server was lost. Try again in a moment.") };

export const backoff = (attempt) => WAITS[Math.min(attempt, WAITS.length - 1)];

export function toolUrl(name) {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/tools/${name}`;
}

export const sessionUrl = (id) => toolUrl("").replace(/tools\/$/, `sessions/${id}`);

export class ToolStream {
  #url;
  #handlers;
  #Socket;
  #socket = null;
  #first = null;
  #executionId = null;
  #seq = 0;
  #attempt = 0;
  #waiting = null;
  #sent = false;
  #over = false;
  #cancelled = false;

  /** `handlers`: onEvent(message), onInterrupted(), onResumed(). Failures arrive as `error` events too. */
  constructor(url, handlers, Socket = WebSocket) {
    this.#url = url;
    this.#handlers = handlers;
    this.#Socket = Socket;
  }

  run(inputs) {
    this.start({ type: "run", inputs });
  }

  /** Begin with a message of the reader's. */
  start(message) {
    this.#first = message;
    this.#connect();
  }

  resume(executionId, after = 0) {
    this.#executionId = executionId;
    this.#seq = after;
    this.#connect();
  }

  cancel() {
    this.#cancelled = true;
    this.#send(this.#cancelMessage());
  }

  /** The network is back: don't wait any longer. */
  wake() {
    if (this.#waiting === null) return;
    clearTimeout(this.#waiting);
    this.#reconnect();
  }

  close() {
    this.#over = true;
    this.#socket?.close();
  }

  #connect() {
    this.#socket = new this.#Socket(this.#url);
    this.#socket.onopen = () => this.#opened();
    this.#socket.onmessage = ({ data }) => this.#received(JSON.parse(data));
    this.#socket.onclose = ({ code }) => this.#closed(code);
  }

  #opened() {
    if (this.#executionId) this.#send({ type: "resume", execution_id: this.#executionId, after: this.#seq });
    else this.#send(this.#first);
    this.#sent = true;
    if (this.#cancelled) this.#send(this.#cancelMessage());
  }

  #cancelMessage() {
    return this.#executionId ? { type: "cancel", execution_id: this.#executionId } : { type: "cancel" };
  }

  #send(message) {
    if (this.#socket?.readyState === 1) this.#socket.send(JSON.stringify(message));
  }

  #received(message) {
    if (this.#over) return;
    if (this.#attempt) this.#handlers.onResumed?.();
    this.#attempt = 0;
    this.#executionId = message.execution_id ?? this.#executionId;
    this.#seq = Math.max(this.#seq, message.seq ?? 0);
    this.#over = message.event === "tool_end" || message.event === "error";
    this.#handlers.onEvent(message);
    if (this.#over) this.#socket.close();
  }

  #closed(code) {
    if (this.#over) return;
    if (CLOSED_FOR_GOOD[code]) return this.#fail(CLOSED_FOR_GOOD[code]);
    // A question that was sent but not acknowledged may be running: asking again would run it twice.
    const unknown = this.#sent && !this.#executionId;
    if (unknown || this.#attempt >= WAITS.length) return this.#fail(LOST);
    this.#handlers.onInterrupted?.();
    this.#waiting = setTimeout(() => this.#reconnect(), backoff(this.#attempt));
    this.#attempt += 1;
  }

  #reconnect() {
    this.#waiting = null;
    if (!this.#over) this.#connect();
  }

  #fail(data) {
    this.#over = true;
    this.#handlers.onEvent({ event: "error", data });
  }
}
