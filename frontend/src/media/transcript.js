// The transcript: each sentence with its time; the one that is heard is marked, and a click goes there.
import { h } from "../dom.js";
import { clock } from "../format.js";
import { piecesOf, unitsOf } from "../reading/stretches.js";
import { t } from "../texts.js";

/** So many seconds early still count as within a sentence: players stop a little before where they were sent. */
const EARLY = 0.05;

export class Transcript {
  #sentences;
  #now = -1;

  /** `blocks` are those of the API, with sentences; `onChoose(sentence)` is called for a click. */
  constructor(blocks, { onChoose }) {
    let speaker;
    this.#sentences = blocks.flatMap((block) =>
      block.sentences.map((sentence) => {
        const begins = block.speaker && block.speaker !== speaker;
        speaker = block.speaker;
        return this.#sentence(block, sentence, begins ? speakerName(block.speaker) : null, onChoose);
      }),
    );
    this.element = h("ol", { class: "transcript", "aria-label": t("Transcript") }, this.#sentences.map(({ element }) => element));
  }

  /** Mark a quote; returns the sentences that it touches. */
  cite(chunkId, range) {
    for (const sentence of this.#sentences) {
      const isOfChunk = sentence.chunkId === chunkId;
      sentence.isCited = isOfChunk && sentence.start < range[1] && range[0] < sentence.end;
      sentence.element.classList.toggle("is-of-chunk", isOfChunk);
      sentence.words.replaceChildren(...nodesOf(sentence, sentence.isCited ? range : null));
    }
    return this.#sentences.filter(({ isCited }) => isCited);
  }

  get hasCited() {
    return this.#sentences.some(({ isCited }) => isCited);
  }

  get isCitedNow() {
    return Boolean(this.#sentences[this.#now]?.isCited);
  }

  /** Mark the sentence that is heard at a time; returns it. */
  mark(time, { scroll }) {
    const at = Math.max(0, this.#at(time));
    const sentence = this.#sentences[at];
    if (at === this.#now) return sentence;
    this.#sentences[this.#now]?.element.removeAttribute("aria-current");
    this.#now = at;
    sentence.element.setAttribute("aria-current", "true");
    if (scroll) sentence.element.scrollIntoView({ block: "nearest" });
    return sentence;
  }

  /** The sentence so many before or after the one at a time; undefined beyond the ends. */
  near(time, by) {
    return this.#sentences[Math.max(0, this.#at(time)) + by];
  }

  #at(time) {
    return this.#sentences.findLastIndex((sentence) => sentence.start_time <= time + EARLY);
  }

  /** `speaker` is named where another one begins to speak; null elsewhere. */
  #sentence(block, { start, end, start_time, end_time }, speaker, onChoose) {
    const [from, to] = unitsOf(block.text, [start - block.start, end - block.start]);
    const sentence = { chunkId: block.chunk_id, start, end, start_time, end_time, text: block.text.slice(from, to), isCited: false };
    const label = t("Play from {clock}", { clock: clock(start_time) });
    sentence.words = h("span", { class: "segment-words" }, sentence.text);
    const time = h("button", { class: "segment-time", type: "button", "aria-label": label, title: label, onclick: () => onChoose(sentence) }, clock(start_time));
    const hears = () => document.getSelection()?.isCollapsed !== false && onChoose(sentence);
    const named = speaker && h("span", { class: "segment-speaker" }, speaker, h("span", { class: "visually-hidden" }, ": "));
    const text = h("p", { class: "segment-text", onclick: hears }, named, sentence.words);
    sentence.element = h("li", { class: "segment", "data-chunk": block.chunk_id }, time, text);
    return sentence;
  }
}

/** The API names the channel on which somebody speaks: “channel 2”. */
function speakerName(speaker) {
  const [, kind, number] = /^(channel|speaker) (\d+)$/.exec(speaker) ?? [];
  if (!number) return speaker;
  return kind === "channel" ? t("Channel {number}", { number }) : t("Speaker {number}", { number });
}

function nodesOf({ text, start }, range) {
  return piecesOf(text, start, range).map((piece) => (piece.isQuoted ? h("mark", { class: "place-text" }, piece.text) : piece.text));
}
