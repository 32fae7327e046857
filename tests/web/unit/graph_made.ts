// SPDX-License-Identifier: Apache-2.0
// Random graphs for the tests of web/src/graph.
import type { Facts } from "../../../web/src/graph/facts.js";
import { Edges } from "../../../web/src/model.js";

/** The same numbers in every run (a linear congruential generator). */
export function numbersFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export type Pair = readonly [before: number, after: number];

/** Edges from smaller to larger numbers, so that there is no cycle. */
export function randomPairs(tasks: number, edges: number, random: (below: number) => number): Pair[] {
  const seen = new Set<number>();
  const pairs: Pair[] = [];
  for (let i = 0; i < edges && tasks > 1; i++) {
    const after = 1 + random(tasks - 1);
    const before = random(after);
    if (seen.has(before * tasks + after)) continue;
    seen.add(before * tasks + after);
    pairs.push([before, after]);
  }
  return pairs;
}

export function edgesOf(tasks: number, pairs: readonly Pair[], scopes: string[] = [], scope: number[] = []): Edges {
  const column = {
    task: Uint32Array.from({ length: tasks }, (_, i) => i),
    scope: Uint32Array.from({ length: tasks }, (_, i) => scope[i] ?? 0xffffffff),
    line: new Uint32Array(tasks),
    kernel: new Uint32Array(tasks),
    submitted: new Uint32Array(tasks),
    before: Uint32Array.from(pairs, ([before]) => before),
    after: Uint32Array.from(pairs, ([, after]) => after),
    kind: Uint8Array.from(pairs, (_, i) => i % 4),
  };
  const header = { tasks, known: tasks, scopes, lines: [""], kernels: [""], runtime: "", lost: 0, generation: 1 };
  return new Edges({ header, column }, tasks);
}

export function factsOf(tasks: number, pairs: readonly Pair[], kernel: number[], scope: number[]): Facts {
  const scopes = Array.from({ length: Math.max(0, ...scope) + 1 }, (_, i) => `src/file.c:${i}`);
  return {
    tasks,
    kernels: Array.from({ length: Math.max(0, ...kernel) + 1 }, (_, i) => `kernel${i}`),
    scopes,
    kernel: Uint32Array.from(kernel),
    scope: Uint32Array.from(scope),
    time: Float64Array.from({ length: tasks }, (_, i) => (i % 7 === 0 ? NaN : i)),
    core: Int32Array.from({ length: tasks }, (_, i) => i % 3),
    order: Uint32Array.from({ length: tasks }, (_, i) => i),
    edges: edgesOf(tasks, pairs, scopes, scope),
  };
}
