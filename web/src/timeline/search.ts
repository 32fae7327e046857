// SPDX-License-Identifier: Apache-2.0
// Which tasks a search means: an id in any notation, a kernel or a scope, with * and ? as in a shell.
import type { RunModel } from "../model.js";
import { orderByTime } from "./sort.js";

/** A text with * and ?: it must match the whole; without them it may stand anywhere. Case does not count. */
export function matcherOf(text: string): (candidate: string) => boolean {
  const wanted = text.toLowerCase();
  if (!/[*?]/.test(wanted)) return (candidate) => candidate.toLowerCase().includes(wanted);
  return (candidate) => globMatches(wanted, candidate.toLowerCase());
}

/** Shell patterns without a regular expression: a pattern from a stranger must not take exponential time. */
export function globMatches(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let mark = 0;
  while (t < text.length) {
    if (p < pattern.length && (pattern[p] === "?" || pattern[p] === text[t]) && pattern[p] !== "*") {
      p++;
      t++;
    } else if (pattern[p] === "*") {
      star = p++;
      mark = t;
    } else if (star >= 0) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}

export interface Matches {
  tasks: Uint32Array; // in the order in which they begin; those without times last
  isMatch: Uint8Array; // by task
}

/** All tasks that `text` means; null: there is nothing to search for. */
export function searchTasks(model: RunModel, text: string): Matches | null {
  const wanted = text.trim();
  if (!wanted) return null;
  const isMatch = new Uint8Array(model.tasks);
  const byId = model.find(wanted);
  if (byId >= 0) isMatch[byId] = 1;
  const matches = matcherOf(wanted);
  markKernels(model, matches, isMatch);
  markEdges(model, matches, isMatch);
  return { tasks: inOrder(model, isMatch), isMatch };
}

/** The tasks that are marked, in the order of their begin. */
function inOrder(model: RunModel, isMatch: Uint8Array): Uint32Array {
  const count = isMatch.reduce((sum, one) => sum + one, 0);
  const tasks = new Uint32Array(count);
  const begins = new Float64Array(count);
  let timed = 0;
  let untimed = count; // filled from the end
  for (let task = model.tasks - 1; task >= 0; task--) {
    const begin = isMatch[task] ? model.beginOf(task) : 0;
    if (isMatch[task] && Number.isNaN(begin)) tasks[--untimed] = task;
  }
  for (let task = 0; timed < untimed; task++) {
    const begin = isMatch[task] ? model.beginOf(task) : NaN;
    if (Number.isNaN(begin)) continue;
    begins[timed] = begin;
    tasks[timed++] = task;
  }
  const order = orderByTime(begins.slice(0, timed));
  tasks.set(order.map((index) => tasks[index]));
  return tasks;
}

function markKernels(model: RunModel, matches: (text: string) => boolean, isMatch: Uint8Array): void {
  const wanted = model.kernels.map(matches);
  if (!wanted.includes(true)) return;
  for (let task = 0; task < model.timed; task++)
    for (let part = model.firstPart[task]; part < model.firstPart[task + 1]; part++) if (wanted[model.partKernel[part]]) isMatch[task] = 1;
}

function markEdges(model: RunModel, matches: (text: string) => boolean, isMatch: Uint8Array): void {
  const edges = model.edges;
  if (!edges) return;
  const scopes = edges.scopes.map(matches);
  const lines = edges.lines.map(matches);
  const kernels = edges.kernels.map(matches);
  for (let task = 0; task < model.tasks; task++)
    if (scopes[edges.scope[task]] || lines[edges.line[task]] || kernels[edges.kernel[task]]) isMatch[task] = 1;
}
