// Bundles src/ and css/ into dist/, which Django serves as static files. `--watch` rebuilds on change.
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import esbuild from "esbuild";
import { ICONS } from "./icons.js";

const OUT = "dist";
const require = createRequire(import.meta.url);

const shared = { bundle: true, minify: true, target: "es2022", legalComments: "linked", logLevel: "info" };

const bundles = [
  { ...shared, entryPoints: { app: "src/app.js" }, outdir: OUT, format: "esm" },
  // Runs before the first paint, so it can't be a (deferred) module.
  { ...shared, entryPoints: { theme: "src/theme.js" }, outdir: OUT, format: "iife" },
  {
    ...shared,
    entryPoints: { app: "css/app.css", admin: "css/admin.css" },
    outdir: OUT,
    // light-dark() and nesting are left as they are: every browser that runs our JS knows them.
    target: "esnext",
    loader: { ".woff2": "file" },
    assetNames: "fonts/[name]",
  },
];

/** One SVG with a <symbol> per icon, so that a page loads them all once. */
async function sprite() {
  const folder = join(dirname(require.resolve("lucide-static/package.json")), "icons");
  const symbols = await Promise.all(
    ICONS.map(async (name) => {
      const svg = await readFile(join(folder, `${name}.svg`), "utf8");
      const shapes = svg.slice(svg.indexOf(">", svg.indexOf("<svg")) + 1, svg.lastIndexOf("</svg>"));
      return `<symbol id="${name}" viewBox="0 0 24 24">${shapes.replace(/\s*\n\s*/g, "")}</symbol>`;
    }),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join("")}</svg>\n`;
}

async function build() {
  await rm(OUT, { recursive: true, force: true });
  await mkdir(OUT);
  await writeFile(join(OUT, "icons.svg"), await sprite());
  await cp("static", OUT, { recursive: true });
  if (!process.argv.includes("--watch")) return Promise.all(bundles.map((options) => esbuild.build(options)));
  const contexts = await Promise.all(bundles.map((options) => esbuild.context(options)));
  return Promise.all(contexts.map((context) => context.watch()));
}

await build();
