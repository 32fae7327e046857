// SPDX-License-Identifier: Apache-2.0
// What the graph takes from answers of commands.
import assert from "node:assert/strict";
import test from "node:test";
import { readVerdicts } from "../../../web/src/graph/blame.js";
import { readRaces } from "../../../web/src/graph/races.js";

const find = (id: string) => Number(BigInt(id));
const task = (number: number, more = {}) => ({ task_a: `0x${number.toString(16)}`, task_b: null, kernel: "k", ...more });
const pair = (number: number, verdict: string, error: number | string | null) => ({
  ...task(number),
  verdict,
  values: { max_abs: error === null ? null : { value: error, at: [0], a: 0, b: 0 } },
});

test("a suspect is guilty although it also differs and lies on a path", () => {
  const verdicts = readVerdicts(
    {
      result: "differs",
      reason: null,
      pairs: [pair(1, "differs", 0.5), pair(2, "differs", 2), pair(3, "same", null)],
      blame: { suspects: [{ ...task(1), guilt: "introduced", other: null, path: [task(1), task(2)], path_length: 2 }] },
    } as never,
    find,
  );
  assert.deepEqual([...verdicts.word], [[1, "guilty"], [2, "path"]]);
  assert.deepEqual([...verdicts.error], [[1, 0.5], [2, 2]]);
});

test("an error that is not finite is the largest", () => {
  const pairs = [pair(1, "differs", 3), pair(1, "differs", "inf"), pair(1, "differs", 4)];
  assert.equal(readVerdicts({ result: "differs", reason: null, pairs } as never, find).error.get(1), Infinity);
});

test("differences that the answer does not list are said to be missing", () => {
  const report = { result: "differs", reason: null, pairs: [pair(1, "differs", 3)], counts: { differs: 9 } };
  assert.equal(readVerdicts(report as never, find).notes.length, 1);
});

test("races are read with their tasks, and a task that is not there has none", () => {
  const side = (id: string) => ({ task_id: id, kernel: "k", arg_index: 1, role: "out", line: null, scope: "s.c:1" });
  const answer = { result: "found", findings: [{ first: side("0x5"), second: side("0x9"), bytes: null, pairs: 3, fix: "add" }], left_out: ["n"] };
  const { races, leftOut } = readRaces(answer, (id) => (id === "0x5" ? 5 : -1));
  assert.deepEqual([races[0].first.task, races[0].second.task, races[0].bytes, races[0].first.line], [5, -1, null, "s.c:1"]);
  assert.deepEqual(leftOut, ["n"]);
});

test("an answer of another shape has no races", () => {
  for (const answer of [{}, { findings: 3 }, { findings: [null, 1, "x"] }]) assert.doesNotThrow(() => readRaces(answer as never, () => -1));
});
