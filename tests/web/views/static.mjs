// SPDX-License-Identifier: Apache-2.0
// The page of `taskglass view --html`: the same views, from a file.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { VIEWS, byHand, folder, follow, leave, ofRuntimes, painted, textOf, tg, violations, visit } from "../harness.mjs";

test("a page without a server has every view of its run", async () => {
  const file = join(folder, "good.html");
  await tg(["view", join(await byHand(), "outputs", "good"), "--html", file]);
  const page = await visit(`file://${file}`);
  assert.match(page.url(), /#\/timeline/);
  const run = new URLSearchParams(page.url().split("?")[1]).get("run");
  for (const view of VIEWS.filter((one) => one !== "diff")) {
    await follow(page, `#/${view}?${new URLSearchParams({ run, task: "1:7", record: 29 })}`);
    const text = await textOf(page);
    assert.doesNotMatch(text, /This view failed|does not answer/, view);
    if (["timeline", "graph", "tensor"].includes(view)) assert.ok((await painted(page)) >= 100, `${view} is empty`);
    assert.deepEqual(await violations(page), [], view);
  }
  await leave(page);
});

test("questions of a page without a server are commands to type", async () => {
  const [path] = await ofRuntimes();
  const file = join(folder, "host.html");
  await tg(["view", path, "--html", file]);
  const page = await visit(`file://${file}`);
  const run = new URLSearchParams(page.url().split("?")[1]).get("run");
  await follow(page, `#/questions?run=${run}`);
  assert.match(await textOf(page), /taskglass (find|check|stats|explain|path)/);
  await leave(page);
});
