// SPDX-License-Identifier: Apache-2.0
// From the address of a wrong run to the wrong number: how many clicks it takes. Only clicks are used.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { byHand, good, leave, nan, serve, settled, textOf, tg, visit, wrong } from "../harness.mjs";

const MOST = 4;

/** Clicks, and counts. */
function clicker(page, t) {
  const clicks = [];
  const click = async (what, locator) => {
    await locator.first().click();
    clicks.push(what);
    await settled(page);
  };
  const done = () => {
    t.diagnostic(`${clicks.length} clicks: ${clicks.join(", ")}`);
    assert.ok(clicks.length <= MOST, `${clicks.length} clicks: ${clicks.join(", ")}`);
  };
  return { click, done };
}

/** The page shows one element of the guilty task as a number: its place and its value. */
async function showsElement(page, task, place, value) {
  await page.waitForFunction(
    ([place, value]) => document.body.innerText.includes(place) && document.body.innerText.includes(value),
    [place, value],
  );
  assert.ok((await textOf(page)).includes(task), `task ${task}`);
}

const main = (page) => page.locator("main");
const link = (page, name) => main(page).getByRole("link", { name });

/** From any view to the first finding of `find nan`. */
async function findNan(page, click) {
  if (!page.url().includes("#/questions")) await click("Questions", page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Questions" }));
  if (!/what=nan/.test(page.url())) await click("find nan", link(page, /find nan/));
  await click("Ask", main(page).getByRole("button", { name: "Ask" }));
  await page.getByText("began here").first().waitFor();
}

test("a wrong number is found in at most four clicks: recordings by hand", async (t) => {
  const base = await byHand();
  const page = await visit(await serve([join(base, "outputs/wrong"), join(base, "outputs/good")]));
  const { click, done } = clicker(page, t);
  await page.getByText("introduced").first().waitFor();
  await click("the first mismatch", main(page).getByRole("button", { name: "[17, 41]" }).or(link(page, "[17, 41]")));
  await showsElement(page, "1:7", "[17, 41]", "7.5");
  done();
  await leave(page);
});

test("a NaN of a failed run is found in at most four clicks: recordings by hand", async (t) => {
  const page = await visit(await serve([join(await byHand(), "outputs/nan")]));
  const { click, done } = clicker(page, t);
  await findNan(page, click);
  await click("where it is", link(page, "[17, 41]"));
  await showsElement(page, "1:7", "[17, 41]", "nan");
  done();
  await leave(page);
});

/** What the command line says of the same runs. */
async function answerOf(args) {
  return JSON.parse((await tg([...args, "--json"], { codes: [1] })).stdout);
}

function idText(text) {
  const id = BigInt(text);
  return id >> 32n ? `${id >> 32n}:${id & 0xffffffffn}` : String(id);
}

test("the first mismatch of the task that diff blames is reached in at most four clicks", async (t) => {
  const [bad, fine] = [await wrong(), await good()];
  const { blame } = await answerOf(["diff", bad, fine]);
  const page = await visit(await serve([bad, fine]));
  const { click, done } = clicker(page, t);
  await page.getByText(blame.suspects[0].guilt).first().waitFor();
  assert.match(await textOf(page), new RegExp(`task ${idText(blame.suspects[0].task_a)}\\b`));
  await click("the guilty task", link(page, new RegExp(`^task ${idText(blame.suspects[0].task_a)}\\b`)));
  await click("the first mismatch", main(page).getByRole("table").getByRole("button", { name: /^\[\d/ }));
  await page.waitForFunction(() => /element|\[\d+(, \d+)*\]/i.test(document.querySelector("main").innerText));
  done();
  await leave(page);
});

test("where a NaN of a run that ended well began is reached in at most four clicks", async (t) => {
  const run = await nan();
  const { findings } = await answerOf(["find", "nan", run]);
  const first = findings.find((finding) => finding.trace === "origin");
  const page = await visit(await serve([run]));
  const { click, done } = clicker(page, t);
  await findNan(page, click);
  await click("where it is", main(page).getByRole("row").filter({ hasText: "began here" }).getByRole("link", { name: /^\[\d/ }));
  await showsElement(page, idText(first.task_id), `[${first.first.join(", ")}]`, "nan");
  done();
  await leave(page);
});
