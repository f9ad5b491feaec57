// The list of sizes; one that is not in it, after a pinch, is shown beside them.
import { h } from "./dom.js";
import { percent } from "./format.js";
import { t } from "./texts.js";

const NAMED = { auto: t("Automatic"), "page-width": t("Fit width"), "page-fit": t("Fit page") };
const SIZES = [0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4];

export class ScaleList {
  #select;
  #other = h("option", { value: "other", hidden: true });

  constructor(select) {
    this.#select = select;
    const named = Object.entries(NAMED).map(([value, words]) => h("option", { value }, words));
    select.replaceChildren(...named, ...SIZES.map((size) => h("option", { value: String(size) }, percent(size))), this.#other);
  }

  /** Whether a size follows the room that there is. */
  static isFitting = (value) => value in NAMED;

  show(scale, preset) {
    const listed = preset && preset in NAMED ? preset : SIZES.find((size) => Math.abs(size - scale) < 0.005);
    this.#other.hidden = Boolean(listed);
    this.#other.textContent = percent(scale);
    this.#select.value = listed ? String(listed) : "other";
  }

  leave() {
    this.#select.replaceChildren();
  }
}
