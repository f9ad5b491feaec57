// What the widget asks of the server, with tokens that the site's own server makes.
const EARLY_MS = 30_000;

export class Refused extends Error {
  constructor(status) {
    super(`HTTP ${status}`);
    this.status = status;
  }
}

/** `tokenUrl` is of the site itself; `session` remembers the conversation, for as long as the tab is open. */
export function connect({ server, binding, tokenUrl, session }) {
  const base = `${server}/widgets/${encodeURIComponent(binding)}`;
  let token = "";
  let ends = 0;
  let conversation = "";

  async function mint(sessionId) {
    const body = JSON.stringify(sessionId ? { session_id: sessionId } : {});
    const reply = await fetch(tokenUrl, { method: "POST", headers: { "Content-Type": "application/json" }, credentials: "same-origin", body });
    if (!reply.ok) throw new Refused(reply.status);
    return reply.json();
  }

  /** A conversation that is gone is not gone on with. */
  async function renew() {
    const known = session.get();
    const made = await mint(known).catch((error) => {
      if (!known || !(error instanceof Refused)) throw error;
      session.set("");
      return mint("");
    });
    token = made.token;
    ends = Date.parse(made.expires_at);
    conversation = made.session_id ?? "";
  }

  async function ask(path, body, isSecond = false) {
    if (Date.now() > ends - EARLY_MS) await renew();
    const headers = { Authorization: ["bearer", token].join(" "), ...(body ? { "Content-Type": "application/json" } : {}) };
    const reply = await fetch(base + path, { method: body ? "POST" : "GET", headers, credentials: "omit", referrerPolicy: "no-referrer", body: body && JSON.stringify(body) });
    if (reply.status === 401 && !isSecond) {
      ends = 0;
      return ask(path, body, true);
    }
    if (!reply.ok) throw new Refused(reply.status);
    return reply;
  }

  return {
    config: async () => (await ask("")).json(),
    messages: async () => (await (await ask("/messages")).json()).results,
    place: async (chunk) => (await ask(`/places/${chunk}`)).json(),
    page: async (chunk) => (await ask(`/places/${chunk}/page`)).blob(),
    stop: (execution) => ask("/stop", { execution_id: execution }),
    /** Yield the events of an answer. */
    question: async function* (content) {
      const reply = await ask("/messages", { content });
      // The first question has begun it: before, there is nothing to go on with.
      if (conversation) session.set(conversation);
      yield* events(reply.body.pipeThrough(new TextDecoderStream()).getReader());
    },
  };
}

/** Yield `{event, data}`; events that were too large for one frame are put together again. */
async function* events(reader) {
  const slices = new Map();
  let text = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const frames = (text + value).split("\n\n");
      text = frames.pop();
      for (const frame of frames) {
        const data = frame.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart()).join("\n");
        if (!data) continue;
        const event = JSON.parse(data);
        const whole = event.event === "_delta_sse" ? joined(slices, event.data) : event;
        if (whole) yield whole;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function joined(slices, { delta_id: id, index, total, chunk }) {
  const parts = slices.get(id) ?? slices.set(id, []).get(id);
  parts[index] = chunk;
  if (parts.filter((part) => part !== undefined).length < total) return null;
  slices.delete(id);
  return JSON.parse(parts.join(""));
}
