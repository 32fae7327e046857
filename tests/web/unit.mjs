// SPDX-License-Identifier: Apache-2.0
// unit.mjs [WORD...]: bundles unit/*.test.ts and runs them, or those whose names contain a word.
// TASKGLASS_WEB: a folder with node_modules, if it is not web/.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const web = resolve(process.env.TASKGLASS_WEB ?? join(here, "../../web"));
const words = process.argv.slice(2);

const { rolldown } = await import(pathToFileURL(createRequire(join(web, "package.json")).resolve("rolldown")).href);
const tests = readdirSync(join(here, "unit"))
  .filter((name) => name.endsWith(".test.ts"))
  .filter((name) => words.length === 0 || words.some((word) => name.includes(word)));
if (tests.length === 0) {
  console.error(`unit.mjs: no test is called like that: ${words.join(" ")}`);
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), "taskglass_web_unit."));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const bundle = await rolldown({
  input: Object.fromEntries(tests.map((name) => [name.replace(/\.ts$/, ""), join(here, "unit", name)])),
  platform: "node",
  tsconfig: join(here, "../../web/tsconfig.json"),
  resolve: { modules: ["node_modules", join(web, "node_modules")] },
  moduleTypes: { ".css": "empty" },
});
await bundle.write({ dir: folder, format: "esm", sourcemap: "inline", entryFileNames: "[name].mjs" });
await bundle.close();

const files = tests.map((name) => join(folder, name.replace(/\.ts$/, ".mjs")));
const result = spawnSync(
  process.execPath,
  ["--enable-source-maps", "--import", pathToFileURL(join(here, "globals.mjs")).href, "--test", "--test-reporter=spec", ...files],
  { stdio: "inherit" },
);
process.exit(result.status ?? 1);
