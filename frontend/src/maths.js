// Formulas in answers, written as TeX: `$…$`, `$$…$$`, `\(…\)` and `\[…\]` become MathML once the library is loaded.

/** A longer formula is shown as it was written. */
const MOST_CHARS = 2000;
/** Commands that set inline styles, which the content security policy refuses. */
const UNSUPPORTED = /\\(pmb|prescript|sideset)\b/;
/** What tells a formula from the price in "$5 and $6": a command, a sign of TeX, or a single letter. */
const IS_FORMULA = /(^|[^\\])\\[A-Za-z]|(^|[^\\])[\^_]|[=<>]|^[A-Za-z]$/;

/** A plugin for markdown-it: formulas become tokens `formula` and `formula_block` with their TeX. */
export function formulas(md) {
  md.inline.ruler.before("escape", "formula", inlineFormula);
  md.block.ruler.before("fence", "formula", blockFormula, { alt: ["paragraph", "reference", "blockquote", "list"] });
}

function inlineFormula(state, silent) {
  if (!/[$\\]/.test(state.src[state.pos])) return false;
  const found = formulaAt(state.src.slice(state.pos, Math.min(state.posMax, state.pos + MOST_CHARS)));
  if (!found) return false;
  if (!silent) Object.assign(state.push("formula", "code", 0), { content: found.tex, meta: found });
  state.pos += found.size;
  return true;
}

/** The formula with which a text begins: `{tex, size, isBlock}`, or null. */
export function formulaAt(text) {
  const [open, close, isBlock] = [["$$", "$$", true], ["$", "$", false], ["\\(", "\\)", false]].find(([sign]) => text.startsWith(sign)) ?? [];
  const end = open ? text.indexOf(close, open.length) : -1;
  if (end < 0) return null;
  const tex = text.slice(open.length, end);
  if (open === "$" && !isBetweenDollars(tex, text[end + 1])) return null;
  return isFormula(tex) ? { tex: tex.trim(), size: end + close.length, isBlock } : null;
}

/** As in Pandoc: no space inside the dollars, and no digit behind them, as of the next price. */
const isBetweenDollars = (tex, next) => /^\S(?:.*\S)?$/s.test(tex) && !/\d/.test(next ?? "");

const isFormula = (tex) => tex.trim() !== "" && IS_FORMULA.test(tex.trim()) && !UNSUPPORTED.test(tex);

/** A formula in lines of its own, between `$$` or `\[` and `\]`. */
function blockFormula(state, startLine, endLine, silent) {
  const lineAt = (line) => state.src.slice(state.bMarks[line] + state.tShift[line], state.eMarks[line]).trim();
  const first = lineAt(startLine);
  const [open, close] = [["$$", "$$"], ["\\[", "\\]"]].find(([sign]) => first.startsWith(sign)) ?? [];
  if (!open) return false;
  const lines = [];
  let size = 0;
  for (let line = startLine; line < endLine && size <= MOST_CHARS; line += 1) {
    const text = line === startLine ? first.slice(open.length) : lineAt(line);
    lines.push(text);
    size += text.length;
    if (!text.endsWith(close)) continue;
    const tex = lines.join("\n").slice(0, -close.length).trim();
    if (!isFormula(tex)) return false;
    if (!silent) {
      Object.assign(state.push("formula_block", "code", 0), { content: tex, block: true, map: [startLine, line + 1] });
      state.line = line + 1;
    }
    return true;
  }
  return false;
}

let library = null;
const rendered = new Map();

/** Replace the TeX in `element` by MathML, at once where the formula is known, else as soon as the library is there. */
export function renderFormulas(element) {
  const waiting = [...element.querySelectorAll("code.maths")].filter((code) => !show(code));
  if (!waiting.length) return;
  library ??= import("temml");
  library.then(({ default: temml }) => {
    for (const code of waiting) {
      translate(temml, code);
      if (code.isConnected) show(code);
    }
  }, () => (library = null)); // The TeX stays readable, and the next answer tries again.
}

const keyOf = (code) => `${code.classList.contains("is-block")} ${code.textContent}`;

function show(code) {
  const formula = rendered.get(keyOf(code));
  if (!formula) return formula === null;
  const place = code.parentElement.matches(".maths-block") ? code.parentElement : code;
  const box = document.createElement(place === code ? "span" : "div");
  box.className = place === code ? "formula" : "formula formula-block";
  box.append(formula.cloneNode(true));
  place.replaceWith(box);
  return true;
}

/** Nothing in a formula may lead or load anywhere: `trust` is off. What has an error stays as it was written. */
function translate(temml, code) {
  const key = keyOf(code);
  if (rendered.has(key)) return;
  const box = document.createElement("span");
  try {
    temml.render(code.textContent, box, { displayMode: code.classList.contains("is-block"), throwOnError: true, trust: false, maxExpand: 200, maxSize: [20, 20] });
    rendered.set(key, box.firstElementChild);
  } catch {
    rendered.set(key, null);
  }
}
