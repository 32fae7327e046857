// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { findNear, sceneOfTasks } from "../../../web/src/graph/near.js";
import { findPaths } from "../../../web/src/graph/paths.js";
import { atOnce } from "../../../web/src/graph/slices.js";
import { type Pair, edgesOf, factsOf, numbersFrom, randomPairs } from "./graph_made.js";

/** All paths by trying, for small graphs. */
function allPaths(pairs: readonly Pair[], from: number, to: number): number[][] {
  if (from === to) return [[to]];
  return pairs.filter(([before]) => before === from).flatMap(([, after]) => allPaths(pairs, after, to).map((path) => [from, ...path]));
}

function isPath(pairs: readonly Pair[], path: readonly number[]): boolean {
  return path.every((task, i) => i === 0 || pairs.some(([before, after]) => before === path[i - 1] && after === task));
}

test("the shortest and the longest path are those that trying all finds", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = numbersFrom(seed);
    const tasks = 4 + random(8);
    const pairs = randomPairs(tasks, 4 + random(20), random);
    for (let from = 0; from < tasks; from++)
      for (let to = from + 1; to < tasks; to++) {
        const found = atOnce(findPaths(edgesOf(tasks, pairs), tasks, from, to));
        const lengths = allPaths(pairs, from, to).map((path) => path.length);
        assert.equal(found.shortest.length, lengths.length ? Math.min(...lengths) : 0);
        assert.equal(found.longest.length, lengths.length ? Math.max(...lengths) : 0);
        assert.ok(isPath(pairs, found.shortest) && isPath(pairs, found.longest));
        const between = new Set(allPaths(pairs, from, to).flat());
        assert.equal(found.between, between.size);
      }
  }
});

test("a path that leads the other way is found, and said to be turned", () => {
  const found = atOnce(findPaths(edgesOf(3, [[0, 1], [1, 2]]), 3, 2, 0));
  assert.deepEqual([found.shortest, found.isTurned], [[0, 1, 2], true]);
});

test("tasks without a path have none", () => {
  const found = atOnce(findPaths(edgesOf(3, [[0, 2], [1, 2]]), 3, 0, 1));
  assert.deepEqual(found.shortest, []);
});

test("a cycle between two tasks has no longest path, and the search ends", () => {
  const found = atOnce(findPaths(edgesOf(4, [[0, 1], [1, 2], [2, 1], [2, 3]]), 4, 0, 3));
  assert.deepEqual([found.shortest, found.longest, found.cycle], [[0, 1, 2, 3], [], true]);
});

/** Tasks within some steps, by trying. */
function within(pairs: readonly Pair[], task: number, depth: number, isBefore: boolean): Set<number> {
  let all = new Set([task]);
  for (let step = 0; step < depth; step++)
    all = new Set([...all, ...pairs.filter((pair) => all.has(pair[isBefore ? 1 : 0])).map((pair) => pair[isBefore ? 0 : 1])]);
  return all;
}

test("what is near a task is what some steps reach", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = numbersFrom(seed);
    const pairs = randomPairs(30, 50, random);
    const facts = factsOf(30, pairs, Array(30).fill(0), Array(30).fill(0));
    const task = random(30);
    const depth = 1 + random(4);
    const before = within(pairs, task, depth, true);
    const after = within(pairs, task, depth, false);
    const sorted = (tasks: Iterable<number>) => [...tasks].sort((a, b) => a - b);
    assert.deepEqual(sorted(atOnce(findNear(facts, task, depth, "before")).tasks), sorted(before));
    assert.deepEqual(sorted(atOnce(findNear(facts, task, depth, "after")).tasks), sorted(after));
    assert.deepEqual(sorted(atOnce(findNear(facts, task, depth, "both")).tasks), sorted(new Set([...before, ...after])));
  }
});

test("a picture of many neighbours is limited, and their number is known", () => {
  const pairs = Array.from({ length: 1000 }, (_, i) => [0, i + 1] as const);
  const facts = factsOf(1001, pairs, Array(1001).fill(0), Array(1001).fill(0));
  const near = atOnce(findNear(facts, 0, 1, "after"));
  assert.deepEqual([near.tasks.length, near.found, near.isComplete], [150, 1001, true]);
  const scene = sceneOfTasks(facts, near.tasks, String);
  assert.equal(scene.nodes[0].hidden, 1001 - 150);
});
