// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import type { Columns } from "../../../web/src/api.js";
import { Calls, type CallsHeader, MOST_ROWS, arrivalOf, arrowsWithin, onAxis, orderedCalls } from "../../../web/src/ranks/calls.js";
import { Scene } from "../../../web/src/ranks/scene.js";
import { addressOf } from "../../../web/src/views/runs.js";

const [SEND, RECV, REDUCE] = [0, 1, 3];

interface Made {
  rank: number;
  kind: number;
  peer?: number;
  tag?: number;
  number?: number;
  posted: number;
  matched?: number;
  done?: number;
}

function made(calls: Made[], ranks = 3): Calls {
  const header: CallsHeader = {
    start_ns: "1000",
    calls: calls.length,
    given: calls.length,
    generation: 1,
    kinds: ["tg_send", "tg_recv", "tg_broadcast", "tg_all_reduce"],
    operations: ["sum"],
    dtypes: ["", "float64", "float32"],
    states: ["done", "waits", "failed"],
    sites: ["a.c:1"],
    ranks: Array.from({ length: ranks }, (_, rank) => ({ offset_ns: String(-500 * rank), drift: 0, at_ns: "0", error_ns: 10 * rank, calls: 1 })),
  };
  const column = {
    rank: Uint16Array.from(calls, (call) => call.rank),
    peer: Uint16Array.from(calls, (call) => call.peer ?? 0xffff),
    task: BigUint64Array.from(calls, (_, index) => BigInt(index)),
    kind: Uint8Array.from(calls, (call) => call.kind),
    operation: Uint8Array.from(calls, (call) => (call.kind === REDUCE ? 0 : 255)),
    dtype: new Uint8Array(calls.length).fill(2),
    state: Uint8Array.from(calls, (call) => (call.done === undefined ? 1 : 0)),
    tag: Uint32Array.from(calls, (call) => call.tag ?? 0xffffffff),
    site: new Uint32Array(calls.length),
    number: Float64Array.from(calls, (call) => call.number ?? 0),
    elements: new Float64Array(calls.length).fill(4),
    bytes: new Float64Array(calls.length).fill(16),
    posted: Float64Array.from(calls, (call) => call.posted),
    matched: Float64Array.from(calls, (call) => call.matched ?? NaN),
    done: Float64Array.from(calls, (call) => call.done ?? NaN),
  };
  return new Calls({ header, column } as Columns<CallsHeader>);
}

test("a send belongs to the receive with the same ranks, tag and number", () => {
  const calls = made([
    { rank: 0, kind: SEND, peer: 1, tag: 3, posted: 0, done: 9 },
    { rank: 1, kind: RECV, peer: 0, tag: 4, posted: 0, done: 9 },
    { rank: 1, kind: RECV, peer: 0, tag: 3, number: 1, posted: 0, done: 9 },
    { rank: 1, kind: RECV, peer: 0, tag: 3, posted: 0, done: 9 },
    { rank: 1, kind: SEND, peer: 0, tag: 3, posted: 0, done: 9 },
  ]);
  assert.deepEqual([...calls.other], [3, -1, -1, 0, -1]);
});

test("a call of all ranks leads to that of the rank that came last", () => {
  const calls = made([
    { rank: 0, kind: REDUCE, posted: 5, done: 50 },
    { rank: 1, kind: REDUCE, posted: 30, done: 50 },
    { rank: 2, kind: REDUCE, posted: 7, done: 50 },
    { rank: 2, kind: REDUCE, number: 1, posted: 60 },
  ]);
  assert.deepEqual([...calls.other], [1, -1, 1, -1]);
  assert.equal(calls.describe(0), "tg_all_reduce(sum)");
});

test("calls that are not done come first, then by time", () => {
  const calls = made([
    { rank: 0, kind: SEND, peer: 1, tag: 0, posted: 5, done: 6 },
    { rank: 0, kind: SEND, peer: 1, tag: 0, number: 1, posted: 1, done: 2 },
    { rank: 1, kind: RECV, peer: 0, tag: 9, posted: 8 },
  ]);
  assert.deepEqual(orderedCalls(calls, null), [2, 1, 0]);
  assert.deepEqual(orderedCalls(calls, 0), [1, 0]);
  assert.equal(calls.endOf(2), 8, "it goes on to the last time that is known");
});

test("calls at the same time get rows of their own, and there are not too many", () => {
  const calls = made(Array.from({ length: 2 * MOST_ROWS }, (_, i) => ({ rank: 0, kind: SEND, peer: 1, tag: i, posted: i, done: 100 })));
  assert.deepEqual([...calls.row.slice(0, 3)], [0, 1, 2]);
  assert.equal(calls.rows[0], MOST_ROWS);
  assert.equal(new Set(calls.row).size, MOST_ROWS);
});

test("the number of arrows is bounded, and those who waited longest are kept", () => {
  const calls = made(
    Array.from({ length: 20 }, (_, i): Made[] => [
      { rank: 0, kind: SEND, peer: 1, tag: i, posted: 10 * i + 9, matched: 10 * i + 9, done: 10 * i + 10 },
      { rank: 1, kind: RECV, peer: 0, tag: i, posted: 10 * i + (i === 7 ? 0 : 8), matched: 10 * i + 9, done: 10 * i + 10 },
    ]).flat(),
  );
  const { arrows, all } = arrowsWithin(calls, -Infinity, Infinity, 5);
  assert.equal(all, 20);
  assert.equal(arrows.length, 5);
  assert.deepEqual(arrows[0], { from: 14, to: 15 });
  assert.equal(arrowsWithin(calls, 0, 25, 100).all, 2);
});

test("an arrow does not end before the other side has begun, unless the call ended before", () => {
  const calls = made([
    { rank: 0, kind: SEND, peer: 1, tag: 0, posted: 20, matched: 21, done: 30 },
    { rank: 1, kind: RECV, peer: 0, tag: 0, posted: 5, matched: 18, done: 29 },
  ]);
  assert.equal(arrivalOf(calls, 1), 20);
});

test("a rank's own time is moved by its clock", () => {
  const calls = made([], 2);
  assert.equal(onAxis(calls, 0, 1500n), 500);
  assert.equal(onAxis(calls, 1, 2000n), 500);
});

test("columns that are missing or name a rank that there is not are refused", () => {
  assert.throws(() => made([{ rank: 3, kind: SEND, posted: 0 }]), /a rank that it does not have/);
  const calls = made([{ rank: 0, kind: SEND, posted: 0 }]);
  const { peer, ...rest } = calls.answer.column;
  assert.ok(peer);
  assert.throws(() => new Calls({ header: calls.answer.header, column: rest }), /no whole column peer/);
});

test("a scene has a heading and rows of calls for each rank that is shown", () => {
  const calls = made([{ rank: 1, kind: SEND, peer: 0, tag: 0, posted: 3, done: 9 }]);
  const scene = new Scene(calls, [
    { rank: 0, label: "rank 0", model: null, shift: 0 },
    { rank: 1, label: "rank 1", model: null, shift: 0 },
  ]);
  assert.deepEqual(scene.rows.map((row) => row.kind), ["heading", "heading", "calls"]);
  assert.equal(scene.rowAt(scene.rows[2].top + 1)?.kind, "calls");
  assert.notEqual(scene.middleOf(0), null);
  assert.equal(new Scene(calls, []).middleOf(0), null);
});

test("a run of ranks opens where all of them are seen", () => {
  const run = { key: "job", ranks: 4, status: "HANG", state: "failed" } as Parameters<typeof addressOf>[0];
  assert.deepEqual(addressOf(run), { view: "ranks", parameters: { run: "job" } });
});
