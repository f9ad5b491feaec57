// Bundles src/ and css/ into dist/, which Django serves as static files. `--watch` rebuilds on change.
import { cp, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, parse } from "node:path";
import esbuild from "esbuild";
import { ICONS } from "./icons.js";

const OUT = "dist";
const require = createRequire(import.meta.url);

const shared = { bundle: true, minify: true, charset: "utf8", target: "es2022", legalComments: "external", logLevel: "info" };

/** A script for each page, so that none loads what only another needs. */
const pages = (await readdir("src/pages")).map((file) => [`page-${parse(file).name}`, `src/pages/${file}`]);

const bundles = [
  // What scripts share, and what a page loads on demand by `import()`, are chunks of their own. Their names have a hash of
  // their content: Django renames only what a page names, and a chunk names its siblings.
  {
    ...shared,
    entryPoints: { app: "src/app.js", "admin-records": "src/admin-records.js", ...Object.fromEntries(pages) },
    outdir: OUT,
    format: "esm",
    splitting: true,
    // What markdown-it would bring along, and answers don't need or the browser has.
    alias: {
      entities: "./src/entities.js",
      "linkify-it": "./src/no-addresses.js",
      mdurl: "./src/no-addresses.js",
      "punycode.js": "./src/no-addresses.js",
      "uc.micro": "./src/unicode-classes.js",
    },
    chunkNames: "[name]-[hash]",
    metafile: true,
    plugins: [{ name: "shared parts", setup: (building) => building.onEnd(writeSharedParts) }],
  },
  // They run before the first paint or in a worker, so they can't be (deferred) modules.
  { ...shared, entryPoints: { "before-paint": "src/before-paint.js", admin: "src/admin.js", "admin-alpine": "src/admin-alpine.js", "service-worker": "src/service-worker.js" }, outdir: OUT, format: "iife" },
  // What other sites embed: one file, with its styles and texts within (docs/adr/0075-widgets.md).
  { ...shared, entryPoints: { widget: "src/widget/widget.js" }, outdir: OUT, format: "iife", legalComments: "none", loader: { ".css": "text" } },
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

/** The parts of pdf.js that it loads itself, by the version: the worker must be that of the library in the bundle. */
async function pdfAssets() {
  const folder = dirname(require.resolve("pdfjs-dist/package.json"));
  const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const assets = join(OUT, `pdf-${version}`);
  for (const name of ["cmaps", "standard_fonts", "wasm", "iccs"]) await cp(join(folder, name), join(assets, name), { recursive: true });
  const worker = await readFile(join(folder, "legacy", "build", "pdf.worker.min.mjs"), "utf8");
  await writeFile(join(OUT, `pdf-worker-${version}.js`), worker.replace(/^\/\/# sourceMappingURL=.*$/m, ""));
}

/** For each page's script: the chunks that it imports, those of its chunks too, so that a page can ask for all at once,
 * and the modules of ours in all of them, whose texts it needs. */
async function writeSharedParts({ metafile }) {
  const outputs = metafile?.outputs ?? {};
  const partsOf = (file, parts = new Set()) => {
    for (const { kind, path } of outputs[file].imports) {
      if (kind === "import-statement" && !parts.has(path)) partsOf(path, parts.add(path));
    }
    return parts;
  };
  const isScript = ([, { entryPoint }]) => /^src\/(app|pages\/\w+)\.js$/.test(entryPoint ?? "");
  const scripts = Object.entries(outputs).filter(isScript);
  const ours = (file) => Object.keys(outputs[file].inputs).filter((path) => path.startsWith("src/"));
  const described = scripts.map(([file]) => {
    const parts = [...partsOf(file)];
    const modules = [file, ...parts].flatMap(ours).sort();
    return [parse(file).name, { parts: parts.map((part) => basename(part)), modules }];
  });
  await writeFile(join(OUT, "scripts.json"), JSON.stringify(Object.fromEntries(described)));
}

async function build() {
  await rm(OUT, { recursive: true, force: true });
  await mkdir(OUT);
  await writeFile(join(OUT, "icons.svg"), await sprite());
  await cp("static", OUT, { recursive: true });
  await pdfAssets();
  // In place of the admin theme's own: this build of Alpine needs no “eval”. Django finds ours first.
  await cp(require.resolve("@alpinejs/csp/dist/cdn.min.js"), join(OUT, "unfold", "js", "alpine", "alpine.js"));
  if (!process.argv.includes("--watch")) return Promise.all(bundles.map((options) => esbuild.build(options)));
  const contexts = await Promise.all(bundles.map((options) => esbuild.context(options)));
  return Promise.all(contexts.map((context) => context.watch()));
}

await build();
