// Thumbs under an answer. With a thumb down one may say why; all of it goes to whoever runs this installation.
import { del, put } from "./api.js";
import { h, icon, toast } from "./dom.js";
import { importWithTexts, t } from "./texts.js";

/**
 * `{buttons, panel}` for the answer of an execution; `feedback` is what was said before, or null, and
 * `onRated({rating} | null)` is called when that changes.
 */
export function feedbackOf(executionId, feedback, onRated) {
  const path = `/executions/${encodeURIComponent(executionId)}/feedback`;
  const panel = h("div", { class: "feedback-panel" });
  const up = thumb(icon("thumbs-up"), t("Good answer"), () => rate("up"));
  const down = thumb(icon("thumbs-down"), t("Bad answer"), () => rate("down"));
  let rating = feedback?.rating ?? null;

  async function rate(chosen) {
    const taken = rating === chosen;
    try {
      await (taken ? del(path) : put(path, { rating: chosen }));
    } catch (error) {
      return toast(error.message, { error: true });
    }
    show(taken ? null : chosen);
    onRated(rating && { rating });
    panel.replaceChildren(...(rating ? [thanks()] : []));
    if (rating === "down") await askWhy();
    panel.scrollIntoView({ block: "nearest" });
    return undefined;
  }

  async function askWhy() {
    const { reasonForm } = await importWithTexts(() => import("./feedback-reasons.js"));
    if (rating !== "down") return;
    panel.replaceChildren(reasonForm(path, () => panel.replaceChildren(thanks())));
    panel.querySelector("input").focus({ preventScroll: true });
  }

  function show(chosen) {
    rating = chosen;
    up.setAttribute("aria-pressed", String(rating === "up"));
    down.setAttribute("aria-pressed", String(rating === "down"));
  }

  show(rating);
  return { buttons: [up, down], panel };
}

const thumb = (sign, words, onclick) => h("button", { class: "answer-action answer-thumb", type: "button", title: words, "aria-label": words, onclick }, sign);

const thanks = () => h("p", { class: "feedback-thanks", role: "status" }, t("Thank you."));
