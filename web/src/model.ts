// SPDX-License-Identifier: Apache-2.0
// A run in the page's memory: tasks, parts, kernels, edges. Views share it, and it is made of two requests: `timeline`,
// which is there at once, and `edges`, which takes longer and which some runs do not have.
//
// A task is a number here: its index in the timeline. Tasks that only deps.json has follow behind those.
import { type Columns, askColumns } from "./api.js";
import { plural } from "./format.js";

export interface CoreInfo {
  number: number;
  kind: string;
  name: string;
}

interface TimelineHeader {
  start_ns: string;
  span_ns: number;
  source: string;
  generation: number;
  kernels: string[];
  cores: CoreInfo[];
  tasks: number;
  notes: string[];
}

interface EdgesHeader {
  tasks: number;
  known: number;
  scopes: string[];
  lines: string[];
  kernels: string[];
  runtime: string;
  lost: number;
  unknown: number;
  generation: number;
}

/** Times: a number column in which an unknown time is the largest u32, or NaN. */
export type Times = Uint32Array | Float64Array;
const UNKNOWN = 0xffffffff;

export function timeAt(times: Times, index: number): number {
  const time = times[index];
  return times instanceof Uint32Array && time === UNKNOWN ? NaN : time;
}

/** Of part_flags: it had not ended; it began at its begin or before; it ended at its end or later. */
export const UNFINISHED = 1;
export const BEGAN_BEFORE = 2;
export const ENDED_LATER = 4;

export const EDGE_KINDS = ["explicit", "raw", "war", "waw"];

/** The edges of a run: what each task waited for, and who waited for it. */
export class Edges {
  readonly scopes: string[];
  readonly lines: string[];
  readonly kernels: string[];
  readonly count: number; // of edges
  /** By task of the model; largest u32: not known. */
  readonly scope: Uint32Array;
  readonly line: Uint32Array;
  readonly kernel: Uint32Array; // index into `kernels`
  readonly submitted: Float64Array; // NaN: not known
  readonly order: Uint32Array; // tasks in the order of submission
  /** The host built the graph before the run: every task was submitted when the run began. */
  readonly isBuiltBefore: boolean;
  readonly notes: string[]; // what is missing
  /** Edges by the task that waits: those of task t are [first[t], first[t + 1]) of `before` and `kind`. */
  readonly first: Uint32Array;
  readonly before: Uint32Array;
  readonly kind: Uint8Array;
  /** The same edges by the task that is waited for. */
  readonly firstAfter: Uint32Array;
  readonly after: Uint32Array;

  constructor(answer: Columns<EdgesHeader>, tasks: number) {
    const { header, column } = answer;
    this.scopes = header.scopes;
    this.lines = header.lines;
    this.kernels = header.kernels;
    this.notes = [];
    if (header.lost > 0) this.notes.push(`${plural(header.lost, "task or edge", "tasks and edges")} of the graph ${header.lost === 1 ? "was" : "were"} not written by the run.`);
    if (header.unknown > 0) this.notes.push(`${plural(header.unknown, "edge")} of deps.json ${header.unknown === 1 ? "leads" : "lead"} to no task and ${header.unknown === 1 ? "is" : "are"} left out.`);
    this.order = column.task as Uint32Array;
    this.isBuiltBefore = header.runtime === "host_build_graph";
    const submitted = column.submitted as Times;
    this.scope = new Uint32Array(tasks).fill(UNKNOWN);
    this.line = new Uint32Array(tasks).fill(UNKNOWN);
    this.kernel = new Uint32Array(tasks).fill(UNKNOWN);
    this.submitted = new Float64Array(tasks).fill(NaN);
    for (let i = 0; i < this.order.length; i++) {
      const task = this.order[i];
      this.scope[task] = (column.scope as Uint32Array)[i];
      this.line[task] = (column.line as Uint32Array)[i];
      this.kernel[task] = (column.kernel as Uint32Array)[i];
      this.submitted[task] = timeAt(submitted, i);
    }
    const before = column.before as Uint32Array;
    const after = column.after as Uint32Array;
    const kind = column.kind as Uint8Array;
    this.count = before.length;
    this.first = countInto(after, tasks);
    this.firstAfter = countInto(before, tasks);
    this.before = new Uint32Array(before.length);
    this.kind = new Uint8Array(before.length);
    this.after = new Uint32Array(before.length);
    const next = this.first.slice();
    const nextAfter = this.firstAfter.slice();
    for (let i = 0; i < before.length; i++) {
      const at = next[after[i]]++;
      this.before[at] = before[i];
      this.kind[at] = kind[i];
      this.after[nextAfter[before[i]]++] = after[i];
    }
  }

  waitsFor(task: number): Uint32Array {
    return this.before.subarray(this.first[task], this.first[task + 1]);
  }

  waitedBy(task: number): Uint32Array {
    return this.after.subarray(this.firstAfter[task], this.firstAfter[task + 1]);
  }
}

/** Where each key's entries begin, for a counting sort. */
function countInto(keys: Uint32Array, size: number): Uint32Array {
  const first = new Uint32Array(size + 1);
  for (let i = 0; i < keys.length; i++) first[keys[i] + 1]++;
  for (let i = 0; i < size; i++) first[i + 1] += first[i];
  return first;
}

export class RunModel {
  readonly span: number;
  readonly start: bigint;
  readonly source: string;
  readonly generation: number;
  readonly notes: string[];
  readonly kernels: string[];
  readonly cores: CoreInfo[];
  readonly timed: number; // tasks of the timeline
  tasks: number; // with those that only deps.json has
  id: BigUint64Array; // by task
  readonly firstPart: Uint32Array; // by task of the timeline, and one more
  readonly records: Uint32Array; // by task of the timeline
  readonly parts: number;
  readonly partCore: Uint16Array;
  readonly partKernel: Uint16Array;
  readonly partBegin: Times;
  readonly partEnd: Times;
  readonly partFlags: Uint8Array;
  edges: Edges | null = null;
  edgesError = ""; // why there are none
  private edgesWork: Promise<Edges | null> | null = null;

  constructor(
    readonly key: string,
    answer: Columns<TimelineHeader>,
  ) {
    const { header, column } = answer;
    this.span = header.span_ns;
    this.start = BigInt(header.start_ns);
    this.source = header.source;
    this.generation = header.generation;
    this.notes = header.notes;
    // Other programs record kernels without names; they are still different kernels.
    this.kernels = header.kernels.map((name, index) => name || `unnamed ${index}`);
    this.cores = header.cores;
    this.id = column.id as BigUint64Array;
    this.timed = this.id.length;
    this.tasks = this.timed;
    this.firstPart = column.first_part as Uint32Array;
    this.records = column.records as Uint32Array;
    this.partCore = column.part_core as Uint16Array;
    this.partKernel = column.part_kernel as Uint16Array;
    this.partBegin = column.part_begin as Times;
    this.partEnd = column.part_end as Times;
    this.partFlags = column.part_flags as Uint8Array;
    this.parts = this.partCore.length;
  }

  static async load(key: string, signal?: AbortSignal): Promise<RunModel> {
    return new RunModel(key, await askColumns<TimelineHeader>("timeline", { run: key }, signal));
  }

  /** Loads the edges once; null if the run has none (edgesError says why). */
  loadEdges(): Promise<Edges | null> {
    this.edgesWork ??= this.readEdges();
    return this.edgesWork;
  }

  private async readEdges(): Promise<Edges | null> {
    try {
      const answer = await askColumns<EdgesHeader>("edges", { run: this.key });
      const extra = answer.column.extra_id as BigUint64Array;
      if (answer.header.known !== this.timed) {
        this.edgesError = "the run has grown meanwhile; load it again";
        return null;
      }
      const ids = new BigUint64Array(this.timed + extra.length);
      ids.set(this.id);
      ids.set(extra, this.timed);
      this.id = ids;
      this.tasks = ids.length;
      this.edges = new Edges(answer, this.tasks);
      return this.edges;
    } catch (error) {
      this.edgesError = error instanceof Error ? error.message : String(error);
      return null;
    }
  }

  /** "12", or "1:12" for ring 1, as reports write it. */
  idText(task: number): string {
    return idText(this.id[task]);
  }

  /** The task with that id in any notation: 12, 1:12, 0x10000000c; -1: there is none. */
  find(text: string): number {
    const id = parseId(text);
    if (id === null) return -1;
    let low = 0;
    let high = this.timed;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.id[middle] < id) low = middle + 1;
      else high = middle;
    }
    if (low < this.timed && this.id[low] === id) return low;
    for (let i = this.timed; i < this.tasks; i++) if (this.id[i] === id) return i;
    return -1;
  }

  /** "mat+add" for a mix; "?" if no kernel is known. */
  kernelOf(task: number): string {
    if (task < this.timed) {
      const names: string[] = [];
      for (let part = this.firstPart[task]; part < this.firstPart[task + 1]; part++)
        names.push(this.kernels[this.partKernel[part]] ?? "?");
      if (names.length) return names.join("+");
    }
    return this.edges?.kernels[this.edges.kernel[task]] ?? "?";
  }

  beginOf(task: number): number {
    return task < this.timed && this.firstPart[task] < this.firstPart[task + 1] ? timeAt(this.partBegin, this.firstPart[task]) : NaN;
  }

  /** When its last part had ended; NaN: not known, also if one of them had not ended. */
  endOf(task: number): number {
    if (task >= this.timed || this.firstPart[task] >= this.firstPart[task + 1]) return NaN;
    let end = -Infinity;
    for (let part = this.firstPart[task]; part < this.firstPart[task + 1]; part++) end = Math.max(end, timeAt(this.partEnd, part));
    return end;
  }

  /** The flags of all its parts: with one of them set, its times are bounds. */
  flagsOf(task: number): number {
    let flags = 0;
    if (task < this.timed) for (let part = this.firstPart[task]; part < this.firstPart[task + 1]; part++) flags |= this.partFlags[part];
    return flags;
  }

  /** When the last task that it waited for had ended, or it was submitted; NaN: not known. Needs the edges. */
  readyOf(task: number): number {
    if (!this.edges) return NaN;
    let ready = this.edges.submitted[task];
    if (Number.isNaN(ready)) {
      if (!this.edges.isBuiltBefore) return NaN;
      ready = 0;
    }
    for (const before of this.edges.waitsFor(task)) {
      const end = this.endOf(before);
      if (Number.isNaN(end) || this.flagsOf(before) & (UNFINISHED | ENDED_LATER)) return NaN;
      if (end > ready) ready = end;
    }
    return ready;
  }
}

export function idText(id: bigint): string {
  const ring = id >> 32n;
  return ring === 0n ? String(id) : `${ring}:${id & 0xffffffffn}`;
}

export function parseId(text: string): bigint | null {
  const pair = /^(\d{1,10}):(\d{1,10})$/.exec(text.trim());
  if (pair) return (BigInt(pair[1]) << 32n) | BigInt(pair[2]);
  return /^(0x[0-9a-fA-F]{1,16}|\d{1,20})$/.test(text.trim()) ? BigInt(text.trim()) : null;
}

// --- the models that are loaded ---------------------------------------------------------------------

const MOST_MODELS = 4;
const models = new Map<string, Promise<RunModel>>();
let lastLoadMs = 0;

/** How long the last model took to load, in milliseconds. */
export function loadMs(): number {
  return lastLoadMs;
}

/** The model of a run, loaded once. `again`: the run has grown. */
export function modelOf(key: string, again = false): Promise<RunModel> {
  if (again) models.delete(key);
  let model = models.get(key);
  if (!model) {
    const begin = performance.now();
    model = RunModel.load(key);
    models.set(key, model);
    // Who has looked at many large runs must not keep all of them in memory; the first one is the oldest.
    for (const old of models.keys()) if (models.size > MOST_MODELS) models.delete(old);
    model.then(
      () => (lastLoadMs = performance.now() - begin),
      () => models.delete(key),
    );
  }
  return model;
}

/** The run has grown: the next to ask for its model loads it again. */
export function forgetModel(key: string): void {
  models.delete(key);
}
