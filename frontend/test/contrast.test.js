import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const TEXT = 4.5;
const CONTROL = 3;
const PAIRS = [
  ...["ink", "ink-soft", "ink-faint", "accent", "good", "warning", "bad"].map((ink) => [ink, "paper", TEXT]),
  ...["ink", "ink-soft", "ink-faint", "accent"].map((ink) => [ink, "surface", TEXT]),
  ...["ink-soft", "ink-faint"].map((ink) => [ink, "sunken", TEXT]),
  ["ink-faint", "accent-wash", TEXT],
  ["accent", "accent-wash", TEXT],
  ["ink-soft", "mark-wash", TEXT],
  ["bad", "bad-wash", TEXT],
  ["on-accent", "accent", TEXT],
  ["on-accent", "accent-strong", TEXT],
  ["on-bad", "bad", TEXT],
  ["on-mark", "mark", TEXT],
  ["on-mark", "mark-strong", TEXT],
  ...["accent", "recognised", "bad"].map((mark) => [mark, "sunken", CONTROL]),
  ["line-strong", "paper", CONTROL],
  ["line-strong", "surface", CONTROL],
];

const css = readFileSync(new URL("../css/tokens.css", import.meta.url), "utf8");
const COLOUR = /--([a-z-]+): (?:light-dark\((#\w{6}), (#\w{6})\)|(#\w{6}));/g;
const tokens = new Map([...css.matchAll(COLOUR)].map(([, name, light, dark, both]) => [name, { light: light ?? both, dark: dark ?? both }]));

function luminance(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

for (const theme of ["light", "dark"]) {
  test(`text and controls stand out enough in the ${theme} theme`, () => {
    for (const [ink, ground, least] of PAIRS) {
      const found = contrast(tokens.get(ink)[theme], tokens.get(ground)[theme]);
      assert.ok(found >= least, `${ink} on ${ground}: ${found.toFixed(2)}, not ${least}`);
    }
  });
}
