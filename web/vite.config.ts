// SPDX-License-Identifier: Apache-2.0
// Builds the page into dist/: one script and one style sheet with fixed names, which the library embeds. The same sources
// give the same bytes: nothing in them depends on the time, the machine or the folder.
import { copyFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Plugin, defineConfig } from "vite";

/** index.html is no entry of the build: it refers to the built files by their names, and is copied as it is. */
const copyPage: Plugin = {
  name: "copy-page",
  writeBundle(options) {
    copyFileSync(resolve(import.meta.dirname, "index.html"), resolve(options.dir ?? "dist", "index.html"));
  },
};

export default defineConfig({
  base: "./",
  publicDir: false,
  plugins: [copyPage],
  build: {
    outDir: "dist",
    emptyOutDir: false, // every name is fixed, and dist/ has the page of vite.scope.config.ts too
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 1 << 20,
    rollupOptions: {
      input: "src/main.tsx",
      output: {
        format: "iife",
        entryFileNames: "app.js",
        assetFileNames: "app.[ext]",
      },
    },
  },
});
