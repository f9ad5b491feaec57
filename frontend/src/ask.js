// The page of a conversation: questions out, events in, citations to the viewer.
import { get } from "./api.js";
import { startAttachments } from "./attachments.js";
import { startCitationCard } from "./citation-card.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { showHead } from "./conversation-head.js";
import { startConversationList } from "./conversation-list.js";
import { parts, toast } from "./dom.js";
import { rememberDraft } from "./draft.js";
import { CHAT, fromStored, isOver, newExecution, reduce } from "./execution.js";
import { feedbackOf } from "./feedback.js";
import { followAnswer } from "./follow-answer.js";
import { PlaceOfAnswer } from "./place-of-answer.js";
import { quotedStart } from "./selection.js";
import { Thread } from "./thread.js";
import { allMessages } from "./thread-messages.js";
import { newestPath, pathThrough } from "./thread-tree.js";
import { sessionUrl, toolUrl } from "./tool-stream.js";
import { suggestionsFor, settingsLinkFor } from "./ways-on.js";
import { startWhere } from "./where.js";
import { importWithTexts, t } from "./texts.js";

const WAIT = t("Wait until the answer is written, or stop it first.");

export function startAsk(page) {
  new AskPage(page).start();
}

class AskPage {
  #page;
  #parts;
  #places;
  #where;
  #list;
  #menu = null;
  #attachments;
  #composer;
  #thread;
  #conversation;
  #stream = null;

  get #session() {
    return this.#conversation.session;
  }

  constructor(page) {
    this.#page = page;
    this.#parts = parts(page);
    this.#places = new PlaceOfAnswer(page, { onAsk: (about) => this.#askAbout(about) });
    this.#conversation = new Conversation({ first: () => this.#where.ofSession(), onBegun: (session) => this.#begun(session) });
    this.#where = startWhere(page, this.#parts, { session: () => this.#session, onSession: (session) => (this.#conversation.session = session) });
    this.#list = startConversationList(this.#parts, { current: page.dataset.session, onMenu: (button, id) => this.#openMenu(button, id) });
    this.#attachments = startAttachments(this.#parts, { session: () => this.#conversation.ensure(), isOpen: () => !this.#conversation.isReadOnly });
    this.#composer = new Composer(page, { onSubmit: (content) => this.#submit(content), onStop: () => this.#stream?.cancel() });
    this.#thread = new Thread(page, this.#parts.thread, { handlersOf: (entry) => this.#handlersOf(entry), onBranch: (message) => this.#chooseBranch(message) });
    startCitationCard(page, { lookUp: (chip) => this.#thread.citedBy(chip), onOpen: (chip) => chip.click() });
  }

  start() {
    const { headMenu } = this.#parts;
    headMenu.addEventListener("click", () => this.#openMenu(headMenu, this.#session.id));
    this.#page.addEventListener("keydown", (event) => event.key === "Escape" && this.#escape(event));
    window.addEventListener("online", () => this.#backOnline());
    this.#open();
    this.#composer.start();
    // On a phone the keyboard would cover what is to be read.
    if (!this.#isNarrow()) this.#composer.focus({ preventScroll: true });
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

  #escape(event) {
    if (event.defaultPrevented) return;
    // What another member asks is theirs to stop.
    if (this.#stream && !this.#conversation.isReadOnly) this.#stream.cancel();
    else this.#places.close();
  }

  // --- Asking ------------------------------------------------------------------------------------------

  #submit(content) {
    if (this.#stream || !this.#where.canAsk()) return;
    if (this.#attachments.isReading()) toast(t("A file is still being read: the answer may not know it yet."));
    this.#composer.text = "";
    this.#askAfter(this.#thread.lastMessage?.id ?? null, content);
    // Until the server has it, a reload must not lose it.
    rememberDraft(content);
  }

  /** Ask `content` as what follows a message, null at the beginning; what stood there is another branch now. */
  #askAfter(parentId, content) {
    this.#thread.cutAfter(parentId);
    this.#places.close();
    const entry = this.#addTurn({ id: null, parent_id: parentId, content, answers: [] }, [newExecution(CHAT, { query: content })]);
    return this.#run(entry, { type: "message", content, parent_id: parentId, ...this.#where.ofMessage() });
  }

  /** Answer a message once more. */
  #askAgain(entry) {
    if (this.#stream) return toast(WAIT);
    const { message } = entry;
    if (!message.id) return this.#askAfter(message.parent_id, message.content);
    entry.states.push(newExecution(CHAT, { query: message.content }));
    this.#thread.showVersion(entry, entry.states.length - 1);
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

  #reword(question) {
    this.#composer.text = question;
    this.#composer.focus();
  }

  async #run(entry, message) {
    let cancelled = false;
    this.#setStream({ cancel: () => (cancelled = true) });
    try {
      const { id } = await this.#conversation.ensure();
      const stream = this.#follow(entry, sessionUrl(id));
      stream.start(message);
      if (cancelled) stream.cancel();
    } catch ({ code, message: words }) {
      this.#thread.changed(entry, reduce(entry.states.at(-1), { event: "error", data: { code, message: words } }));
      this.#setStream(null);
    }
  }

  #begun(session) {
    window.history.pushState(null, "", `/c/${session.id}`);
    this.#where.show(session);
    this.#list.select(session.id);
  }

  /** Ask about the document in the viewer, perhaps about words that are selected in it. */
  #askAbout({ document: about, quote }) {
    this.#where.chooseDocument(about);
    if (this.#isNarrow()) this.#places.close();
    if (quote) this.#composer.text = quotedStart(quote);
    this.#composer.focus();
  }

  // --- Following an answer -----------------------------------------------------------------------------

  #follow(entry, url) {
    const stream = followAnswer(entry, url, {
      onBegun: (state) => this.#acknowledged(entry, state),
      onChange: (state) => this.#thread.changed(entry, state),
      onEnd: (state) => this.#finished(entry, state),
    });
    this.#setStream(stream);
    return stream;
  }

  /** The server has the question: whoever loads the page again comes back to its answer. */
  #acknowledged(entry, state) {
    if (!entry.message.id && state.messageId) {
      entry.message.id = state.messageId;
      this.#thread.messages.push(entry.message);
      this.#thread.showBranches();
    }
    rememberDraft(this.#composer.text);
    this.#showHead();
    this.#list.refresh();
    if (this.#session && !this.#session.title) this.#learnTitle();
  }

  /** The server makes the title from the first question. */
  async #learnTitle() {
    const session = await get(`/sessions/${this.#session.id}`).catch(() => null);
    if (session?.title) this.#sessionChanged(session);
  }

  #finished(entry, state) {
    this.#setStream(null);
    this.#list.refresh();
    if (state.error?.code === "connection_lost" && navigator.onLine) this.#recover(entry.message);
  }

  /** The network is back: an answer is followed on, or other answers may have been written meanwhile. */
  #backOnline() {
    const { last } = this.#thread;
    const { error } = last?.states.at(-1) ?? {};
    if (this.#stream) this.#stream.wake?.();
    else if (error?.code === "connection_lost") this.#recover(last.message);
    else if (this.#session) this.#load(this.#session.id);
  }

  /** A question that was sent but not acknowledged may be stored all the same; else it is put back. */
  async #recover({ id, content }) {
    const known = new Set(this.#thread.messages.map((message) => message.id));
    if (!this.#session || !(await this.#load(this.#session.id))) return;
    const isStored = id || this.#thread.messages.some((message) => !known.has(message.id) && message.content === content);
    if (isStored || this.#composer.text) return;
    this.#composer.text = content;
    toast(t("Your question did not reach the server. It is in the box again: send it once more."));
  }

  #setStream(stream) {
    this.#stream = stream;
    this.#composer.setRunning(Boolean(stream));
  }

  // --- The thread --------------------------------------------------------------------------------------

  /** Show the conversation as the server has it; resolves to whether that went well. */
  async #load(id) {
    try {
      const [session, messages] = await Promise.all([get(`/sessions/${id}`), allMessages(id)]);
      this.#conversation.session = session;
      this.#thread.messages = messages;
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
    this.#places.close();
    this.#thread.show(path);
    const { last } = this.#thread;
    // Who goes on wants the last answer in sight, who reads what others have asked the first.
    if (isFirst && this.#conversation.isReadOnly) this.#parts.thread.scrollTo(0, 0);
    else if (last && (this.#thread.size > 1 || !isFirst)) last.view.element.scrollIntoView({ block: "start" });
    const running = last?.states.at(-1);
    if (running && !isOver(running) && !this.#stream) this.#resume(last, running);
  }

  /** Follow an answer that is being written, one's own or another member's. */
  #resume(entry, { id }) {
    this.#follow(entry, this.#conversation.isReadOnly ? toolUrl(CHAT) : sessionUrl(this.#session.id)).resume(id);
  }

  /** Add a question below the others. It stays at the top while its answer grows: readers read, they do not chase. */
  #addTurn(message, states) {
    const entry = this.#thread.add(message, states);
    if (this.#thread.size > 1 || !this.#parts.head.hidden) entry.view.element.scrollIntoView({ block: "start" });
    return entry;
  }

  #handlersOf(entry) {
    const isOwn = !this.#conversation.isReadOnly;
    return {
      onCite: (cited, button) => this.#places.open(cited, button),
      onRetry: isOwn ? () => this.#askAgain(entry) : null,
      onEdit: isOwn ? (content) => this.#edit(entry, content) : null,
      helpFor: (failed) => settingsLinkFor(failed, this.#where, this.#session),
      suggest: ({ query }) => (isOwn ? suggestionsFor(this.#where, { askAgain: () => this.#askAgain(entry), reword: () => this.#reword(query) }) : []),
      feedbackFor: (state) => (isOwn && state.id ? feedbackOf(state.id, state.feedback, (given) => (state.feedback = given)) : null),
    };
  }

  #chooseBranch({ id }) {
    if (this.#stream) return toast(WAIT);
    this.#showPath(pathThrough(this.#thread.messages, id));
    return this.#thread.goTo(id);
  }

  // --- Around the thread -------------------------------------------------------------------------------

  #isNarrow() {
    return matchMedia("(max-width: 60rem)").matches;
  }

  #showHead() {
    const first = this.#thread.first?.message ?? this.#thread.messages[0];
    showHead(this.#page, this.#parts, this.#session, first?.content);
  }

  /** Open the menu of a conversation, which few readers load. */
  async #openMenu(button, id) {
    const { startConversationMenu } = await importWithTexts(() => import("./conversation-menu.js"));
    this.#menu ??= startConversationMenu(this.#page, this.#parts, {
      onChange: (session) => this.#sessionChanged(session),
      onDelete: (deleted) => this.#deleted(deleted),
      lastShown: (shown) => (shown === this.#session?.id ? this.#thread.lastMessage?.id : null),
    });
    this.#menu.open(button, id);
  }

  #sessionChanged(session) {
    this.#list.refresh();
    if (session.id !== this.#session?.id) return;
    this.#conversation.session = session;
    this.#showHead();
  }

  #deleted(id) {
    if (id === this.#session?.id) location.assign("/");
    else this.#list.refresh();
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
