// SPDX-License-Identifier: Apache-2.0
// views.mjs [WORD...]: the tests in views/, in one process, with one browser. Words: only files whose names contain one.
// UPDATE_GOLDEN=1 writes the pictures of golden/ anew.
import { existsSync, readdirSync } from "node:fs";
import { after } from "node:test";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, close, here } from "./harness.mjs";

const words = process.argv.slice(2);
if (!existsSync(join(build, "lib/taskglass/taskglass-serve"))) {
  console.log("skipped: this build has no server, because there was no libmicrohttpd");
  process.exit(77);
}
after(close);
for (const name of readdirSync(join(here, "views")).sort())
  if (words.length === 0 || words.some((word) => name.includes(word))) await import(pathToFileURL(join(here, "views", name)).href);
