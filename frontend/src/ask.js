// The conversation: questions out, events in, citations to the viewer.
import { get, leaveForLogin } from "./api.js";
import { createAnswer } from "./answer.js";
import { markClaim } from "./claim.js";
import { documentSources } from "./document-sources.js";
import { h, parts, toast } from "./dom.js";
import { recallDraft, rememberDraft } from "./draft.js";
import { fromStored, isOver, newExecution, reduce, DOCUMENTS, WEB } from "./execution.js";
import { startHistory } from "./history.js";
import { lengthOfQuestion } from "./question-length.js";
import { Reader } from "./reader.js";
import { ToolStream, toolUrl } from "./tool-stream.js";
import { placeOfCitation, Viewer } from "./viewer.js";
import { webSources } from "./web-sources.js";
import { startWhere } from "./where.js";

/** Whether the settings of the workspace can end a failure. */
const canSetRight = (error) => error?.code === "tool_disabled" || error?.details?.limit === "workspace";

export function startAsk(page) {
  new AskPage(page).start();
}

class AskPage {
  #page;
  #parts;
  #viewer;
  #where;
  #history;
  #stream = null;
  #openedFrom = null;

  constructor(page) {
    this.#page = page;
    this.#parts = parts(page);
    this.#viewer = new Viewer(page.querySelector("[data-viewer]"), { onClose: () => this.#viewerClosed() });
    this.#where = startWhere(page, this.#parts);
    this.#history = startHistory(page, this.#parts, { tools: page.dataset.tools.split(" "), onOpen: (id) => this.#openStored(id) });
  }

  start() {
    const { composer, question, stop } = this.#parts;
    composer.addEventListener("submit", (event) => this.#submit(event));
    question.addEventListener("keydown", (event) => this.#key(event));
    question.addEventListener("input", () => this.#typed());
    stop.addEventListener("click", () => this.#stream?.cancel());
    this.#page.addEventListener("keydown", (event) => event.key === "Escape" && this.#escape(event));
    const stored = new URLSearchParams(location.search).get("execution");
    if (stored) this.#openStored(stored);
    else this.#hintWhenEmpty();
    question.value ||= recallDraft();
    this.#typed();
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

  #typed() {
    const { question } = this.#parts;
    rememberDraft(question.value);
    this.#grow();
    this.#showLength();
  }

  #grow() {
    const { question } = this.#parts;
    question.style.height = "auto";
    question.style.height = `${question.scrollHeight}px`;
  }

  /** Say how much room is left; returns whether the question fits. */
  #showLength() {
    const { question, length } = this.#parts;
    const { fits, words } = lengthOfQuestion(question.value);
    length.textContent = words;
    length.classList.toggle("is-over", !fits);
    question.setAttribute("aria-invalid", String(!fits));
    return fits;
  }

  #submit(event) {
    event.preventDefault();
    const { question } = this.#parts;
    const query = question.value.trim();
    const asked = query && !this.#stream && this.#showLength() ? this.#where.of(query) : null;
    if (!asked) return;
    question.value = "";
    this.#grow();
    this.#showLength();
    this.#ask(asked);
  }

  #ask({ tool, inputs }) {
    this.#follow(newExecution(tool, inputs)).run(inputs);
  }

  async #openStored(id) {
    if (this.#stream) return toast("Wait until the answer is written, or stop it first.");
    try {
      const execution = await get(`/executions/${id}`);
      if (![DOCUMENTS, WEB].includes(execution.tool)) return toast("This execution has no answer to show.");
      const state = fromStored(execution);
      this.#parts.thread.querySelectorAll(".turn").forEach((turn) => turn.remove());
      this.#viewer.close();
      if (isOver(state)) this.#addTurn(state);
      else this.#follow({ ...state, text: "" }).resume(state.id);
      this.#history.select(id);
    } catch (error) {
      this.#page.classList.toggle("is-empty", !this.#parts.thread.querySelector(".turn"));
      toast(error.message, { error: true });
    }
  }

  /** Show a running execution and keep it up to date; returns its stream. */
  #follow(start) {
    let state = start;
    let painting = 0;
    const turn = this.#addTurn(state);
    const reader = new Reader();
    const paint = () => {
      painting = 0;
      turn.update(state);
    };
    const stream = new ToolStream(toolUrl(state.tool), {
      onEvent: (message) => {
        const known = state.id;
        state = reduce(state, message);
        // Whoever loads the page again from now on comes back to this answer, finished or not.
        if (state.id !== known) {
          this.#history.select(state.id);
          rememberDraft(this.#parts.question.value);
        }
        if (state.error?.code === "unauthenticated") return leaveForLogin();
        reader.follow(state);
        painting ||= requestAnimationFrame(paint);
        if (isOver(state)) this.#finished();
        return undefined;
      },
      onInterrupted: () => turn.element.classList.add("is-interrupted"),
      onResumed: () => turn.element.classList.remove("is-interrupted"),
    });
    this.#setStream(stream);
    return stream;
  }

  #addTurn(state) {
    const view = state.tool === WEB ? webSources() : documentSources({ onCite: (...cited) => this.#openCitation(...cited) });
    const turn = createAnswer(state, view, {
      onRetry: () => this.#stream || this.#ask(state),
      helpFor: (failed) => this.#helpFor(failed),
    });
    this.#page.classList.remove("is-empty");
    this.#parts.thread.append(turn.element);
    // The question stays at the top while the answer grows below it: readers read, they do not chase.
    turn.element.scrollIntoView({ block: "start" });
    return turn;
  }

  #helpFor({ error, inputs }) {
    const settings = canSetRight(error) && this.#where.settingsOf(inputs.workspace_id);
    return settings ? h("a", { href: settings }, "Workspace settings") : null;
  }

  #setStream(stream) {
    const { ask, stop, question } = this.#parts;
    const hadFocus = document.activeElement === stop;
    this.#stream = stream;
    ask.hidden = Boolean(stream);
    stop.hidden = !stream;
    // The button that was pressed is gone: the next thing to do is to ask.
    if (hadFocus) question.focus();
  }

  #finished() {
    this.#setStream(null);
    this.#history.refresh();
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
