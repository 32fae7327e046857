// SPDX-License-Identifier: Apache-2.0
// A run that goes on is watched, and a hang is explained without ending it.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { folder, leave, serve, settled, start, textOf, until, visit, workload } from "../harness.mjs";

/** Starts a run that records, and waits until its journal is there. */
async function running(name, args) {
  const path = join(folder, "live", name);
  const child = start(["run", ...args, "--dump-tensor", "--output", path]);
  await until(() => {
    assert.equal(child.exitCode, null, child.said);
    return existsSync(join(path, "tensor_dump", "tensor_dump.rec"));
  }, "the recording");
  return { child, path };
}

const numberIn = async (page, pattern) => Number(pattern.exec(await textOf(page))?.[1].replaceAll(",", "") ?? 0);

test("a run that goes on comes first, grows while it is watched, and ends", async () => {
  const { child, path } = await running("slow", [workload("slow"), "--case", "chain", "--set", "ms=20", "--set", "n=100000"]);
  const list = await visit(await serve([join(folder, "live")]));
  assert.match(await list.locator("tbody tr").first().innerText(), /slow[\s\S]*running/);
  await leave(list);
  const page = await visit(await serve([path]));
  for (const pattern of [/([\d,]+) of 100,000/, /([\d,]+) tasks on/]) {
    const early = await until(() => numberIn(page, pattern), `a count like ${pattern}`);
    await until(async () => (await numberIn(page, pattern)) > early, `more than ${early} like ${pattern}`);
  }
  child.kill("SIGINT");
  await child.ended;
  // While the page reads the run once more, neither the old nor the new state is there.
  await page.waitForFunction(() => /CANCELLED/.test(document.querySelector("header.top")?.innerText ?? ""));
  await settled(page);
  assert.equal(await page.locator(".strip.live").count(), 0);
  await leave(page);
});

test("a hang is explained while it goes on", async () => {
  const { child, path } = await running("hangs", [workload("hangs"), "--case", "join", "--timeout", "3600", "--runtime", "aicpu_build_graph"]);
  const page = await visit(await serve([path]));
  await page.getByRole("button", { name: /Why does it wait/ }).click();
  await page.waitForFunction(() => /spin/.test(document.querySelector(".explanation")?.innerText ?? ""));
  assert.equal(child.exitCode, null, "the run goes on");
  await leave(page);
  child.kill("SIGTERM");
  await child.ended;
});
