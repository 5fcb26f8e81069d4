// Bundles src/ into the package, with the licences of everything that is in the bundle beside it.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// What the bundle was made of, so that a test can tell when it is out of date.
const sources = createHash("sha256");
const folder = join(import.meta.dirname, "src");
for (const name of readdirSync(folder).sort()) sources.update(readFileSync(join(folder, name)));

const out = join(import.meta.dirname, "../src/agssl/report/page");
const result = await build({
  entryPoints: [join(import.meta.dirname, "src/main.js")],
  outfile: join(out, "page.js"),
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii",
  legalComments: "none",
  metafile: true,
  banner: { js: `/* sources ${sources.digest("hex")}; licences in LICENSES.txt */` },
});
const script = readFileSync(join(out, "page.js"), "utf8");
for (const tag of ["</script", "<!--"]) {
  if (script.toLowerCase().includes(tag)) throw new Error(`the bundle has ${tag} in it, which would end its element`);
}

const packages = new Set();
for (const path of Object.keys(result.metafile.inputs)) {
  const found = path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/);
  if (found) packages.add(found[1]);
}
const texts = [...packages].sort().map((name) => {
  const folder = join(import.meta.dirname, "node_modules", name);
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file || !existsSync(join(folder, file))) throw new Error(`${name} brings no licence`);
  return `${name} ${about.version} (${about.license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
});
const head = "page.js contains the following packages, besides agssl's own code.\n";
writeFileSync(join(out, "LICENSES.txt"), [head, ...texts].join(`\n${"-".repeat(78)}\n\n`));
console.log(`page.js: ${Math.round(script.length / 1024)} kB, ${packages.size} packages`);
