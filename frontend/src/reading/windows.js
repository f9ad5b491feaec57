// The windows of a long document: each is loaded and drawn when it comes near the part in sight.
import { get, withQuery } from "../api.js";
import { h } from "../dom.js";
import { t } from "../texts.js";

const AHEAD = "1500px 0px";
/** A line of running text holds about so many characters and is so many pixels high. */
const [LINE_CHARS, LINE_PX] = [70, 29];
const AT_ONCE = 3;
/** The first window tells how far the estimate is off, within reason. */
const [LEAST, MOST] = [0.4, 5];

export class ReadingWindows {
  #documentId;
  #draw;
  #observer;
  #all;
  #byElement = new Map();
  #left = false;
  #turn = Promise.resolve();

  /** `draw(window)` returns the nodes of a loaded window: `{start, chunks, characters, sheet?, blocks, element}`. */
  constructor(documentId, windows, stage, draw) {
    this.#documentId = documentId;
    this.#draw = draw;
    this.#observer = new IntersectionObserver((entries) => this.#seen(entries), { root: stage, rootMargin: AHEAD });
    this.#all = windows.map((window) => {
      const element = h("section", { class: "reading-window is-empty" });
      element.style.setProperty("--height", `${estimate(window)}px`);
      const one = { ...window, element, blocks: null, loading: null, isDrawn: false };
      this.#byElement.set(element, one);
      return one;
    });
  }

  get all() {
    return this.#all;
  }

  /** The window that holds a chunk, by its position. */
  at(position) {
    return this.#all.findLast(({ start }) => start <= position) ?? this.#all[0];
  }

  /** Begin to draw what comes near. */
  watch() {
    for (const { element } of this.#all) this.#observer.observe(element);
  }

  load(window) {
    window.loading ??= get(withQuery(`/documents/${this.#documentId}/reading`, { start: window.start, limit: window.chunks }))
      .then(({ blocks }) => {
        window.blocks = blocks;
      })
      .catch((error) => {
        window.loading = null;
        throw error;
      });
    return window.loading;
  }

  /** Draw a window, in its turn: several at once would hold up the scrolling. */
  async show(window) {
    if (window.isDrawn) return undefined;
    await this.load(window);
    this.#turn = this.#turn.then(() => this.#drawn && nextFrame()).then(() => this.#drawNow(window));
    return this.#turn;
  }

  /** Learn from a drawn window how high the others will be. */
  calibrate(window) {
    const ratio = Math.min(MOST, Math.max(LEAST, window.element.offsetHeight / estimate(window)));
    for (const one of this.#all) one.element.style.setProperty("--height", `${Math.round(estimate(one) * ratio)}px`);
  }

  #drawn = 0;

  #drawNow(window) {
    if (window.isDrawn || this.#left) return;
    this.#drawn += 1;
    window.isDrawn = true;
    window.element.replaceChildren(...this.#draw(window));
    window.element.classList.remove("is-empty");
  }

  /** Draw a loaded window anew. */
  redraw(window) {
    if (!window.isDrawn) return;
    window.isDrawn = false;
    this.#drawNow(window);
  }

  /** Load all windows, a few at a time; `onLoaded` hears of each. */
  async loadAll(onLoaded, isWanted) {
    const queue = [...this.#all];
    const take = async () => {
      while (queue.length && isWanted() && !this.#left) {
        await this.load(queue.shift());
        onLoaded();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, take));
  }

  leave() {
    this.#left = true;
    this.#observer.disconnect();
  }

  #seen(entries) {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      this.show(this.#byElement.get(target)).then(
        () => this.#observer.unobserve(target),
        (error) => this.#failed(target, error),
      );
    }
  }

  #failed(element, error) {
    const again = h("button", { class: "button button-small", type: "button", onclick: () => this.#seen([{ isIntersecting: true, target: element }]) }, t("Try again"));
    element.replaceChildren(h("p", { class: "reading-failed" }, error.message, " ", again));
  }
}

const [TRIES, SETTLED_MS] = [8, 80];

/** Scroll to an element, again while the windows around it are drawn and move it. */
export async function bringIntoSight(element, block) {
  for (let tries = 0, still = 0; tries < TRIES && still < 2; tries += 1) {
    element.scrollIntoView({ block, inline: "nearest" });
    const { top } = element.getBoundingClientRect();
    await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
    still = Math.abs(element.getBoundingClientRect().top - top) < 2 ? still + 1 : 0;
  }
}

/** A page in the background has no frames. */
const nextFrame = () =>
  new Promise((resolve) => {
    requestAnimationFrame(resolve);
    setTimeout(resolve, 100);
  });

const estimate = ({ characters, chunks }) => Math.round((characters / LINE_CHARS + chunks * 2) * LINE_PX);
