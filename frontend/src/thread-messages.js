// The messages of a conversation as the API has them.
import { get } from "./api.js";
import { CHAT, fromStored } from "./execution.js";

const ALL_AT_ONCE = 200;

export async function allMessages(id) {
  const all = [];
  for (let list = await get(`/sessions/${id}/messages`, { limit: ALL_AT_ONCE }); ; list = await get(list.next)) {
    all.push(...list.results);
    if (!list.next) return all;
  }
}

/** The states of a message's answers: as this page has followed them, else as the API stores them. */
export function statesOf(message) {
  const stateOf = ({ execution_id: id, status, result, error, feedback }) => ({
    ...fromStored({ id, tool: CHAT, inputs: { query: message.content ?? "" }, status, result, error }),
    feedback,
  });
  return message.states ?? message.answers.map(stateOf);
}
