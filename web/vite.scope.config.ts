// SPDX-License-Identifier: Apache-2.0
// Builds the page of `taskglass scope --html` into dist/scope.html: one file, with script and style inside. The library
// embeds it and puts a run's data in the place of @SCOPE_DATA@ (src/scope/scope_page.c).
import { readFileSync } from "node:fs";
import { type Plugin, defineConfig } from "vite";

const template = new URL("./src/rings/page.html", import.meta.url);

/** Puts text between tags. A function as replacement: a text with "$&" in it stays as it is. */
function putAt(page: string, marker: string, text: string): string {
  if (page.split(marker).length !== 2) throw new Error(`${template.pathname} must have ${marker} once`);
  return page.replace(marker, () => text.trim());
}

function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_, bundle) {
      let script = "";
      let style = "";
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === "chunk") script += file.code;
        else if (name.endsWith(".css")) style += String(file.source);
        delete bundle[name];
      }
      // The browser looks for the end of the element before it reads the script.
      if (/<\/script|<!--|@SCOPE_DATA@/i.test(script)) throw new Error("the script would end its own element");
      const page = putAt(putAt(readFileSync(template, "utf8"), "@STYLE@", style), "@SCRIPT@", script);
      this.emitFile({ type: "asset", fileName: "scope.html", source: page });
    },
  };
}

export default defineConfig({
  build: {
    outDir: "dist",
    emptyOutDir: false,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    rollupOptions: { input: "src/rings/page.ts", output: { format: "iife" } },
  },
  plugins: [oneFile()],
});
