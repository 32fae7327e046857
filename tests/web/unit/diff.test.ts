// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import type { DiffPair, Report, Step, Suspect } from "../../../web/src/diff/report.js";
import { errorBar, filterPairs, guiltText, pairKey, pairOfSuspect, pairOfTask, resultSentence, shareText, shownSteps, sortPairs, taskName } from "../../../web/src/diff/report.js";

function pair(task: string, stage: string, maxRel: number | null): DiffPair {
  const extreme = maxRel === null ? null : { value: maxRel, at: [0], a: 1, b: 2 };
  return {
    task_a: task,
    task_b: task,
    record_a: Number(task),
    record_b: 7,
    kernel: ["step"],
    stage,
    role: "output",
    arg_index: 1,
    kind: "tensor",
    dtype: "float32",
    shape: [4],
    verdict: "differs",
    reason: "values",
    values: { elements: 4, cut: false, mismatches: 1, share: 0.25, max_abs: extreme, max_rel: extreme, max_ulp: null, cosine: 1, sqnr_db: 1, nan: [0, 0], inf: [0, 0], special_mismatches: 0, first: [] },
  };
}

const step = (task: string, error: number | null, beyond: boolean): Step => ({ task_a: task, task_b: task, kernel: "step", max_ulp: 1, error, beyond });

test("a task is named by the ids of both sides where they differ", () => {
  assert.equal(taskName({ task_a: "0x0000000100000003", task_b: "0x4", kernel: "mul" }), "task 1:3 mul (B: 4)");
  assert.equal(taskName({ task_a: "0x3", task_b: "0x3", kernel: ["a", "b"] }), "task 3 a+b");
  assert.equal(taskName({ task_a: null, task_b: "0x4", kernel: "mul" }), "task 4 mul of B");
  assert.equal(taskName({ task_a: null, task_b: null, kernel: "" }), "the orchestration");
});

test("a pair is named by its records, of which one may be missing", () => {
  assert.equal(pairKey({ record_a: 3, record_b: 4 }), "3-4");
  assert.equal(pairKey({ record_a: null, record_b: 4 }), "-4");
});

test("a step of a path leads to what its task wrote", () => {
  const pairs = [pair("0x1", "before_dispatch", 1), pair("0x1", "after_completion", 1), pair("0x2", "before_dispatch", 1)];
  assert.equal(pairOfTask(pairs, step("0x1", 1, true)), pairs[1]);
  assert.equal(pairOfTask(pairs, step("0x2", 1, true)), pairs[2]);
  assert.equal(pairOfTask(pairs, step("0x3", 1, true)), undefined);
});

test("the largest errors come first and unknown ones last", () => {
  const pairs = [pair("0x1", "after_completion", null), pair("0x2", "after_completion", 0.1), pair("0x3", "after_completion", 5)];
  assert.deepEqual(sortPairs(pairs, "relative").map((entry) => entry.task_a), ["0x3", "0x2", "0x1"]);
  assert.deepEqual(sortPairs(pairs, "run"), pairs);
});

test("a filter wants every word", () => {
  const pairs = [pair("0x1", "after_completion", 1), pair("0x2", "before_dispatch", 1)];
  assert.deepEqual(filterPairs(pairs, "STEP before"), [pairs[1]]);
  assert.deepEqual(filterPairs(pairs, "  "), pairs);
  assert.deepEqual(filterPairs(pairs, "nothing"), []);
});

test("a short path is shown whole", () => {
  const path = [step("0x1", 1e-7, false), step("0x2", 1, true)];
  const shown = shownSteps(path, 2, false);
  assert.deepEqual(shown.map((entry) => [entry.place, entry.leaves, entry.hidden]), [
    [0, false, 0],
    [1, true, 0],
  ]);
});

test("a long path is shown by its ends and where something happens", () => {
  const path = Array.from({ length: 100 }, (_, i) => step(`0x${i.toString(16)}`, i < 50 ? 1e-6 : 1, i >= 50));
  const shown = shownSteps(path, 100, false);
  assert.deepEqual(shown.map((entry) => entry.place), [0, 1, 2, 50, 98, 99]);
  assert.equal(shown.length + shown.reduce((sum, entry) => sum + entry.hidden, 0), 100);
  assert.equal(shownSteps(path, 100, true).length, 100);
});

test("steps that the report leaves out are counted as hidden", () => {
  const path = Array.from({ length: 1000 }, (_, i) => step(`0x${i.toString(16)}`, 1, true));
  const shown = shownSteps(path, 5000, true);
  assert.equal(shown[500].hidden, 4000);
  assert.equal(shown[999].place, 4999);
});

test("bars grow with the error, on a logarithmic scale", () => {
  const path = [step("0x1", 1e-6, false), step("0x2", 1e-3, false), step("0x3", 1, true)];
  const bars = path.map((entry) => errorBar(entry, path));
  assert.ok(bars[0] > 0 && bars[0] < bars[1] && bars[1] < bars[2] && bars[2] === 1);
  assert.equal(errorBar(step("0x4", null, true), path), 1);
  assert.equal(errorBar(step("0x4", null, false), path), 0);
  assert.equal(errorBar(step("0x4", 0, false), path), 0);
});

test("the sentence counts every verdict that occurs", () => {
  const report = { result: "differs", reason: null, matched_by: "id", counts: { same: 52, close: 0, differs: 22, unknown: 1 }, tasks: { matched: 20, only_a: [], only_b: [], renamed: [], fused: [] } } satisfies Report;
  assert.equal(resultSentence(report), "75 arguments of 20 tasks, matched by their ids: 52 the same, 22 differ, 1 not known.");
  assert.equal(resultSentence({ result: "not known", reason: "no tensors" }), "no tensors");
});

test("an unordered suspect names the task that it did not wait for", () => {
  const other = { task_a: "0x2", task_b: "0x2", kernel: "fill", ordered_in_a: false, ordered_in_b: true };
  const suspect = { guilt: "unordered", other } as Suspect;
  assert.equal(guiltText(suspect), "did not wait for task 2 fill, and both use the same bytes");
});

test("a suspect within the tolerance is shown by its records", () => {
  const suspect = { task_a: "0x1", task_b: "0x1", kernel: "step", record_a: 4, record_b: 5, arg_index: 2 } as Suspect;
  assert.equal(pairKey(pairOfSuspect([], suspect) ?? { record_a: null, record_b: null }), "4-5");
  assert.equal(pairOfSuspect([], { ...suspect, record_b: null }), undefined);
});

test("a share that is not zero does not read zero", () => {
  assert.equal(shareText(1 / 3072), "0.0326 %");
  assert.equal(shareText(1e-9), "< 0.0001 %");
  assert.equal(shareText(0), "0 %");
  assert.equal(shareText(1), "100 %");
  assert.equal(shareText(null), "not known");
});
