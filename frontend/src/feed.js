// News of documents over a websocket for each watched workspace; while one is down, the page asks instead.
import { backoff } from "./tool-stream.js";

const POLL_MS = 3000;
/** Connections that open together are followed by one question. */
const TOGETHER_MS = 200;
const STAYS_CLOSED = [4401, 4403, 4404];

export function startFeed({ workspaces, onUpdate, onDelete, onPoll }, Socket = WebSocket) {
  const sockets = new Map();
  let asking = 0;
  const handlers = { document_update: onUpdate, document_deleted: ({ id }) => onDelete(id) };

  function open(workspace, attempt = 0) {
    const socket = new Socket(feedUrl(workspace));
    sockets.set(workspace, socket);
    socket.onopen = () => {
      attempt = 0;
      // Something may have happened between the list and the connection.
      clearTimeout(asking);
      asking = setTimeout(onPoll, TOGETHER_MS);
    };
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      handlers[message.event]?.(message.data);
    };
    socket.onclose = ({ code }) => {
      if (sockets.get(workspace) !== socket || STAYS_CLOSED.includes(code)) return;
      setTimeout(() => sockets.get(workspace) === socket && open(workspace, attempt + 1), backoff(attempt));
    };
  }

  function close(workspace) {
    const socket = sockets.get(workspace);
    sockets.delete(workspace);
    socket.close();
  }

  setInterval(() => {
    if ([...sockets.values()].some((socket) => socket.readyState !== 1)) onPoll();
  }, POLL_MS);

  return {
    /** Listen to exactly the workspaces in view. */
    watch() {
      const wanted = new Set(workspaces());
      for (const workspace of [...sockets.keys()]) if (!wanted.has(workspace)) close(workspace);
      for (const workspace of wanted) if (!sockets.has(workspace)) open(workspace);
    },
  };
}

function feedUrl(workspace) {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/documents?workspace=${workspace}`;
}
