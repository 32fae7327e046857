// SPDX-License-Identifier: Apache-2.0
// What the timeline draws, made once of a run: a lane for each core, keys for the colours, and, when the edges are there, the
// orchestrator's submissions, the scopes and the tasks that are ready and wait.
import { BEGAN_BEFORE, type Edges, type RunModel, UNFINISHED, timeAt } from "../model.js";
import { type Rgb, categoryColour, kernelColour, parseColour, rampColour } from "../palette.js";
import { Counter } from "./counter.js";
import { Lane, type Pyramid, baseExponent, buildPyramid } from "./lane.js";
import { gather, orderByTime } from "./sort.js";

export type ColourBy = "kernel" | "core" | "duration";
export const COLOUR_CHOICES: readonly ColourBy[] = ["kernel", "core", "duration"];

const MOST_SCOPES = 5; // rows
const DURATIONS = 32; // steps of the colours of durations, each twice as long as the one before
const CHUNK = 200_000;
const MOST_UNFINISHED = 2000; // more than cores that anybody has

/** The colours of parts: a key for each part, a colour for each key. */
export interface Keys {
  by: ColourBy;
  ofPart: Uint16Array;
  colours: Rgb[];
  pyramids: Pyramid[]; // by lane
  /** For the legend of durations: the shortest and the longest, in nanoseconds. */
  range: { least: number; most: number } | null;
}

export interface ScopeRow {
  name: string;
  scope: number; // index into the texts of the edges
  lane: Lane; // items: tasks that the orchestrator submitted first in the scope
}

/** What needs the edges. */
export interface EdgeTracks {
  submissions: Float64Array; // sorted
  scopes: ScopeRow[];
  moreScopes: number; // sites without a row
  ready: Counter | null; // null: no task has both times
}

export class TimelineData {
  readonly lanes: Lane[];
  readonly taskOfPart: Uint32Array;
  readonly begin: Float64Array; // by part
  readonly end: Float64Array; // by part; the end of the run for one that had not ended
  readonly untimed: number; // parts without a time
  readonly unfinished: number[] = []; // parts that had not ended; at most MOST_UNFINISHED
  private readonly base: number;

  constructor(readonly model: RunModel) {
    const parts = model.parts;
    this.begin = new Float64Array(parts);
    this.end = new Float64Array(parts);
    this.taskOfPart = new Uint32Array(parts);
    for (let task = 0; task < model.timed; task++)
      for (let part = model.firstPart[task]; part < model.firstPart[task + 1]; part++) this.taskOfPart[part] = task;
    const counts = new Uint32Array(model.cores.length);
    let untimed = 0;
    for (let part = 0; part < parts; part++) {
      const begin = (this.begin[part] = timeAt(model.partBegin, part));
      const end = timeAt(model.partEnd, part);
      this.end[part] = Number.isNaN(end) || (model.partFlags[part] & UNFINISHED) !== 0 ? model.span : end;
      if (Number.isNaN(begin) || model.partCore[part] >= counts.length) {
        untimed++;
        continue;
      }
      counts[model.partCore[part]]++;
      if (model.partFlags[part] & UNFINISHED && this.unfinished.length < MOST_UNFINISHED) this.unfinished.push(part);
    }
    this.untimed = untimed;
    this.lanes = this.makeLanes(counts);
    this.base = baseExponent(model.span, parts / Math.max(1, this.lanes.length));
  }

  private makeLanes(counts: Uint32Array): Lane[] {
    const items = Array.from(counts, (count) => new Uint32Array(count));
    const next = new Uint32Array(counts.length);
    for (let part = 0; part < this.begin.length; part++) {
      const core = this.model.partCore[part];
      if (!Number.isNaN(this.begin[part]) && core < items.length) items[core][next[core]++] = part;
    }
    return items.map((parts) => {
      const order = orderByTime(gather(this.begin, parts));
      const sorted = order.map((index) => parts[index]);
      return new Lane(gather(this.begin, sorted), gather(this.end, sorted), sorted);
    });
  }

  /** Keys and bins for one way to colour; a million parts take about 0.1 s. */
  makeKeys(by: ColourBy): Keys {
    const { model } = this;
    if (by === "kernel")
      return this.keysOf(by, model.partKernel, model.kernels.map((name) => parseColour(kernelColour(name))), null);
    if (by === "core") return this.keysOf(by, model.partCore, model.cores.map((_, index) => parseColour(categoryColour(index))), null);
    let least = Infinity;
    let most = 1;
    for (let part = 0; part < model.parts; part++) {
      const length = Math.max(1, this.end[part] - this.begin[part]);
      if (length < least) least = length;
      if (length > most) most = length;
    }
    if (!(least <= most)) least = 1;
    const steps = Math.max(1e-9, Math.log2(most / least));
    const ofPart = new Uint16Array(model.parts);
    for (let part = 0; part < model.parts; part++) {
      const length = Math.max(1, this.end[part] - this.begin[part]);
      ofPart[part] = Math.round((Math.log2(length / least) / steps) * (DURATIONS - 1));
    }
    const colours = Array.from({ length: DURATIONS }, (_, index) => rampColour(index / (DURATIONS - 1)));
    return this.keysOf(by, ofPart, colours, { least, most });
  }

  private keysOf(by: ColourBy, ofPart: Uint16Array, colours: Rgb[], range: Keys["range"]): Keys {
    const pyramids = this.lanes.map((lane) => buildPyramid(lane, this.model.span, this.base, (part) => ofPart[part]));
    return { by, ofPart, colours, pyramids, range };
  }

  /** The tracks above the cores. It lets the page draw between steps, since a million tasks take some tenths of a second. */
  async makeEdgeTracks(edges: Edges, isGone: () => boolean): Promise<EdgeTracks | null> {
    const submissions = edges.submitted.filter((time) => !Number.isNaN(time)).sort();
    await breathe();
    if (isGone()) return null;
    const rows = this.scopeRows(edges);
    await breathe();
    const ready = await this.readyCounter(edges, isGone);
    return isGone() ? null : { submissions, scopes: rows.rows, moreScopes: rows.more, ready };
  }

  /** A row for each source line that opens scopes: spans from the first submission to the last end of neighbouring tasks. */
  private scopeRows(edges: Edges): { rows: ScopeRow[]; more: number } {
    const spans = new Map<number, { begin: number[]; end: number[]; item: number[] }>();
    let last = -1;
    for (const task of edges.order) {
      const scope = edges.scope[task];
      const begin = Math.min(orInfinite(edges.submitted[task]), orInfinite(this.model.beginOf(task)));
      const end = Math.max(orNone(this.model.endOf(task)), orNone(edges.submitted[task]));
      if (scope >= edges.scopes.length || begin === Infinity || end === -Infinity) continue;
      let row = spans.get(scope);
      if (!row) spans.set(scope, (row = { begin: [], end: [], item: [] }));
      const at = row.begin.length - 1;
      if (scope === last && at >= 0) {
        row.begin[at] = Math.min(row.begin[at], begin);
        row.end[at] = Math.max(row.end[at], end);
      } else {
        row.begin.push(begin);
        row.end.push(end);
        row.item.push(task);
      }
      last = scope;
    }
    const all = [...spans].sort((a, b) => a[1].begin[0] - b[1].begin[0]);
    const rows = all.slice(0, MOST_SCOPES).map(([scope, row]) => {
      const begin = Float64Array.from(row.begin);
      const order = orderByTime(begin);
      const lane = new Lane(gather(begin, order), gather(Float64Array.from(row.end), order), order.map((i) => row.item[i]));
      return { name: edges.scopes[scope], scope, lane };
    });
    return { rows, more: all.length - rows.length };
  }

  private async readyCounter(edges: Edges, isGone: () => boolean): Promise<Counter | null> {
    const { model } = this;
    const ups = new Float64Array(model.timed);
    const downs = new Float64Array(model.timed);
    let count = 0;
    for (let task = 0; task < model.timed; task++) {
      if (task % CHUNK === CHUNK - 1) {
        await breathe();
        if (isGone()) return null;
      }
      const begin = model.beginOf(task);
      const ready = edges.order.length ? model.readyOf(task) : NaN;
      if (Number.isNaN(begin) || Number.isNaN(ready) || ready >= begin || model.flagsOf(task) & BEGAN_BEFORE) continue;
      ups[count] = ready;
      downs[count++] = begin;
    }
    await breathe();
    return count ? new Counter(ups.slice(0, count), downs.slice(0, count)) : null;
  }
}

const orInfinite = (time: number) => (Number.isNaN(time) ? Infinity : time);
const orNone = (time: number) => (Number.isNaN(time) ? -Infinity : time);
const breathe = () => new Promise<void>((resolve) => setTimeout(resolve, 0));
