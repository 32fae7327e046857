// SPDX-License-Identifier: Apache-2.0
// The page of `taskglass scope --html`: one file that opens without a network. vite.scope.config.ts makes it.
import { RingsBoard } from "./board.js";
import type { RingsDocument } from "./document.js";
import "./page.css";
import "./rings.css";
import { selftest } from "./selftest.js";

function byId(id: string): HTMLElement {
  return document.getElementById(id) as HTMLElement;
}

function start(): void {
  const data = JSON.parse(byId("data").textContent ?? "") as RingsDocument;
  document.title = data.run ? `Scope stats: ${data.run}` : "Scope stats";
  byId("run").textContent = document.title;
  const board = new RingsBoard(data, byId("board"));
  if (location.hash === "#selftest") {
    byId("selftest").textContent = selftest(board);
    byId("selftest").hidden = false;
  }
}

try {
  start();
} catch (error) {
  byId("broken").textContent = `This page cannot show its data: ${error instanceof Error ? error.message : String(error)}`;
  byId("broken").hidden = false;
  throw error;
}
