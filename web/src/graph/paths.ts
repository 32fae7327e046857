// SPDX-License-Identifier: Apache-2.0
// Paths over the graph between two tasks: the one with the fewest and the one with the most steps.
import type { Edges } from "../model.js";
import { STEPS, type Work } from "./slices.js";

/** The edges of a graph by task; `Edges` of the model is one. */
export type Links = Pick<Edges, "waitsFor" | "waitedBy">;

export interface Paths {
  /** From the one that comes first to the other; empty: no path, so the graph does not order them. */
  shortest: number[];
  longest: number[]; // empty also if `cycle`
  between: number; // tasks on any path, the ends included
  isTurned: boolean; // the path leads from the second task to the first
  cycle: boolean; // the edges between them form a cycle, so there is no longest path
}

const NONE = -1;

/** All tasks that can be reached, with a step towards `from` for each. */
function* reach(links: Links, tasks: number, from: number, isForward: boolean): Work<Int32Array> {
  const came = new Int32Array(tasks).fill(NONE);
  const queue = new Uint32Array(tasks);
  let filled = 0;
  queue[filled++] = from;
  came[from] = from;
  for (let i = 0, steps = 0; i < filled; i++)
    for (const to of isForward ? links.waitedBy(queue[i]) : links.waitsFor(queue[i])) {
      if (++steps % STEPS === 0) yield;
      if (came[to] !== NONE) continue;
      came[to] = queue[i];
      queue[filled++] = to;
    }
  return came;
}

function pathBack(came: Int32Array, from: number, to: number): number[] {
  const path = [to];
  while (path[path.length - 1] !== from) path.push(came[path[path.length - 1]]);
  return path.reverse();
}

/** The longest path among the tasks that lie between; null: they form a cycle. */
function* longest(links: Links, inside: (task: number) => boolean, tasks: number, from: number, to: number): Work<number[] | null> {
  const waits = new Uint32Array(tasks); // predecessors that are not done
  const list: number[] = [];
  for (let task = 0; task < tasks; task++) {
    if (task % STEPS === 0) yield;
    if (!inside(task)) continue;
    list.push(task);
    for (const before of links.waitsFor(task)) if (inside(before)) waits[task]++;
  }
  const steps = new Int32Array(tasks);
  const came = new Int32Array(tasks).fill(NONE);
  const ready = list.filter((task) => waits[task] === 0);
  for (let i = 0; i < ready.length; i++) {
    if (i % STEPS === 0) yield;
    for (const after of links.waitedBy(ready[i])) {
      if (!inside(after)) continue;
      if (came[after] === NONE || steps[ready[i]] + 1 > steps[after]) {
        steps[after] = steps[ready[i]] + 1;
        came[after] = ready[i];
      }
      if (--waits[after] === 0) ready.push(after);
    }
  }
  return ready.length === list.length ? pathBack(came, from, to) : null;
}

function* pathsFrom(links: Links, tasks: number, from: number, to: number, isTurned: boolean): Work<Paths | null> {
  const forward = yield* reach(links, tasks, from, true);
  if (forward[to] === NONE) return null;
  const backward = yield* reach(links, tasks, to, false);
  const inside = (task: number) => forward[task] !== NONE && backward[task] !== NONE;
  let between = 0;
  for (let task = 0; task < tasks; task++) if (inside(task)) between++;
  const most = yield* longest(links, inside, tasks, from, to);
  return { shortest: pathBack(forward, from, to), longest: most ?? [], between, isTurned, cycle: most === null };
}

/** Looks in both directions. */
export function* findPaths(links: Links, tasks: number, from: number, to: number): Work<Paths> {
  const forward = yield* pathsFrom(links, tasks, from, to, false);
  if (forward) return forward;
  const turned = yield* pathsFrom(links, tasks, to, from, true);
  return turned ?? { shortest: [], longest: [], between: 0, isTurned: false, cycle: false };
}
