// The player of a recording: play, ten seconds back and on, speed, and the waveform, on which one can go anywhere.
import { h, icon } from "../dom.js";
import { clock } from "../format.js";
import { recall, remember } from "../remembered.js";
import { drawPeaks } from "./waveform.js";
import { t } from "../texts.js";

const SPEEDS = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2];
const SPEED = "recording speed";

export class Player {
  #media;
  #duration;
  #onTime;
  #play;
  #now;
  #bar;
  #canvas;
  #marks;
  #speed;
  #peaks = [];
  #resize;
  #waiting = null;

  /** `media` is an audio or video element; `onTime(seconds)` hears where it is. */
  constructor(media, { duration, onTime }) {
    this.#media = media;
    this.#duration = duration;
    this.#onTime = onTime;
    this.element = this.#make();
    media.addEventListener("timeupdate", () => this.#moved());
    media.addEventListener("seeking", () => this.#moved());
    for (const name of ["play", "pause", "ended"]) media.addEventListener(name, () => this.#showState());
    media.addEventListener("loadedmetadata", () => this.#loaded());
    this.#resize = new ResizeObserver(() => this.#draw());
    this.#resize.observe(this.#canvas);
  }

  get time() {
    return this.#waiting ?? this.#media.currentTime;
  }

  get isPaused() {
    return this.#media.paused;
  }

  play() {
    this.#media.play().catch(() => {}); // What can't be played has said so already.
  }

  pause() {
    this.#media.pause();
  }

  toggle() {
    if (this.#media.paused) this.play();
    else this.pause();
  }

  seek(time) {
    const within = Math.max(0, this.#duration ? Math.min(time, this.#duration) : time);
    if (this.#media.readyState >= HTMLMediaElement.HAVE_METADATA) this.#media.currentTime = within;
    else this.#waiting = within;
    this.#show(within);
  }

  skip(seconds) {
    this.seek(this.time + seconds);
    this.#onTime(this.time);
  }

  showPeaks(peaks) {
    this.#peaks = peaks;
    this.#draw();
  }

  /** `{chunk: [start, end], quote: [start, end]}` in seconds, or null. */
  showMarks(marks) {
    this.#marks.replaceChildren(...Object.entries(marks ?? {}).map(([name, [start, end]]) => {
      const mark = h("span", { class: `wave-${name}` });
      mark.style.left = `${this.#percent(start)}%`;
      mark.style.width = `${Math.max(0.4, this.#percent(end) - this.#percent(start))}%`;
      return mark;
    }));
  }

  leave() {
    this.#media.pause();
    this.#resize.disconnect();
  }

  #make() {
    this.#play = h("button", { class: "play-button", type: "button", "aria-label": t("Play"), title: t("Play (space)"), onclick: () => this.toggle() }, icon("play"));
    const back = h("button", { class: "icon-button skip-button", type: "button", "aria-label": t("10 seconds back"), title: t("10 seconds back (J)"), onclick: () => this.skip(-10) }, icon("rotate-ccw"), h("span", { "aria-hidden": "true" }, "10"));
    const on = h("button", { class: "icon-button skip-button", type: "button", "aria-label": t("10 seconds on"), title: t("10 seconds on (L)"), onclick: () => this.skip(10) }, icon("rotate-cw"), h("span", { "aria-hidden": "true" }, "10"));
    this.#now = h("span", { class: "player-now" }, "0:00");
    const total = h("span", { class: "player-total" }, clock(this.#duration));
    this.#speed = h("select", { class: "player-speed", "aria-label": t("Speed"), onchange: () => this.#setSpeed(Number(this.#speed.value)) }, SPEEDS.map((speed) => h("option", { value: String(speed) }, `${speed}×`)));
    this.#setSpeed(Number(recall(SPEED)) || 1);
    this.#canvas = h("canvas", { class: "wave", "aria-hidden": "true" });
    this.#marks = h("div", { class: "wave-marks", "aria-hidden": "true" });
    this.#bar = h("input", { class: "wave-range", type: "range", min: "0", max: String(this.#duration || 1), step: "0.1", value: "0", "aria-label": t("Position"), oninput: () => this.#dragged() });
    const times = h("p", { class: "player-times" }, this.#now, " / ", total);
    return h("div", { class: "player" }, this.#media, h("div", { class: "wave-holder" }, this.#marks, this.#canvas, this.#bar), h("div", { class: "player-tools" }, back, this.#play, on, times, this.#speed));
  }

  #setSpeed(speed) {
    const known = SPEEDS.includes(speed) ? speed : 1;
    this.#speed.value = String(known);
    this.#media.playbackRate = known;
    this.#media.defaultPlaybackRate = known;
    remember(SPEED, String(known));
  }

  #dragged() {
    this.seek(Number(this.#bar.value));
    this.#onTime(this.time);
  }

  #loaded() {
    if (!this.#duration && Number.isFinite(this.#media.duration)) {
      this.#duration = this.#media.duration;
      this.#bar.max = String(this.#duration);
    }
    if (this.#waiting === null) return;
    const time = this.#waiting;
    this.#waiting = null;
    this.#media.currentTime = time;
  }

  #moved() {
    if (this.#waiting !== null) return;
    this.#show(this.#media.currentTime);
    this.#onTime(this.#media.currentTime);
  }

  #show(time) {
    this.#now.textContent = clock(time);
    this.#bar.value = String(time);
    this.#bar.setAttribute("aria-valuetext", t("{time} of {length}", { time: clock(time), length: clock(this.#duration) }));
    this.#draw();
  }

  #showState() {
    const words = this.#media.paused ? t("Play") : t("Pause");
    this.#play.setAttribute("aria-label", words);
    this.#play.title = `${words} (space)`;
    this.#play.replaceChildren(this.#media.paused ? icon("play") : icon("pause"));
  }

  #percent(time) {
    return this.#duration ? (100 * Math.min(time, this.#duration)) / this.#duration : 0;
  }

  #draw() {
    drawPeaks(this.#canvas, this.#peaks, this.#percent(this.time) / 100);
  }
}
