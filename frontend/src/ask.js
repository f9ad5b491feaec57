// The conversation: questions out, events in, citations to the viewer.
import { get } from "./api.js";
import { createAnswer } from "./answer.js";
import { markClaim } from "./claim.js";
import { announce, parts, toast } from "./dom.js";
import { fromStored, isOver, newExecution, progressSteps, reduce, COMPLETED } from "./execution.js";
import { counted } from "./format.js";
import { startHistory } from "./history.js";
import { withoutCitations } from "./markdown.js";
import { startScope } from "./scope.js";
import { ToolStream, toolUrl } from "./tool-stream.js";
import { placeOfCitation, Viewer } from "./viewer.js";

const TOOL = "rag_search";

export function startAsk(page) {
  new AskPage(page).start();
}

class AskPage {
  #page;
  #parts;
  #viewer;
  #scope;
  #history;
  #stream = null;
  #openedFrom = null;

  constructor(page) {
    this.#page = page;
    this.#parts = parts(page);
    this.#viewer = new Viewer(page.querySelector("[data-viewer]"), { onClose: () => this.#viewerClosed() });
    this.#scope = startScope(this.#parts);
    this.#history = startHistory(page, this.#parts, { tool: TOOL, onOpen: (id) => this.#openStored(id) });
  }

  start() {
    const { composer, question, stop } = this.#parts;
    composer.addEventListener("submit", (event) => this.#submit(event));
    question.addEventListener("keydown", (event) => this.#key(event));
    question.addEventListener("input", () => this.#grow());
    stop.addEventListener("click", () => this.#stream?.cancel());
    this.#page.addEventListener("keydown", (event) => event.key === "Escape" && this.#escape(event));
    const stored = new URLSearchParams(location.search).get("execution");
    if (stored) this.#openStored(stored);
    else this.#hintWhenEmpty();
  }

  async #hintWhenEmpty() {
    const { results } = await get("/documents", { limit: 1 });
    this.#parts.hint.hidden = results.length > 0;
  }

  #key(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.#parts.composer.requestSubmit();
  }

  #escape(event) {
    if (event.defaultPrevented) return;
    if (this.#stream) this.#stream.cancel();
    else this.#viewer.close();
  }

  #grow() {
    const { question } = this.#parts;
    question.style.height = "auto";
    question.style.height = `${question.scrollHeight}px`;
  }

  #submit(event) {
    event.preventDefault();
    const { question } = this.#parts;
    const query = question.value.trim();
    if (!query || this.#stream) return;
    question.value = "";
    this.#grow();
    this.#ask(query);
  }

  #ask(query) {
    const { state, stream } = this.#follow(newExecution(query));
    stream.run({ query: state.query, ...this.#scope.inputs() });
  }

  async #openStored(id) {
    if (this.#stream) return toast("Wait until the answer is written, or stop it first.");
    try {
      const state = fromStored(await get(`/executions/${id}`));
      this.#parts.thread.querySelectorAll(".turn").forEach((turn) => turn.remove());
      this.#viewer.close();
      if (isOver(state)) this.#addTurn(state);
      else this.#follow({ ...state, text: "" }).stream.resume(state.id);
      this.#history.select(id);
    } catch (error) {
      toast(error.message, { error: true });
    }
  }

  /** Show a running execution and keep it up to date. */
  #follow(start) {
    let state = start;
    let painting = 0;
    const turn = this.#addTurn(state);
    const reader = new Reader();
    const paint = () => {
      painting = 0;
      turn.update(state);
    };
    const stream = new ToolStream(toolUrl(TOOL), {
      onEvent: (message) => {
        state = reduce(state, message);
        reader.follow(state);
        painting ||= requestAnimationFrame(paint);
        if (isOver(state)) this.#finished(state);
      },
      onInterrupted: () => turn.element.classList.add("is-interrupted"),
      onResumed: () => turn.element.classList.remove("is-interrupted"),
    });
    this.#setStream(stream);
    return { state, stream };
  }

  #addTurn(state) {
    const turn = createAnswer(state, {
      onCite: (context, quote, button) => this.#openCitation(context, quote, button),
      onRetry: () => this.#stream || this.#ask(state.query),
    });
    this.#page.classList.remove("is-empty");
    this.#parts.thread.append(turn.element);
    // The question stays at the top while the answer grows below it: readers read, they do not chase.
    turn.element.scrollIntoView({ block: "start" });
    return turn;
  }

  #setStream(stream) {
    this.#stream = stream;
    this.#parts.ask.hidden = Boolean(stream);
    this.#parts.stop.hidden = !stream;
  }

  #finished(state) {
    this.#setStream(null);
    this.#history.refresh(state.id);
  }

  #openCitation(context, quote, button) {
    if (context.unavailable) return toast("You can no longer see this document.");
    this.#markOpen(button);
    this.#page.classList.add("has-viewer");
    return this.#viewer.showPlace(placeOfCitation(context, quote));
  }

  #markOpen(button) {
    for (const open of this.#page.querySelectorAll(".is-open")) open.classList.remove("is-open");
    this.#openedFrom = button;
    button?.classList.add("is-open");
    markClaim(button?.matches(".cite") ? button : null);
  }

  #viewerClosed() {
    const from = this.#openedFrom;
    this.#page.classList.remove("has-viewer");
    this.#markOpen(null);
    if (from?.isConnected) from.focus({ preventScroll: true });
  }
}

/** Tells screen readers how the answer comes along: each step, then each finished sentence. */
class Reader {
  #said = "";
  #read = 0;

  follow(state) {
    if (state.status === COMPLETED) return this.#say(closing(state.result));
    if (isOver(state)) return undefined; // The alert in the page says it.
    if (!state.text) return this.#say(progressSteps(state).join(", "));
    const end = Math.max(...[". ", "! ", "? ", "\n"].map((mark) => state.text.lastIndexOf(mark))) + 1;
    if (end <= this.#read) return undefined;
    this.#say(withoutCitations(state.text.slice(this.#read, end)).trim());
    this.#read = end;
    return undefined;
  }

  #say(words) {
    if (words && words !== this.#said) announce(words);
    this.#said = words;
  }
}

function closing({ sources_used: used = [] }) {
  return used.length ? `Answer complete, ${counted(used.length, "source")} cited.` : "Answer complete, no source cited.";
}
