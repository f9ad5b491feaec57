// What is known of one run of a tool, and how each event adds to it. Pure: state in, state out.
import { counted } from "./format.js";

export const RUNNING = "running";
export const COMPLETED = "completed";
export const FAILED = "failed";
export const CANCELLED = "cancelled";

export function newExecution(query) {
  return {
    query,
    id: null,
    seq: 0,
    status: RUNNING,
    phases: {},
    text: "",
    contexts: [],
    result: null,
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
    if (data.contexts) return { ...state, contexts: data.contexts };
    if (!data.phase) return state;
    return { ...state, phases: { ...state.phases, [data.phase]: { status: data.status, ...data.data } } };
  },
  tool_partial_update(state, data) {
    return data.output_key === "response" ? { ...state, text: state.text + data.content } : state;
  },
  tool_end(state, data) {
    return { ...state, status: COMPLETED, result: data, text: data.response, contexts: data.contexts };
  },
  error(state, data) {
    return { ...state, status: data.code === "cancelled" ? CANCELLED : FAILED, error: data };
  },
};

/** The state of an execution as the API stores it. */
export function fromStored(execution) {
  const { id, inputs, status, result, error } = execution;
  return {
    ...newExecution(inputs.query),
    id,
    status: [COMPLETED, FAILED, CANCELLED].includes(status) ? status : RUNNING,
    text: result?.response ?? "",
    contexts: result?.contexts ?? [],
    result: status === COMPLETED ? result : null,
    error: error ?? null,
  };
}

export function contextOf(state, rank) {
  return state.contexts.find((context) => context.rank === rank) ?? null;
}

/** Whether the finished answer cites a context; only the result knows for documents that became invisible. */
export function isCited(state, context) {
  return state.result?.sources_used?.includes(context.rank) ?? Boolean(context.used_in_response);
}

/** What the `nth` citation of a context (from 0) quotes: there is one quote for each citation of it. */
export function quoteOf(context, nth = 0) {
  const quotes = context?.quotes ?? [];
  return quotes[nth] ?? quotes[0] ?? null;
}

/** How far the search has come, in a few words each, in the order it happens. */
export function progressSteps(state) {
  const { RETRIEVAL, RERANKING, COMPILING_RESULTS } = state.phases;
  const steps = [];
  if (RETRIEVAL) steps.push(`${counted(RETRIEVAL.retrieved_count, "chunk")} found`);
  if (RERANKING) steps.push(`${RERANKING.kept_count} kept`);
  if (isOver(state)) return steps;
  return [...steps, currentStep(RETRIEVAL, RERANKING, COMPILING_RESULTS)];
}

function currentStep(retrieval, reranking, compiling) {
  if (compiling) return "writing the answer";
  if (reranking) return "reading";
  return retrieval ? "ranking" : "searching";
}
