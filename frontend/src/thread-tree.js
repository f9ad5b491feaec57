// The messages of a conversation as a tree: an edited question is a sibling of the one before. Pure.

/** The messages from the first one to `id`, in order. */
export function pathTo(messages, id) {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const path = [];
  for (let message = byId.get(id); message && path.length <= messages.length; message = byId.get(message.parent_id)) path.unshift(message);
  return path;
}

/** The newest branch: the path to the message that came last. */
export const newestPath = (messages) => (messages.length ? pathTo(messages, messages.at(-1).id) : []);

/** The path through `id` and on to the newest message below it. */
export function pathThrough(messages, id) {
  let last = id;
  for (let next = last; next; next = messages.findLast(({ parent_id: parent }) => parent === last)?.id) last = next;
  return pathTo(messages, last);
}

/** Messages with the same parent, oldest first, this one included. */
export const siblingsOf = (messages, message) => messages.filter(({ parent_id: parent }) => parent === message.parent_id);
