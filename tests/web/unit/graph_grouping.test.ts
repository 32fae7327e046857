// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { MOST_GROUPS, groupTasks, partSize } from "../../../web/src/graph/grouping.js";
import { membersOf, parsePart } from "../../../web/src/graph/selection.js";
import { atOnce } from "../../../web/src/graph/slices.js";
import { factsOf, numbersFrom, randomPairs } from "./graph_made.js";

function made(seed: number, tasks: number, kernels: number, scopes: number) {
  const random = numbersFrom(seed);
  const pairs = randomPairs(tasks, tasks * 2, random);
  const kernel = Array.from({ length: tasks }, () => random(kernels));
  const scope = Array.from({ length: tasks }, () => random(scopes));
  return { pairs, kernel, scope, facts: factsOf(tasks, pairs, kernel, scope) };
}

test("every task is in one group and every edge is counted once", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { facts, pairs } = made(seed, 400, 5, 4);
    for (const level of ["both", "scope", "kernel"] as const) {
      const scene = atOnce(groupTasks(facts, {}, level, String));
      assert.equal(scene.level, level);
      const sum = (of: (node: (typeof scene.nodes)[0]) => number) => scene.nodes.reduce((all, node) => all + of(node), 0);
      assert.equal(sum((node) => node.tasks), 400);
      const between = scene.edges.reduce((all, edge) => all + edge.count, 0);
      assert.equal(between + sum((node) => node.inside), pairs.length);
    }
  }
});

test("an edge between groups counts the edges between their tasks", () => {
  const { facts, pairs, kernel } = made(7, 400, 4, 1);
  const scene = atOnce(groupTasks(facts, {}, "kernel", String));
  for (const edge of scene.edges) {
    const [from, to] = [scene.nodes[edge.from].kernel, scene.nodes[edge.to].kernel];
    const same = pairs.filter(([before, after]) => `kernel${kernel[before]}` === from && `kernel${kernel[after]}` === to);
    assert.equal(edge.count, same.length);
  }
});

test("edges between two groups in both directions are two edges", () => {
  const facts = factsOf(400, [[0, 1], [1, 2]], Array.from({ length: 400 }, (_, i) => i % 2), Array(400).fill(0));
  const scene = atOnce(groupTasks(facts, {}, undefined, String));
  assert.deepEqual(scene.edges.map(({ from, to }) => [from, to]), [[0, 1], [1, 0]]);
});

test("a time that is not known is counted and not added", () => {
  const facts = factsOf(400, [], Array.from({ length: 400 }, (_, i) => i % 2), Array(400).fill(0));
  const scene = atOnce(groupTasks(facts, {}, "kernel", String));
  const unknown = scene.nodes.reduce((all, node) => all + node.untimed, 0);
  assert.equal(unknown, Math.ceil(400 / 7));
  assert.ok(scene.nodes.every((node) => Number.isFinite(node.time)));
});

test("a small graph is shown task by task, with all edges", () => {
  const { facts, pairs } = made(3, 300, 5, 4);
  const scene = atOnce(groupTasks(facts, {}, undefined, String));
  assert.equal(scene.level, "tasks");
  assert.equal(scene.nodes.length, 300);
  assert.equal(scene.edges.length, pairs.length);
});

test("more groups than a picture holds become one group of the smallest", () => {
  const tasks = 3000;
  const kernel = Array.from({ length: tasks }, (_, i) => i % 500);
  const facts = factsOf(tasks, [[0, 1]], kernel, kernel.slice());
  const scene = atOnce(groupTasks(facts, {}, undefined, String));
  assert.equal(scene.nodes.length, MOST_GROUPS);
  assert.equal(scene.nodes.reduce((all, node) => all + node.tasks, 0), tasks);
  assert.equal(scene.notes.length, 1);
});

test("tasks that are all alike are parts in the order of submission", () => {
  const tasks = 5000;
  const pairs = Array.from({ length: tasks - 1 }, (_, i) => [i, i + 1] as const);
  const facts = factsOf(tasks, pairs, Array(tasks).fill(0), Array(tasks).fill(0));
  const whole = atOnce(groupTasks(facts, { kernel: "kernel0", scope: "src/file.c:0" }, undefined, String));
  assert.equal(whole.level, "parts");
  assert.deepEqual(whole.nodes[1].part, [100, 199]);
  const part = atOnce(groupTasks(facts, { kernel: "kernel0", scope: "src/file.c:0", part: [100, 199] }, undefined, String));
  assert.equal(part.level, "tasks");
  assert.deepEqual(part.nodes.filter((node) => node.kind === "task").map((node) => node.task), Array.from({ length: 100 }, (_, i) => 100 + i));
});

test("what a selection depends on stands outside of it", () => {
  const kernel = [0, 1, 2, 0];
  const facts = factsOf(4, [[0, 1], [1, 2], [0, 3]], kernel, Array(4).fill(0));
  const scene = atOnce(groupTasks(facts, { kernel: "kernel1" }, undefined, String));
  const outside = scene.nodes.filter((node) => node.kind === "outside");
  assert.deepEqual(outside.map((node) => node.kernel).sort(), ["kernel0", "kernel2"]);
  assert.ok(outside.every((node) => node.tasks === 1));
  assert.equal(scene.edges.length, 2);
});

test("members are those of the scope and the kernel, in the order of submission", () => {
  const { facts, kernel, scope } = made(5, 200, 3, 3);
  const members = atOnce(membersOf(facts, { kernel: "kernel1", scope: "src/file.c:2" }));
  const wanted = Array.from({ length: 200 }, (_, i) => i).filter((task) => kernel[task] === 1 && scope[task] === 2);
  assert.deepEqual([...members], wanted);
});

test("there are never more than a hundred parts", () => {
  for (const members of [1, 301, 1000, 1001, 999_999, 1_000_000]) assert.ok(Math.ceil(members / partSize(members)) <= 100);
});

test("a part of the address that is none is ignored", () => {
  assert.deepEqual(parsePart("3-9"), [3, 9]);
  for (const text of [undefined, "", "9-3", "a-b", "1-2-3", "-1-2", "1e3-2e3"]) assert.equal(parsePart(text), undefined);
});
