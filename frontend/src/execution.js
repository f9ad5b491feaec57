// What is known of one run of a tool, and how each event adds to it. Pure: state in, state out.

export const RUNNING = "running";
export const COMPLETED = "completed";
export const FAILED = "failed";
export const CANCELLED = "cancelled";

export const DOCUMENTS = "rag_search";
export const WEB = "web_search";
export const CHAT = "chat";

/** What a citation may stand for: a place in a document, or a page of the web. */
export const DOCUMENT = "document";
export const PAGE = "page";

export function newExecution(tool, inputs) {
  return {
    tool,
    inputs,
    query: inputs.query,
    id: null,
    seq: 0,
    status: RUNNING,
    phases: {},
    text: "",
    // The message of the conversation that is answered, the question as it was searched, and tools that failed.
    messageId: null,
    asked: null,
    failures: [],
    // What the ranks in the text mean: chunks of documents, or pages of the web.
    contexts: [],
    sources: [],
    result: null,
    trace: null,
    error: null,
  };
}

export const isOver = (state) => state.status !== RUNNING;

/** The state after `message`; one that was already seen (a resumed stream may repeat) changes nothing. */
export function reduce(state, { event, data, execution_id: id, seq }) {
  if (seq !== undefined && seq !== null && seq <= state.seq) return state;
  const next = { ...state, id: id ?? state.id, seq: seq ?? state.seq };
  return (REDUCERS[event] ?? ((same) => same))(next, data);
}

const REDUCERS = {
  tool_update(state, data) {
    // An assistant may search several times: ranks count through all calls.
    if (data.contexts) return { ...state, contexts: merged(state.contexts, data.contexts) };
    if (data.sources) return { ...state, sources: merged(state.sources, data.sources) };
    if (data.output_key === "asked") return { ...state, asked: data.asked };
    if (data.output_key === "failure") return { ...state, failures: [...state.failures, data] };
    if (!data.phase) return state;
    return { ...state, messageId: data.message_id ?? state.messageId, phases: { ...state.phases, [data.phase]: { status: data.status, ...data.data } } };
  },
  tool_partial_update(state, data) {
    return data.output_key === "response" ? { ...state, text: state.text + (data.content ?? "") } : state;
  },
  tool_end(state, data) {
    return { ...state, status: COMPLETED, result: data, ...shownOf(data) };
  },
  error(state, data) {
    return { ...state, status: data.code === "cancelled" ? CANCELLED : FAILED, error: data };
  },
};

const merged = (known, found) => [...known.filter(({ rank }) => !found.some((one) => one.rank === rank)), ...found].sort((a, b) => a.rank - b.rank);

/** What a result shows; that of a web search in mode `results` has no text. */
function shownOf(result) {
  const listed = result?.results?.map((page, index) => ({ ...page, rank: index + 1 }));
  const asked = result?.asked ? { asked: result.asked } : {};
  return { ...asked, text: result?.response ?? "", contexts: result?.contexts ?? [], sources: result?.sources ?? listed ?? [] };
}

/** The state of an execution as the API stores it. */
export function fromStored(execution) {
  const { id, tool, inputs, workspace_id: workspace, status, result, error, trace } = execution;
  return {
    ...newExecution(tool, { ...inputs, workspace_id: workspace }),
    id,
    status: [COMPLETED, FAILED, CANCELLED].includes(status) ? status : RUNNING,
    ...shownOf(result),
    result: status === COMPLETED ? result : null,
    trace: trace ?? null,
    error: error ?? null,
  };
}

export const contextOf = (state, rank) => withRank(state.contexts, rank);
export const sourceOf = (state, rank) => withRank(state.sources, rank);

const withRank = (all, rank) => all.find((one) => one.rank === rank) ?? null;

/**
 * What the `nth` citation of a context (from 0) quotes: there is one quote for each citation of it. Where nothing answers
 * the question, the sentence that comes nearest.
 */
export function quoteOf(context, nth = 0) {
  const quotes = context?.quotes ?? [];
  return quotes[nth] ?? quotes[0] ?? context?.closest ?? null;
}
