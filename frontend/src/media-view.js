// A recording: the browser's own player above the transcript, which follows what is heard.
import { statusOf } from "./activity.js";
import { get, withQuery } from "./api.js";
import { h, icon } from "./dom.js";
import { clock, placeInWords } from "./format.js";
import { passageNodes } from "./passage-view.js";
import { isVideo } from "./view-mode.js";

export class MediaView {
  #parts;
  #document;
  #place;
  #player;
  #segments = [];
  #now = -1;
  #left = false;

  constructor({ parts, document, place }) {
    this.#parts = parts;
    this.#document = document;
    this.#place = place;
  }

  async show() {
    const { stage, tools, where } = this.#parts;
    tools.hidden = true;
    where.textContent = this.#document.duration ? `${clock(this.#document.duration)} long` : "";
    this.#player = this.#makePlayer();
    const list = h("ol", { class: "transcript", "aria-label": "Transcript" });
    stage.replaceChildren(h("div", { class: "recording" }, this.#player, list));
    const chunks = await allChunks(this.#document.id);
    if (this.#left) return;
    this.#segments = chunks.map((chunk, at) => this.#segment(chunk, at));
    list.append(...this.#segments.map(({ element }) => element));
    if (!chunks.length) list.replaceWith(h("p", { class: "recording-empty" }, noTranscript(this.#document)));
    tools.hidden = chunks.length < 2;
    const cited = this.#citedAt();
    this.#mark(cited < 0 ? 0 : cited, { scroll: cited >= 0 });
    if (cited >= 0) this.#seek(this.#startOfPlace());
  }

  step(by) {
    const next = this.#segments[this.#now + by];
    if (!next) return;
    this.#seek(next.chunk.start_time);
    this.#mark(this.#now + by, { scroll: true });
  }

  goTo() {}

  zoom() {}

  leave() {
    this.#left = true;
    this.#player?.pause();
  }

  #makePlayer() {
    const { id, name } = this.#document;
    const src = `/api/v1/documents/${id}/file`;
    const player = h(isVideo(this.#document) ? "video" : "audio", { class: "player", controls: true, preload: "metadata", src, "aria-label": name });
    player.addEventListener("timeupdate", () => this.#heard());
    player.addEventListener("error", () => player.replaceWith(unplayable()));
    return player;
  }

  #segment(chunk, at) {
    const quote = chunk.id === this.#place.chunkId ? this.#place.quoteText : null;
    const play = () => {
      this.#seek(chunk.start_time);
      this.#mark(at, { scroll: false });
      this.#player.play().catch(() => {}); // What can't be played has said so already.
    };
    const label = `Play from ${clock(chunk.start_time)}`;
    const button = h("button", { class: "segment-time", type: "button", onclick: play, "aria-label": label, title: label }, clock(chunk.start_time));
    const element = h("li", { class: "segment", "data-chunk": chunk.id }, button, h("div", { class: "segment-text" }, passageNodes(chunk, quote)));
    element.classList.toggle("is-cited", chunk.id === this.#place.chunkId);
    return { chunk, element };
  }

  #citedAt() {
    return this.#segments.findIndex(({ chunk }) => chunk.id === this.#place.chunkId);
  }

  #startOfPlace() {
    return this.#place.startTime ?? this.#segments[this.#citedAt()].chunk.start_time;
  }

  #seek(time) {
    const go = () => (this.#player.currentTime = time);
    if (this.#player.readyState >= HTMLMediaElement.HAVE_METADATA) go();
    else this.#player.addEventListener("loadedmetadata", go, { once: true });
  }

  #heard() {
    const time = this.#player.currentTime;
    const at = this.#segments.findLastIndex(({ chunk }) => chunk.start_time <= time + 0.05);
    if (at >= 0 && at !== this.#now) this.#mark(at, { scroll: !this.#player.paused });
  }

  #mark(at, { scroll }) {
    if (!this.#segments[at]) return;
    this.#segments[this.#now]?.element.removeAttribute("aria-current");
    this.#now = at;
    const { chunk, element } = this.#segments[at];
    element.setAttribute("aria-current", "true");
    const { where, previous, next, back } = this.#parts;
    where.textContent = placeInWords(chunk);
    previous.disabled = at === 0;
    next.disabled = at === this.#segments.length - 1;
    const cited = this.#citedAt();
    back.hidden = cited < 0 || cited === at;
    if (scroll) element.scrollIntoView({ block: "nearest" });
  }
}

async function allChunks(id) {
  const chunks = [];
  let page = { next: withQuery(`/documents/${id}/chunks`, { limit: 200 }) };
  while (page.next) {
    page = await get(page.next);
    chunks.push(...page.results);
  }
  return chunks.filter((chunk) => chunk.start_time !== null);
}

const noTranscript = (document) => (statusOf(document).busy ? "There is no transcript yet." : "There is no transcript.");

function unplayable() {
  return h("p", { class: "notice viewer-notice" }, icon("triangle-alert"), "This recording can’t be played here. Open the original file instead.");
}
