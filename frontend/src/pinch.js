// Sizing a page with two fingers, or with the wheel while Ctrl is held.
import { library } from "./pdf-library.js";

/** How much one notch of a wheel changes the size. */
const WHEEL = 0.0025;
/** The page is drawn anew so long after the fingers rest; until then it is stretched. */
const DRAWING_DELAY_MS = 300;

export function startPinch(container, viewer, signal) {
  let start = null;

  const resize = (wanted, origin) => {
    viewer.updateScale({ scaleFactor: wanted / viewer.currentScale, drawingDelay: DRAWING_DELAY_MS, origin });
  };
  // The library rounds sizes, so small steps must be counted from where the fingers began.
  const pinch = (origin, before, now) => {
    start ??= { distance: before, scale: viewer.currentScale };
    resize((start.scale * now) / start.distance, origin);
  };
  const end = () => (start = null);
  new library.TouchManager({ container, signal, onPinchStart: end, onPinching: pinch, onPinchEnd: end });

  let wheel = null;
  container.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    if (!wheel || event.timeStamp - wheel.at > 500) wheel = { scale: viewer.currentScale };
    wheel.at = event.timeStamp;
    wheel.scale *= Math.exp(-Math.max(-100, Math.min(100, event.deltaY)) * WHEEL);
    resize(wheel.scale, [event.clientX, event.clientY]);
  }, { passive: false, signal });
}
