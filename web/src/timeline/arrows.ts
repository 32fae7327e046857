// SPDX-License-Identifier: Apache-2.0
// The dependencies around a task, by depth.
import type { Edges } from "../model.js";

const MOST = 1500; // arrows; more cannot be told apart

export interface Arrow {
  before: number; // task
  after: number; // waits for it
  depth: number; // from 1
  isBefore: boolean; // it leads to the task that is asked about
}

export interface Arrows {
  list: Arrow[];
  isCut: boolean; // there are more than are listed
}

/** The edges that lead to `task` and away from it, up to `depth` steps: the nearest first. */
export function arrowsAround(edges: Edges, task: number, depth: number): Arrows {
  const list: Arrow[] = [];
  let isCut = false;
  for (const isBefore of [true, false]) {
    const most = isBefore ? MOST / 2 : MOST;
    const seen = new Set([task]);
    let ring = [task];
    for (let step = 1; step <= depth && ring.length; step++) {
      const next: number[] = [];
      for (const one of ring)
        for (const other of isBefore ? edges.waitsFor(one) : edges.waitedBy(one)) {
          if (list.length >= most) {
            isCut = true;
            break;
          }
          list.push(isBefore ? { before: other, after: one, depth: step, isBefore } : { before: one, after: other, depth: step, isBefore });
          if (!seen.has(other)) {
            seen.add(other);
            next.push(other);
          }
        }
      ring = next;
    }
  }
  return { list, isCut };
}
