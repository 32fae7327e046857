// SPDX-License-Identifier: Apache-2.0
// What the graph shows of each task, as columns: kernel, scope, time, core, and its place in the order of submission.
import { BEGAN_BEFORE, ENDED_LATER, type Edges, type RunModel, UNFINISHED, timeAt } from "../model.js";
import { STEPS, type Work } from "./slices.js";

export const NOT_KNOWN = 0xffffffff;
export const NO_CORE = -1;
export const SEVERAL_CORES = -2;

export interface Facts {
  readonly tasks: number;
  readonly kernels: string[]; // "mat+add" for a mix
  readonly scopes: string[];
  readonly kernel: Uint32Array; // by task: an index into `kernels`; NOT_KNOWN
  readonly scope: Uint32Array; // an index into `scopes`; NOT_KNOWN
  readonly time: Float64Array; // from its begin to its end; NaN: not known
  readonly core: Int32Array; // an index into the model's cores, NO_CORE or SEVERAL_CORES
  readonly order: Uint32Array; // all tasks, in the order of submission
  readonly edges: Edges | null;
}

/** Gives each text one number. */
class Names {
  readonly list: string[] = [];
  private readonly numbers = new Map<string, number>();

  number(text: string): number {
    let found = this.numbers.get(text);
    if (found === undefined) {
      found = this.list.length;
      this.list.push(text);
      this.numbers.set(text, found);
    }
    return found;
  }
}

function* kernelsOf(model: RunModel, edges: Edges | null, names: Names): Work<Uint32Array> {
  const kernel = new Uint32Array(model.tasks).fill(NOT_KNOWN);
  const fromEdges = edges?.kernels.map((name) => names.number(name)) ?? [];
  const fromTimeline = model.kernels.map((name) => names.number(name));
  for (let task = 0; task < model.tasks; task++) {
    if (task % STEPS === 0) yield;
    const known = edges ? edges.kernel[task] : NOT_KNOWN;
    if (known < fromEdges.length) {
      kernel[task] = fromEdges[known];
    } else if (task < model.timed) {
      const first = model.firstPart[task];
      const parts = model.firstPart[task + 1] - first;
      if (parts === 1) kernel[task] = fromTimeline[model.partKernel[first]] ?? NOT_KNOWN;
      else if (parts > 1) kernel[task] = names.number(model.kernelOf(task));
    }
  }
  return kernel;
}

/** Of a task that had not ended, or of which only a bound is known, nobody knows how long it took. */
const NOT_EXACT = UNFINISHED | BEGAN_BEFORE | ENDED_LATER;

function* timesOf(model: RunModel, time: Float64Array, core: Int32Array): Work<void> {
  for (let task = 0; task < model.timed; task++) {
    if (task % STEPS === 0) yield;
    const first = model.firstPart[task];
    const past = model.firstPart[task + 1];
    if (first === past) continue;
    let begin = Infinity;
    let end = -Infinity;
    let isKnown = true;
    core[task] = model.partCore[first];
    for (let part = first; part < past; part++) {
      const from = timeAt(model.partBegin, part);
      const to = timeAt(model.partEnd, part);
      if (Number.isNaN(from) || Number.isNaN(to) || model.partFlags[part] & NOT_EXACT) isKnown = false;
      begin = Math.min(begin, from);
      end = Math.max(end, to);
      if (model.partCore[part] !== core[task]) core[task] = SEVERAL_CORES;
    }
    if (isKnown) time[task] = end - begin;
    if (core[task] >= model.cores.length) core[task] = NO_CORE;
  }
}

/** The tasks in the order of submission; those that deps.json lacks follow. */
function orderOf(model: RunModel, edges: Edges | null): Uint32Array {
  const order = new Uint32Array(model.tasks);
  const seen = new Uint8Array(model.tasks);
  let count = 0;
  for (const task of edges?.order ?? [])
    if (task < model.tasks && !seen[task]) {
      seen[task] = 1;
      order[count++] = task;
    }
  for (let task = 0; task < model.tasks; task++) if (!seen[task]) order[count++] = task;
  return order;
}

export function* readFacts(model: RunModel, edges: Edges | null): Work<Facts> {
  const names = new Names();
  const kernel = yield* kernelsOf(model, edges, names);
  const time = new Float64Array(model.tasks).fill(NaN);
  const core = new Int32Array(model.tasks).fill(NO_CORE);
  yield* timesOf(model, time, core);
  const scopes = edges?.scopes ?? [];
  const scope = edges?.scope ?? new Uint32Array(model.tasks).fill(NOT_KNOWN);
  return { tasks: model.tasks, kernels: names.list, scopes, kernel, scope, time, core, order: orderOf(model, edges), edges };
}

export function kernelName(facts: Facts, task: number): string {
  return facts.kernels[facts.kernel[task]] ?? "?";
}

export function scopeName(facts: Facts, task: number): string {
  return facts.scopes[facts.scope[task]] ?? "";
}
