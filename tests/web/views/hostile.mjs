// SPDX-License-Identifier: Apache-2.0
// Names are text, whatever they contain, and a page asks nobody but its server.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { VIEWS, byHand, folder, follow, leave, outputs, serve, textOf, tg, visit } from "../harness.mjs";

const ACTIVE = /[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/;

async function walk(page, parameters) {
  for (const view of VIEWS) {
    await follow(page, `#/${view}?${new URLSearchParams(parameters)}`);
    const text = await textOf(page);
    assert.doesNotMatch(text, ACTIVE, `${view}: a mark of direction is shown`);
    assert.equal(await page.evaluate(() => window.stolen), undefined, `${view}: a name ran as a script`);
    assert.equal(await page.locator("img[src=x], main script").count(), 0, `${view}: a name became an element`);
    assert.doesNotMatch(await page.title(), ACTIVE);
  }
}

test("names with markup are shown as they are, in every view", async () => {
  const address = await serve([join(await byHand(), "hostile")]);
  const { runs } = await (await fetch(`${address}api/runs`)).json();
  const page = await visit(address);
  assert.match(await textOf(page), /<script>window\.stolen=1<\/script>/);
  await walk(page, { run: runs[0].key, task: "1:7", record: 0, other: runs[0].key });
  await leave(page);
});

test("names with markup stay text in a page without a server", async () => {
  const base = join(await byHand(), "hostile");
  const file = join(folder, "hostile.html");
  await tg(["view", join(base, readdirSync(base)[0]), "--html", file]);
  const page = await visit(`file://${file}`);
  const { key } = await page.evaluate(() => ({ key: new URLSearchParams(location.hash.split("?")[1]).get("run") }));
  await walk(page, { run: key ?? "", task: "1:7", record: 0 });
  await leave(page);
});

const NONSENSE = [
  "#/<script>alert(1)</script>?run=<img src=x onerror=window.stolen=1>",
  "#/timeline?run=../../etc/passwd",
  "#/tensor?run=good&record=99999999",
  "#/tensor?run=good&record=1&at=9,9,9&rows=7&cols=-1",
  "#/task?run=good&task=<b>x</b>",
  "#/timeline?run=good&from=NaN&to=-1e999",
  "#/graph?run=good&task=18446744073709551615",
  "#/diff?run=good&other=<script>",
  "#/questions?run=good&verb=<script>&what=../..",
];

test("an address full of nonsense shows a page that says so", async () => {
  const page = await visit(`${await outputs()}${NONSENSE[0]}`);
  for (const link of NONSENSE) {
    await follow(page, link);
    assert.doesNotMatch(await textOf(page), /This view failed/, link);
  }
  page.problems = page.problems.filter((problem) => !/status of (400|404)/.test(problem));
  await leave(page);
});

test("the policy of the page forbids what it does not need", async () => {
  const address = await outputs();
  const answer = await fetch(address);
  const policy = answer.headers.get("content-security-policy") ?? "";
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe-eval|https?:|\*/);
  assert.doesNotMatch(/script-src[^;]*/.exec(policy)?.[0] ?? "unsafe", /unsafe/);
  const file = join(folder, "policy.html");
  await tg(["view", join(await byHand(), "outputs", "good"), "--html", file]);
  assert.match(execFileSync("head", ["-c", "4000", file]).toString(), /http-equiv="?Content-Security-Policy/i);
});
