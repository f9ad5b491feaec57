// An answer that is being written: each event changes its state, and each frame shows it once.
import { leaveForLogin } from "./api.js";
import { isOver, reduce } from "./execution.js";
import { Reader } from "./reader.js";
import { ToolStream } from "./tool-stream.js";

/**
 * Keep the newest answer of a turn up to date; returns its stream, which is to be started or resumed. `onBegun(state)` is
 * called when the server has the question, `onChange(state)` once a frame, `onEnd(state)` at the end.
 */
export function followAnswer(entry, url, { onBegun, onChange, onEnd }) {
  let painting = 0;
  const reader = new Reader();
  return new ToolStream(url, {
    onEvent: (message) => {
      const before = entry.states.at(-1);
      const state = reduce(before, message);
      entry.states[entry.states.length - 1] = state;
      if (state.error?.code === "unauthenticated") return leaveForLogin();
      if (state.id !== before.id) onBegun(state);
      reader.follow(state);
      painting ||= requestAnimationFrame(() => {
        painting = 0;
        onChange(entry.states.at(-1));
      });
      if (isOver(state)) onEnd(state);
      return undefined;
    },
    onInterrupted: () => entry.view.element.classList.add("is-interrupted"),
    onResumed: () => entry.view.element.classList.remove("is-interrupted"),
  });
}
