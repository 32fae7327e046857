// SPDX-License-Identifier: Apache-2.0
// Every view opens on recordings of every sort, and stays within its server.
import assert from "node:assert/strict";
import { basename, join } from "node:path";
import test from "node:test";
import { VIEWS, byHand, crash, folder, follow, hang, leave, ofRuntimes, painted, peers, serve, textOf, visit } from "../harness.mjs";

let server = null;
const recorded = () => (server ??= serve([join(folder, "runs")]));

/** Keys of the runs that a server has, by name. */
async function keysOf(address) {
  const answer = await (await fetch(`${address}api/runs`)).json();
  return Object.fromEntries(answer.runs.map((run) => [run.name, run.key]));
}

/** A task and a record of a run that has any: the first with a stored tensor. */
async function someOf(address, run) {
  const { records } = await (await fetch(`${address}api/records?run=${encodeURIComponent(run)}&first=0&count=100`)).json();
  const record = records?.find((one) => one.kind === "tensor" && one.task !== null && one.stored > 0) ?? records?.[0];
  return record ? { task: record.task ?? undefined, record: record.index } : {};
}

/** Opens every view of a run, one after the other in one page. */
async function walk(address, run, other) {
  const { task, record } = await someOf(address, run);
  const parameters = { timeline: { task }, graph: { task }, task: { task }, tensor: { task, record }, diff: { other } };
  const page = await visit(`${address}#/runs`);
  for (const view of VIEWS) {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries({ run, ...parameters[view] })) if (value !== undefined) query.set(key, value);
    await follow(page, `#/${view}?${query}`);
    assert.equal(await page.locator("nav [aria-current=page]").innerText().then((text) => text.toLowerCase()), view);
    const text = await textOf(page);
    assert.doesNotMatch(text, /This view failed|undefined|\[object Object\]|\bNaN ns\b/, `${view} of ${run}`);
    for (const line of await page.locator("main .error-line").allInnerTexts()) assert.match(line, /has no recording/, `${view} of ${run}`);
    if (view === "timeline" || view === "graph")
      assert.ok((await painted(page)) >= 100 || /no (times|edges|task)|not (known|recorded)|has no/i.test(text), `${view} of ${run} is empty: ${text}`);
  }
  await leave(page);
}

test("every view opens on runs of all three runtimes", async () => {
  await ofRuntimes();
  const address = await recorded();
  const keys = await keysOf(address);
  for (const name of ["host", "device", "map"]) await walk(address, keys[name], keys.host);
});

test("every view opens on a run that hung and on one that crashed", async () => {
  await Promise.all([hang(), crash()]);
  const address = await recorded();
  const keys = await keysOf(address);
  for (const name of ["hang", "crash"]) await walk(address, keys[name], keys[name]);
});

test("every view opens on recordings of the other implementation", async (t) => {
  if (!peers().length) return t.skip("the other implementation's recordings are not here");
  for (const path of peers()) {
    const address = await serve([path]);
    const key = Object.values(await keysOf(address))[0];
    await walk(address, key, key);
  }
});

test("every view opens on a recording without edges, times and scopes, and says what is missing", async () => {
  const address = await serve([join(await byHand(), "plain", "plain")]);
  const [key] = Object.values(await keysOf(address));
  await walk(address, key, key);
  const page = await visit(`${address}#/rings?run=${key}`);
  assert.match(await textOf(page), /scope/i);
  await leave(page);
});

test("the list of runs has every run with its result", async (t) => {
  const paths = await Promise.all([...(await ofRuntimes()), hang(), crash()]);
  const address = await recorded();
  const page = await visit(address);
  const text = await textOf(page);
  for (const path of paths) assert.ok(text.includes(basename(path)), basename(path));
  assert.match(text, /HANG/);
  assert.match(text, /KERNEL_FAULT/);
  const shown = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
  t.diagnostic(`first contents after ${Math.round(shown)} ms`);
  await leave(page);
});
