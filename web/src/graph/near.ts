// SPDX-License-Identifier: Apache-2.0
// Tasks and what is near them: what a task waited for, who waited for it, some steps far.
import type { Facts } from "./facts.js";
import { taskNode } from "./grouping.js";
import { EdgeCounter, type Scene } from "./scene.js";
import { STEPS, type Work } from "./slices.js";

export type Direction = "before" | "after" | "both";
export const MOST_NEAR = 150; // tasks in the picture
const MOST_COUNTED = 200_000; // tasks that are counted beyond the picture

export interface Near {
  tasks: number[]; // those in the picture; the first is the task itself
  found: number; // within the depth, the task itself included
  isComplete: boolean; // false: there are more than `found`
}

/** The tasks within `depth` steps. Directions do not mix: a task before one that comes after is not near. */
export function* findNear(facts: Facts, task: number, depth: number, direction: Direction): Work<Near> {
  const edges = facts.edges;
  const near: Near = { tasks: [task], found: 1, isComplete: true };
  if (!edges) return near;
  const seen = new Uint8Array(facts.tasks);
  seen[task] = 1;
  let sides: { tasks: number[]; isBefore: boolean }[] = [];
  if (direction !== "after") sides.push({ tasks: [task], isBefore: true });
  if (direction !== "before") sides.push({ tasks: [task], isBefore: false });
  let steps = 0;
  // Both sides grow by one step at a time, so that the picture has the nearest of both.
  for (let step = 0; step < depth; step++) {
    const next: typeof sides = [];
    for (const side of sides) {
      const grown: number[] = [];
      for (const from of side.tasks)
        for (const to of side.isBefore ? edges.waitsFor(from) : edges.waitedBy(from)) {
          if (++steps % STEPS === 0) yield;
          if (seen[to]) continue;
          if (near.found >= MOST_COUNTED) {
            near.isComplete = false;
            return near;
          }
          seen[to] = 1;
          near.found++;
          grown.push(to);
          if (near.tasks.length < MOST_NEAR) near.tasks.push(to);
        }
      next.push({ tasks: grown, isBefore: side.isBefore });
    }
    sides = next;
  }
  return near;
}

/** The picture of some tasks and all edges among them. Each node says how many neighbours are not in the picture. */
export function sceneOfTasks(facts: Facts, tasks: readonly number[], idText: (task: number) => string): Scene {
  const nodeOf = new Map(tasks.map((task, i) => [task, i]));
  const nodes = tasks.map((task) => taskNode(facts, task, idText));
  const counter = new EdgeCounter(nodes.length);
  const edges = facts.edges;
  for (const [task, node] of nodeOf) {
    if (!edges) break;
    for (let e = edges.first[task]; e < edges.first[task + 1]; e++) {
      const from = nodeOf.get(edges.before[e]);
      if (from === undefined) nodes[node].hidden++;
      else if (from !== node) counter.add(from, node, edges.kind[e]);
    }
    for (const after of edges.waitedBy(task)) if (!nodeOf.has(after)) nodes[node].hidden++;
  }
  return { nodes, edges: counter.list(), nodeOf: (task) => nodeOf.get(task) ?? -1, notes: [] };
}
