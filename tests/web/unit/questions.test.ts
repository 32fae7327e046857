// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";
import { kernelOf, numberOf, objectsOf, textOf, valueText } from "../../../web/src/questions/json.js";
import { flatIndex, idOf } from "../../../web/src/questions/links.js";
import { outcomeOf, questionKey } from "../../../web/src/questions/job.js";
import { BUILT_IN, commandOf, shellWord } from "../../../web/src/questions/questions.js";

test("a shell reads every word as it was", () => {
  for (const word of ["add*", "it's", "a b", "$(ls)", "`x`", "", "-n", "é\n!", '"', "\\"])
    assert.equal(execFileSync("sh", ["-c", `printf %s ${shellWord(word)}`], { encoding: "utf8" }), word);
});

test("the command line of a question has its options and no empty ones", () => {
  const kind = { ...BUILT_IN[5], options: [{ name: "kernel", text: "" }, { name: "task", text: "" }, { name: "no-replay", text: "", flag: true }] };
  assert.equal(commandOf(kind, "outputs/a b", { kernel: "add*", task: "", "no-replay": "1" }), "taskglass find stomp 'outputs/a b' --kernel 'add*' --no-replay");
});

test("a path that begins with a dash is no option", () => {
  assert.equal(commandOf(BUILT_IN[7], "-x", {}), "taskglass check ./-x");
});

test("an element's place counts rows first", () => {
  assert.equal(flatIndex([1, 2], [3, 4]), 6);
  assert.equal(flatIndex([], []), 0);
  assert.equal(flatIndex([7], [2, 4]), 7);
  assert.ok(Number.isNaN(flatIndex([1, 2, 3], [3, 4])));
});

test("ids are written as everywhere, and the orchestration has none", () => {
  assert.equal(idOf("0x000000010000000c"), "1:12");
  assert.equal(idOf("0xffffffffffffffff"), "");
  for (const value of [null, 3, {}, "", "<b>"]) assert.equal(idOf(value), "");
});

test("members of another type are nothing", () => {
  assert.equal(textOf(3), "");
  assert.ok(Number.isNaN(numberOf("x")));
  assert.equal(numberOf("18446744073709551615"), 2 ** 64);
  assert.deepEqual(objectsOf([1, null, { a: 1 }]), [{}, {}, { a: 1 }]);
  assert.equal(kernelOf(["mat", 3, "add"]), "mat+add");
  assert.equal(valueText(null), "–");
  assert.equal(valueText("nan"), "nan");
});

test("questions with other options are other questions", () => {
  const question = { verb: "find", what: "nan", run: "a", options: {} };
  assert.equal(questionKey(question), "ask?verb=find&what=nan&run=a");
  assert.notEqual(questionKey({ ...question, options: { kernel: "x" } }), questionKey(question));
});

test("a job without an answer says why", () => {
  const job = { job: 1, command: "taskglass check a", state: "failed" as const, seconds: 1, exit: 2, answer: null, text: "", error: "" };
  assert.match(outcomeOf({ job, error: "" }).error, /gave no answer/);
  assert.equal(outcomeOf({ job: { ...job, error: "no memory" }, error: "" }).error, "no memory");
  assert.equal(outcomeOf({ job: { ...job, state: "stopped" }, error: "" }).error, "The question was cancelled.");
  assert.ok(outcomeOf({ job: { ...job, state: "working" }, error: "" }).isWorking);
});
