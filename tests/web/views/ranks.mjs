// SPDX-License-Identifier: Apache-2.0
// A run of several ranks is one run in the list; it opens with all ranks on one time axis, and each call leads to its
// counterpart on the other rank.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { NARROW, WIDE, byHand, follow, leave, painted, ranks, serve, settled, textOf, violations, visit } from "../harness.mjs";

test("a run of ranks is one run in the list, and opens with all of them", async () => {
  const page = await visit(`${await ranks()}#/runs`);
  const names = await page.locator(".runs-name").allInnerTexts();
  assert.deepEqual(names, ["job"]);
  assert.match(await textOf(page), /3 ranks/);
  await page.locator(".runs-name").click();
  await page.locator(".ranks-plot canvas").waitFor();
  await settled(page);
  assert.match(page.url(), /#\/ranks\?run=job/);
  const text = await textOf(page);
  for (const words of ["rank 0", "node1", "± 900 ns", "tg_send to rank 1, tag 3", "tg_all_reduce(sum)"]) assert.ok(text.includes(words), words);
  assert.ok((await painted(page)) >= 100, "the timeline is empty");
  await leave(page);
});

test("the call that waits comes first, and says that the other side made no such call", async () => {
  const page = await visit(`${await ranks()}#/ranks?run=job`);
  const first = page.getByRole("region", { name: "Calls" }).locator("tbody tr").first();
  assert.match(await first.innerText(), /tg_recv from rank 2, tag 9[\s\S]*waits[\s\S]*no such call/);
  await leave(page);
});

test("a call leads to its counterpart and both lead to their tasks", async () => {
  const page = await visit(`${await ranks()}#/ranks?run=job&rank=0&task=1:25`);
  const selected = page.getByRole("region", { name: "Selected call" });
  assert.match(await selected.innerText(), /rank 0 tg_send to rank 1, tag 3[\s\S]*rank 1 tg_recv from rank 0, tag 3/);
  await page.getByRole("region", { name: "Calls" }).getByRole("link", { name: "rank 1, task 1:25" }).first().click();
  await page.waitForURL(/rank=1/);
  await selected.getByRole("link", { name: "Task 1:25" }).first().click();
  await page.waitForURL(/#\/task\?run=job(%40|@)1&task=1:25/);
  await settled(page);
  assert.match(await textOf(page), /tg_recv/);
  await leave(page);
});

test("the views of a rank are those of a run, and the selector changes the rank", async () => {
  const page = await visit(`${await ranks()}#/timeline?run=job`);
  assert.match(await textOf(page), /Choose a rank/);
  await page.getByRole("link", { name: "rank 1 (node1), RANK_LOST" }).click();
  await page.waitForURL(/run=job(%40|@)1/);
  await page.locator(".timeline-plot canvas").first().waitFor();
  await page.getByLabel("Rank").selectOption("2");
  await page.waitForURL(/run=job(%40|@)2/);
  await page.getByLabel("Rank").selectOption("all");
  await page.waitForURL(/#\/ranks\?run=job$/);
  await leave(page);
});

test("a directory of ranks can be served alone, and a rank that it does not have is said", async () => {
  const address = await serve([join(await byHand(), "ranks", "job")]);
  const page = await visit(address);
  await page.locator(".ranks-plot canvas").waitFor();
  assert.equal((await fetch(`${address}api/run?run=job@7`)).status, 404);
  assert.equal((await fetch(`${address}api/run?run=job@01`)).status, 404);
  assert.equal((await fetch(`${address}api/calls?run=job@1`)).status, 409);
  await leave(page);
});

test("names with markup are shown as they are", async () => {
  const address = await serve([join(await byHand(), "ranks_hostile")]);
  const page = await visit(`${address}#/ranks?run=job`);
  assert.match(await textOf(page), /<script>window\.stolen=1<\/script>/);
  for (const link of ["#/ranks?run=job&rank=-1&task=<b>&first=1e99&only=zz", "#/ranks?run=job@0", "#/task?run=job@0&task=1:25"]) {
    await follow(page, link);
    assert.doesNotMatch(await textOf(page), /This view failed|[\u202a-\u202e]/, link);
    assert.equal(await page.evaluate(() => window.stolen), undefined);
  }
  await leave(page);
});

for (const size of [WIDE, NARROW])
  test(`the view of ranks is accessible at ${size.width} px`, async () => {
    const page = await visit(`${await ranks()}#/ranks?run=job&rank=0&task=1:25`, { size });
    assert.deepEqual(await violations(page), []);
    await leave(page);
  });
