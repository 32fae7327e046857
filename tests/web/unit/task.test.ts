// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import type { TaskRecord } from "../../../web/src/api.js";
import { changeOf, pairArguments } from "../../../web/src/views/task-arguments.js";
import { phasesOf } from "../../../web/src/views/task-waits.js";

const record = (index: number, arg: number, stage: string, hash: string | null) => ({ index, arg, stage, hash, kind: "tensor" }) as TaskRecord;

test("records of an argument are put together, in the order of arguments", () => {
  const pairs = pairArguments([record(5, 2, "after_completion", "b"), record(1, 0, "before_dispatch", "a"), record(2, 2, "before_dispatch", "a")]);
  assert.deepEqual(pairs.map((pair) => [pair.arg, pair.before?.index, pair.after?.index]), [
    [0, 1, undefined],
    [2, 2, 5],
  ]);
});

test("only hashes decide whether an argument changed", () => {
  const change = (before: string | null, after: string | null) => changeOf({ arg: 0, before: record(0, 0, "before_dispatch", before), after: record(1, 0, "after_completion", after) });
  assert.equal(change("a", "b"), "changed");
  assert.equal(change("a", "a"), "same");
  assert.equal(change(null, "a"), "unknown");
});

test("an argument with one record was read or written, unless it should have two", () => {
  const only = { ...record(1, 0, "after_completion", null), role: "output" };
  assert.equal(changeOf({ arg: 0, before: null, after: only }), "written");
  assert.equal(changeOf({ arg: 0, before: { ...only, role: "input" }, after: null }), "read");
  assert.equal(changeOf({ arg: 0, before: { ...only, role: "inout" }, after: null }), "unknown");
});

test("a phase whose ends are not known is not drawn", () => {
  const times = { submitted: 10, ready: 30, last: null, begin: 50, end: null };
  assert.deepEqual(phasesOf(times), [
    { name: "waits", from: 10, to: 30 },
    { name: "ready", from: 30, to: 50 },
  ]);
});

test("a task is not ready after it began", () => {
  assert.deepEqual(phasesOf({ submitted: 10, ready: 70, last: null, begin: 50, end: 60 }), [
    { name: "waits", from: 10, to: 50 },
    { name: "ready", from: 50, to: 50 },
    { name: "runs", from: 50, to: 60 },
  ]);
});

test("a task whose ready time is not known is not said to have been ready", () => {
  assert.deepEqual(phasesOf({ submitted: 10, ready: null, last: null, begin: 50, end: 60 }), [
    { name: "unknown", from: 10, to: 50 },
    { name: "runs", from: 50, to: 60 },
  ]);
});

test("a bound is not the end of a phase", () => {
  const times = { submitted: 10, ready: 30, last: null, begin: 50, end: 60 };
  assert.deepEqual(phasesOf({ ...times, beganBefore: true }).map((phase) => phase.name), ["waits"]);
  assert.deepEqual(phasesOf({ ...times, endedLater: true }).map((phase) => phase.name), ["waits", "ready"]);
});
