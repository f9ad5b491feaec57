// The waveform of a recording on a canvas: a bar for each few peaks, those that were heard in another colour.

const [BAR, GAP] = [3, 2];

/** The peaks as so many bars: the loudest of each stretch, 0 to 1. */
export function barsOf(peaks, count) {
  if (!peaks.length) return Array.from({ length: count }, () => 0);
  return Array.from({ length: count }, (_, at) => {
    const from = Math.floor((at * peaks.length) / count);
    const to = Math.max(from + 1, Math.floor(((at + 1) * peaks.length) / count));
    return Math.max(...peaks.slice(from, to)) / 100;
  });
}

/** Draw them; `heard` is the share that lies before the present moment. */
export function drawPeaks(canvas, peaks, heard) {
  const { clientWidth: width, clientHeight: height } = canvas;
  if (!width || !height) return;
  const scale = Math.min(devicePixelRatio, 2);
  if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
  if (canvas.height !== Math.round(height * scale)) canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  // Computed colours: a canvas does not know variables.
  const style = getComputedStyle(canvas);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  const count = Math.max(1, Math.floor(width / (BAR + GAP)));
  for (const [at, peak] of barsOf(peaks, count).entries()) {
    const size = Math.max(2, peak * height * 0.9);
    context.fillStyle = at / count < heard ? style.color : style.borderTopColor;
    context.fillRect((at * width) / count, (height - size) / 2, BAR, size);
  }
}
