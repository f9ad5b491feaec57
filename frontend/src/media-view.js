// A recording: our own player with its waveform, above a transcript that follows what is heard.
import { statusOf } from "./activity.js";
import { get } from "./api.js";
import { h, icon } from "./dom.js";
import { clock, placeInWords } from "./format.js";
import { Player } from "./media/player.js";
import { Transcript } from "./media/transcript.js";
import { quotedRange } from "./reading/stretches.js";
import { isVideo } from "./view-mode.js";
import { t } from "./texts.js";

export class MediaView {
  static words = { stage: t("Recording"), previous: t("Previous sentence"), next: t("Next sentence") };
  static tools = [];

  #parts;
  #document;
  #place;
  #player;
  #transcript = null;
  #stop = new AbortController();

  constructor({ parts, document, place }) {
    this.#parts = parts;
    this.#document = document;
    this.#place = place;
  }

  async show() {
    const { stage, tools, where } = this.#parts;
    const { id, name, duration } = this.#document;
    tools.hidden = true;
    where.textContent = duration ? t("{time} long", { time: clock(duration) }) : "";
    const media = h(isVideo(this.#document) ? "video" : "audio", { preload: "metadata", playsinline: true, src: `/api/v1/documents/${id}/file`, "aria-label": name });
    this.#player = new Player(media, { duration: duration ?? 0, onTime: (time) => this.#heard(time) });
    media.addEventListener("error", () => this.#player.element.replaceWith(unplayable()));
    const list = h("div", { class: "transcript-holder" });
    stage.replaceChildren(h("div", { class: isVideo(this.#document) ? "recording is-video" : "recording" }, this.#player.element, list));
    stage.addEventListener("keydown", (event) => this.#key(event), { signal: this.#stop.signal });
    this.#showWaveform();
    await this.#showTranscript(list);
  }

  /** Another place in the same recording. */
  async showPlace(place) {
    this.#place = place;
    this.#player.pause();
    if (this.#transcript) await this.#cite();
  }

  step(by) {
    const sentence = this.#transcript?.near(this.#player.time, by);
    if (sentence) this.#goTo(sentence);
  }

  link() {
    return this.#isAtPlace() ? {} : { chunk: null, t: Math.floor(this.#player.time) };
  }

  leave() {
    this.#stop.abort();
    this.#player?.leave();
  }

  async #showWaveform() {
    // Without it the bar is plain; the recording can be heard all the same.
    const waveform = await get(`/documents/${this.#document.id}/waveform`).catch(() => null);
    if (waveform && !this.#stop.signal.aborted) this.#player.showPeaks(waveform.peaks);
  }

  async #showTranscript(holder) {
    const blocks = await allBlocks(this.#document.id);
    if (this.#stop.signal.aborted) return;
    if (!blocks.length) {
      holder.replaceChildren(h("p", { class: "recording-empty" }, noTranscript(this.#document)));
      if (this.#place.startTime) this.#player.seek(this.#place.startTime);
      return;
    }
    this.#transcript = new Transcript(blocks, { onChoose: (sentence) => this.#play(sentence) });
    holder.replaceChildren(this.#transcript.element);
    this.#parts.tools.hidden = false;
    await this.#cite();
  }

  /** Mark the quote in the transcript and on the waveform, and go there. */
  async #cite() {
    const chunk = this.#place.chunkId ? await get(`/chunks/${this.#place.chunkId}`).catch(() => null) : null;
    if (this.#stop.signal.aborted) return;
    const range = chunk && (quotedRange(chunk.text, this.#place) ?? [0, Array.from(chunk.text).length]);
    const cited = chunk ? this.#transcript.cite(chunk.id, range) : [];
    // The whole chunk is pale, the quote strong.
    this.#player.showMarks(chunk ? { chunk: [chunk.start_time, chunk.end_time], quote: timesOf(cited, this.#place, chunk) } : null);
    const start = this.#place.startTime ?? cited[0]?.start_time;
    if (chunk && start !== undefined && start !== null) this.#player.seek(start);
    else if (this.#place.startTime) this.#player.seek(this.#place.startTime);
    this.#follow(start ?? 0, { scroll: Boolean(chunk), where: chunk && placeInWords(chunk) });
  }

  #goTo(sentence) {
    this.#player.seek(sentence.start_time);
    this.#follow(sentence.start_time, { scroll: true });
  }

  #play(sentence) {
    this.#player.seek(sentence.start_time);
    this.#follow(sentence.start_time, { scroll: false });
    this.#player.play();
  }

  #heard(time) {
    this.#follow(time, { scroll: !this.#player.isPaused });
  }

  #follow(time, { scroll, where = null }) {
    const { previous, next, back } = this.#parts;
    const sentence = this.#transcript?.mark(time, { scroll });
    if (where) this.#parts.where.textContent = where;
    else if (sentence) this.#parts.where.textContent = `${clock(sentence.start_time)} – ${clock(sentence.end_time)}`;
    previous.disabled = !this.#transcript?.near(time, -1);
    next.disabled = !this.#transcript?.near(time, 1);
    back.hidden = this.#isAtPlace() || !this.#transcript?.hasCited;
  }

  #isAtPlace() {
    return this.#transcript?.isCitedNow ?? true;
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const isButton = event.target.closest("button, a");
    const actions = {
      " ": isButton ? null : () => this.#player.toggle(),
      k: () => this.#player.toggle(),
      ArrowLeft: () => this.#player.skip(-5),
      ArrowRight: () => this.#player.skip(5),
      j: () => this.#player.skip(-10),
      l: () => this.#player.skip(10),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

function timesOf(cited, place, chunk) {
  if (cited.length) return [cited[0].start_time, cited.at(-1).end_time];
  return [place.startTime ?? chunk.start_time, chunk.end_time];
}

async function allBlocks(id) {
  const blocks = [];
  let part = { next: `/documents/${id}/reading?limit=200` };
  while (part.next) {
    part = await get(part.next);
    blocks.push(...part.blocks);
  }
  return blocks.filter((block) => block.sentences?.length);
}

const noTranscript = (document) => (statusOf(document).busy ? t("There is no transcript yet.") : t("There is no transcript."));

function unplayable() {
  return h("p", { class: "notice viewer-notice" }, icon("triangle-alert"), t("This recording can’t be played here. Open the original file instead."));
}

