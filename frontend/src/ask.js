// The page of a conversation: questions out, events in, citations to the viewer.
import { get, leaveForLogin, post } from "./api.js";
import { createAnswer } from "./answer.js";
import { startAttachments } from "./attachments.js";
import { branchSwitch } from "./branch-switch.js";
import { startCitationCard } from "./citation-card.js";
import { startConversationList } from "./conversation-list.js";
import { startConversationMenu } from "./conversation-menu.js";
import { h, parts, toast } from "./dom.js";
import { recallDraft, rememberDraft } from "./draft.js";
import { CHAT, fromStored, isOver, newExecution, reduce } from "./execution.js";
import { feedbackOf } from "./feedback.js";
import { PlaceOfAnswer } from "./place-of-answer.js";
import { lengthOfQuestion } from "./question-length.js";
import { Reader } from "./reader.js";
import { quotedStart } from "./selection.js";
import { newestPath, pathThrough, siblingsOf } from "./thread-tree.js";
import { sessionUrl, ToolStream, toolUrl } from "./tool-stream.js";
import { startWhere } from "./where.js";
import { t } from "./texts.js";

const ALL_AT_ONCE = 200;
const WAIT = t("Wait until the answer is written, or stop it first.");

/** Whether the settings of the workspace can end a failure. */
const canSetRight = (error) => error?.code === "tool_disabled" || error?.details?.limit === "workspace";

export function startAsk(page) {
  new AskPage(page).start();
}

class AskPage {
  #page;
  #parts;
  #places;
  #where;
  #list;
  #menu;
  #attachments;
  #session = null;
  #messages = [];
  /** What is shown, in order: `{message, view, states, index}`; `states` are the answers to the message. */
  #turns = [];
  #stream = null;

  constructor(page) {
    this.#page = page;
    this.#parts = parts(page);
    this.#places = new PlaceOfAnswer(page, { onAsk: (about) => this.#askAbout(about) });
    this.#where = startWhere(page, this.#parts, { session: () => this.#session, onSession: (session) => (this.#session = session) });
    this.#menu = startConversationMenu(page, this.#parts, {
      onChange: (session) => this.#sessionChanged(session),
      onDelete: (id) => this.#deleted(id),
      lastShown: (id) => (id === this.#session?.id ? this.#lastMessage()?.id : null),
    });
    this.#list = startConversationList(this.#parts, { current: page.dataset.session, onMenu: (button, id) => this.#menu.open(button, id) });
    this.#attachments = startAttachments(this.#parts, { session: () => this.#ensureSession(), isOpen: () => !this.#isReadOnly() });
    startCitationCard(page, {
      lookUp: (chip) => this.#turns.find(({ view }) => view.element.contains(chip))?.view.citedBy(chip),
      onOpen: (chip) => chip.click(),
    });
  }

  start() {
    const { composer, question, stop, headMenu } = this.#parts;
    composer.addEventListener("submit", (event) => this.#submit(event));
    question.addEventListener("keydown", (event) => this.#key(event));
    question.addEventListener("input", () => this.#typed());
    openWhileWriting(composer, question);
    stop.addEventListener("click", () => this.#stream?.cancel());
    headMenu.addEventListener("click", () => this.#menu.open(headMenu, this.#session.id));
    this.#page.addEventListener("keydown", (event) => event.key === "Escape" && this.#escape(event));
    window.addEventListener("online", () => this.#backOnline());
    this.#open();
    question.value ||= recallDraft();
    this.#typed();
    // On a phone the keyboard would cover what is to be read.
    if (!this.#isNarrow()) question.focus({ preventScroll: true });
  }

  #open() {
    const stored = new URLSearchParams(location.search).get("execution");
    if (this.#page.dataset.session) this.#load(this.#page.dataset.session);
    else if (stored) this.#openExecution(stored);
    else this.#hintWhenEmpty();
  }

  async #hintWhenEmpty() {
    const { results } = await get("/documents", { limit: 1 });
    this.#parts.hint.hidden = results.length > 0;
  }

  // --- Asking ------------------------------------------------------------------------------------------

  #key(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.#parts.composer.requestSubmit();
  }

  #escape(event) {
    if (event.defaultPrevented) return;
    if (this.#stream) this.#stream.cancel();
    else this.#places.close();
  }

  #typed() {
    const { question } = this.#parts;
    rememberDraft(question.value);
    question.style.height = "auto";
    question.style.height = `${question.scrollHeight}px`;
    this.#showLength();
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
    const content = question.value.trim();
    if (!content || this.#stream || !this.#showLength() || !this.#where.canAsk()) return;
    if (this.#attachments.isReading()) toast(t("A file is still being read: the answer may not know it yet."));
    this.#setQuestion("");
    this.#askAfter(this.#lastMessage()?.id ?? null, content);
    // Until the server has it, a reload must not lose it.
    rememberDraft(content);
  }

  #setQuestion(text) {
    const { question } = this.#parts;
    question.value = text;
    this.#typed();
  }

  /** Ask `content` as what follows a message, null at the beginning; what stood there is another branch now. */
  #askAfter(parentId, content) {
    const at = parentId ? this.#turns.findIndex(({ message }) => message.id === parentId) + 1 : 0;
    this.#cut(at);
    const entry = this.#addTurn({ id: null, parent_id: parentId, content, answers: [] }, [newExecution(CHAT, { query: content })]);
    return this.#run(entry, { type: "message", content, parent_id: parentId, ...this.#where.ofMessage() });
  }

  /** Answer a message once more. */
  #askAgain(entry) {
    if (this.#stream) return toast(WAIT);
    const { message } = entry;
    if (!message.id) return this.#askAfter(message.parent_id, message.content);
    entry.states.push(newExecution(CHAT, { query: message.content }));
    this.#showVersion(entry, entry.states.length - 1);
    return this.#run(entry, { type: "message", message_id: message.id, ...this.#where.ofMessage() });
  }

  #edit(entry, content) {
    if (this.#stream) {
      toast(WAIT);
      return false;
    }
    this.#askAfter(entry.message.parent_id, content);
    return true;
  }

  async #run(entry, message) {
    let cancelled = false;
    this.#setStream({ cancel: () => (cancelled = true) });
    try {
      const { id } = await this.#ensureSession();
      const stream = this.#follow(entry, sessionUrl(id));
      stream.start(message);
      if (cancelled) stream.cancel();
    } catch ({ code, message: words }) {
      this.#changed(entry, reduce(entry.states.at(-1), { event: "error", data: { code, message: words } }));
      this.#setStream(null);
    }
  }

  #isBeginning = null;

  /** The conversation, begun if there is none. */
  async #ensureSession() {
    if (this.#session) return this.#session;
    this.#isBeginning ??= post("/sessions", this.#where.ofSession());
    try {
      const session = await this.#isBeginning;
      if (!this.#session) this.#sessionBegun(session);
      return session;
    } finally {
      this.#isBeginning = null;
    }
  }

  #sessionBegun(session) {
    this.#session = session;
    window.history.pushState(null, "", `/c/${session.id}`);
    this.#where.show(session);
    this.#list.select(session.id);
  }

  /** Ask about the document in the viewer, perhaps about words that are selected in it. */
  #askAbout({ document: about, quote }) {
    const { question } = this.#parts;
    this.#where.chooseDocument(about);
    if (this.#isNarrow()) this.#places.close();
    if (quote) this.#setQuestion(quotedStart(quote));
    question.focus();
    question.setSelectionRange(question.value.length, question.value.length);
  }

  // --- Following an answer -----------------------------------------------------------------------------

  /** Keep the last answer of a turn up to date; returns its stream. */
  #follow(entry, url) {
    let painting = 0;
    const reader = new Reader();
    const stream = new ToolStream(url, {
      onEvent: (message) => {
        const before = entry.states.at(-1);
        const state = reduce(before, message);
        entry.states[entry.states.length - 1] = state;
        if (state.error?.code === "unauthenticated") return leaveForLogin();
        if (state.id !== before.id) this.#acknowledged(entry, state);
        reader.follow(state);
        painting ||= requestAnimationFrame(() => {
          painting = 0;
          this.#changed(entry, entry.states.at(-1));
        });
        if (isOver(state)) this.#finished(entry, state);
        return undefined;
      },
      onInterrupted: () => entry.view.element.classList.add("is-interrupted"),
      onResumed: () => entry.view.element.classList.remove("is-interrupted"),
    });
    this.#setStream(stream);
    return stream;
  }

  /** The server has the question: whoever loads the page again comes back to its answer. */
  #acknowledged(entry, state) {
    if (!entry.message.id && state.messageId) {
      entry.message.id = state.messageId;
      this.#messages.push(entry.message);
      this.#showBranches();
    }
    rememberDraft(this.#parts.question.value);
    this.#showHead();
    this.#list.refresh();
    if (this.#session && !this.#session.title) this.#learnTitle();
  }

  /** The server makes the title from the first question. */
  async #learnTitle() {
    const session = await get(`/sessions/${this.#session.id}`).catch(() => null);
    if (session?.title) this.#sessionChanged(session);
  }

  #changed(entry, state) {
    entry.states[entry.states.length - 1] = state;
    if (entry.index === entry.states.length - 1) entry.view.update(state);
  }

  #finished(entry, state) {
    this.#setStream(null);
    this.#list.refresh();
    if (state.error?.code === "connection_lost" && navigator.onLine) this.#recover(entry.message);
  }

  /** The network is back: an answer is followed on, or other answers may have been written meanwhile. */
  #backOnline() {
    const last = this.#turns.at(-1);
    const { error } = last?.states.at(-1) ?? {};
    if (this.#stream) this.#stream.wake?.();
    else if (error?.code === "connection_lost") this.#recover(last.message);
    else if (this.#session) this.#load(this.#session.id);
  }

  /** A question that was sent but not acknowledged may be stored all the same; else it is put back. */
  async #recover({ id, content }) {
    const known = new Set(this.#messages.map((message) => message.id));
    if (!this.#session || !(await this.#load(this.#session.id))) return;
    const isStored = id || this.#messages.some((message) => !known.has(message.id) && message.content === content);
    if (isStored || this.#parts.question.value) return;
    this.#setQuestion(content);
    toast(t("Your question did not reach the server. It is in the box again: send it once more."));
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

  // --- The thread --------------------------------------------------------------------------------------

  /** Show the conversation as the server has it; resolves to whether that went well. */
  async #load(id) {
    try {
      const [session, messages] = await Promise.all([get(`/sessions/${id}`), allMessages(id)]);
      this.#session = session;
      this.#messages = messages;
      this.#where.show(session);
      this.#showHead();
      this.#showPath(newestPath(messages), { isFirst: true });
      return true;
    } catch (error) {
      toast(error.message, { error: true });
      return false;
    }
  }

  #showPath(path, { isFirst = false } = {}) {
    this.#cut(0);
    for (const message of path) this.#addTurn(message, statesOf(message));
    const last = this.#turns.at(-1);
    // Who goes on wants the last answer in sight, who reads what others have asked the first.
    if (isFirst && this.#isReadOnly()) this.#parts.thread.scrollTo(0, 0);
    else if (isFirst && this.#turns.length > 1) last.view.element.scrollIntoView({ block: "start" });
    const running = last?.states.at(-1);
    if (running && !isOver(running) && !this.#stream && !this.#isReadOnly()) this.#follow(last, sessionUrl(this.#session.id)).resume(running.id);
  }

  /** Take turns off the page from a position on. */
  #cut(at) {
    for (const { view } of this.#turns.splice(at)) view.element.remove();
    this.#places.close();
  }

  #addTurn(message, states) {
    // A question whose run never began has no answer.
    const known = states.length ? states : [{ ...newExecution(CHAT, { query: message.content ?? "" }), status: "cancelled" }];
    // Whoever comes back to this branch finds what was answered since the page was loaded.
    message.states = known;
    const entry = { message, states: known, index: known.length - 1, view: null };
    const isOwn = !this.#isReadOnly();
    entry.view = createAnswer(known.at(-1), {
      onCite: (cited, button) => this.#places.open(cited, button),
      onRetry: isOwn ? () => this.#askAgain(entry) : null,
      onEdit: isOwn ? (content) => this.#edit(entry, content) : null,
      helpFor: (failed) => this.#helpFor(failed),
      suggest: (state) => (isOwn ? this.#suggestions(entry, state) : []),
      feedbackFor: (state) => (isOwn && state.id ? feedbackOf(state.id, state.feedback, (given) => (state.feedback = given)) : null),
    });
    this.#turns.push(entry);
    this.#page.classList.remove("is-empty");
    this.#parts.thread.append(entry.view.element);
    this.#showBranches();
    document.title = `${this.#turns[0].message.content || t("Conversation")} · Locus`;
    // The question stays at the top while the answer grows below it: readers read, they do not chase.
    if (this.#turns.length > 1 || !this.#parts.head.hidden) entry.view.element.scrollIntoView({ block: "start" });
    return entry;
  }

  #showVersion(entry, index) {
    entry.index = index;
    entry.view.show(entry.states[index]);
    this.#showBranches();
  }

  #showBranches() {
    for (const entry of this.#turns) {
      const { message, states, index } = entry;
      const siblings = message.id ? siblingsOf(this.#messages, message) : [];
      entry.view.setBranches({
        question: branchSwitch({ index: siblings.indexOf(message), count: siblings.length, noun: "question", onChoose: (at) => this.#chooseBranch(siblings[at]) }),
        answer: branchSwitch({ index, count: states.length, noun: "answer", onChoose: (at) => this.#showVersion(entry, at) }),
      });
    }
  }

  #chooseBranch({ id }) {
    if (this.#stream) return toast(WAIT);
    this.#showPath(pathThrough(this.#messages, id));
    const entry = this.#turns.find(({ message }) => message.id === id);
    entry.view.element.scrollIntoView({ block: "start" });
    entry.view.element.querySelector(".branch button:not(:disabled)")?.focus({ preventScroll: true });
    return undefined;
  }

  #lastMessage() {
    return this.#turns.findLast(({ message }) => message.id)?.message ?? null;
  }

  // --- Around the thread -------------------------------------------------------------------------------

  #isNarrow() {
    return matchMedia("(max-width: 60rem)").matches;
  }

  #isReadOnly() {
    return this.#session?.is_own === false;
  }

  #showHead() {
    const { head, headTitle, headNote, headMenu, composer } = this.#parts;
    head.hidden = !this.#session;
    this.#page.classList.toggle("has-head", Boolean(this.#session));
    headTitle.textContent = this.#session?.title || this.#turns[0]?.message.content || this.#messages[0]?.content || t("New conversation");
    const isReadOnly = this.#isReadOnly();
    headMenu.hidden = isReadOnly;
    composer.hidden = isReadOnly;
    headNote.textContent = isReadOnly ? t("Shared by {name}. You can read it, but not ask in it.", { name: this.#session.shared_by }) : this.#session?.shared ? t("Shared in its workspace") : "";
  }

  #sessionChanged(session) {
    this.#list.refresh();
    if (session.id !== this.#session?.id) return;
    this.#session = session;
    this.#showHead();
  }

  #deleted(id) {
    if (id === this.#session?.id) location.assign("/");
    else this.#list.refresh();
  }

  /** What else a question without an answer can be put to. */
  #suggestions(entry, state) {
    const ways = this.#where.otherWays().map(({ words, name, choose }) => ({
      words,
      name,
      act: async () => (await choose()) !== false && this.#askAgain(entry),
    }));
    const put = () => {
      this.#setQuestion(state.query);
      this.#parts.question.focus();
    };
    return [...ways, { words: t("Ask in other words"), name: "pencil", act: put }];
  }

  #helpFor({ error }) {
    const settings = canSetRight(error) && this.#where.settingsOf(this.#session?.workspace_id);
    return settings ? h("a", { href: settings }, t("Workspace settings")) : null;
  }

  // --- Answers from before there were conversations ------------------------------------------------------

  /** `/?execution=ID`: one question, of a conversation or by itself. */
  async #openExecution(id) {
    try {
      const execution = await get(`/executions/${encodeURIComponent(id)}`);
      if (execution.tool === CHAT && execution.session_id) return location.replace(`/c/${execution.session_id}`);
      if (!execution.inputs.query) return toast(t("This execution has no answer to show."));
      const state = fromStored(execution);
      const entry = this.#addTurn({ id: null, parent_id: null, content: state.query, answers: [] }, [state]);
      if (!isOver(state)) this.#follow(entry, toolUrl(state.tool)).resume(state.id);
    } catch (error) {
      this.#page.classList.add("is-empty");
      toast(error.message, { error: true });
    }
    return undefined;
  }
}

/** On a phone the box is one row until one writes in it; it stays open while its buttons are used. */
function openWhileWriting(composer, question) {
  const setOpen = (isOpen) => composer.classList.toggle("is-writing", isOpen);
  // Whoever taps the words of a switch gives the focus to what is around the box.
  const isOutside = (node) => node !== null && !composer.contains(node) && !node.contains(composer);
  question.addEventListener("focus", () => setOpen(true));
  composer.addEventListener("focusout", ({ relatedTarget }) => isOutside(relatedTarget) && setOpen(false));
  document.addEventListener("pointerdown", ({ target }) => composer.contains(target) || setOpen(false));
}

async function allMessages(id) {
  const all = [];
  for (let list = await get(`/sessions/${id}/messages`, { limit: ALL_AT_ONCE }); ; list = await get(list.next)) {
    all.push(...list.results);
    if (!list.next) return all;
  }
}

/** The states of a message's answers: as this page has followed them, else as the API stores them. */
function statesOf(message) {
  const stateOf = ({ execution_id: id, status, result, error, feedback }) => ({
    ...fromStored({ id, tool: CHAT, inputs: { query: message.content ?? "" }, status, result, error }),
    feedback,
  });
  return message.states ?? message.answers.map(stateOf);
}
