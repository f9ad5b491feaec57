// A chunk's text for reading: where a quote stands in it, and which of its lines are a table.

/** `[start, end]` of `quote` in `text`, or null. Line breaks may differ between the two: white space is white space. */
export function locate(text, quote) {
  const words = quote?.trim().split(/\s+/).filter(Boolean) ?? [];
  if (!words.length) return null;
  const match = new RegExp(words.map(escaped).join("\\s+"), "u").exec(text);
  return match && [match.index, match.index + match[0].length];
}

const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\\/]/g, "\\$&");

/** The pieces of `text[start:end]` before, in and after `range`, which may be null. */
export function pieces(text, [start, end], range) {
  if (!range || range[1] <= start || range[0] >= end) return [text.slice(start, end), "", ""];
  const [from, to] = [Math.max(start, range[0]), Math.min(end, range[1])];
  return [text.slice(start, from), text.slice(from, to), text.slice(to, end)];
}

const RULE = /^\|(\s*:?-+:?\s*\|)+\s*$/;

/** The text in blocks: `{text: [start, end]}`, and `{head, rows}` of Markdown tables with the `[start, end]` of cells. */
export function blocksOf(text) {
  const lines = linesOf(text);
  const blocks = [];
  for (let at = 0; at < lines.length; at += 1) {
    const next = lines[at + 1];
    if (isRow(text, lines[at]) && next && RULE.test(text.slice(...next))) {
      const past = lines.findIndex((line, index) => index > at && !isRow(text, line));
      const end = past < 0 ? lines.length : past;
      blocks.push({ head: cellsOf(text, lines[at]), rows: lines.slice(at + 2, end).map((line) => cellsOf(text, line)) });
      at = end - 1;
    } else if (blocks.at(-1)?.text) blocks.at(-1).text[1] = lines[at][1];
    else blocks.push({ text: [...lines[at]] });
  }
  return blocks.filter((block) => block.head || text.slice(...block.text).trim());
}

/** A table that names no column has a header without words, which Markdown needs and nobody else. */
export const saysAnything = (places) => places.some(([start, end]) => end > start);

const isRow = (text, [start, end]) => text[start] === "|" && text.slice(start, end).trimEnd().endsWith("|");

function linesOf(text) {
  let at = 0;
  return text.split("\n").map((line) => {
    const place = [at, at + line.length];
    at += line.length + 1;
    return place;
  });
}

/** The cells between the bars of a line, without the space around them. */
function cellsOf(text, [start, end]) {
  const cells = [];
  let from = start + 1;
  for (let at = from; at < end; at += 1) {
    if (text[at] !== "|" || text[at - 1] === "\\") continue;
    cells.push(trimmed(text, from, at));
    from = at + 1;
  }
  return cells;
}

function trimmed(text, from, to) {
  const cell = text.slice(from, to);
  const start = from + cell.length - cell.trimStart().length;
  return [start, Math.max(start, from + cell.trimEnd().length)];
}

/** The cells of a quoted row of a table that are not empty, each under the name of its column: `[{name, value}]`; null of other text. */
export function rowOf({ text, header }) {
  const cells = textsOf(text);
  if (!cells) return null;
  const names = textsOf(header?.text ?? "") ?? [];
  const isAligned = names.length === cells.length;
  // The sign of the next column's amounts often stands at the end of a cell.
  return cells.map((value, at) => ({ name: isAligned ? names[at] : "", value: value.replace(/ \$$/, "") })).filter(({ value }) => value);
}

function textsOf(text) {
  const line = [0, text.trimEnd().length];
  return isRow(text, line) && !text.includes("\n") ? cellsOf(text, line).map((cell) => text.slice(...cell)) : null;
}
