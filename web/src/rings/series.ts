// SPDX-License-Identifier: Apache-2.0
import { LABELS, MAP } from "./document.js";
import type { Samples } from "./samples.js";

/** Samples whose extremes are kept together. */
export const BLOCK = 64;

export interface Extremes {
  low: number;
  high: number;
  top: number; // the highest peak
}

/** One resource of one ring: the samples that have it, in their order. */
export class Series {
  readonly index: Uint32Array;
  readonly value: Float64Array;
  readonly peak: Float64Array;
  readonly most: number;
  private readonly low: Float64Array; // of each block
  private readonly high: Float64Array;
  private readonly top: Float64Array;

  constructor(
    samples: Samples,
    readonly resource: number,
    readonly ring: number,
    readonly capacity: number,
  ) {
    const all = resource === MAP;
    const n = samples.count;
    let length = n;
    if (!all) {
      length = 0;
      for (let i = 0; i < n; i++) if (samples.ring[i] === ring) length++;
    }
    this.index = new Uint32Array(length);
    this.value = new Float64Array(length);
    this.peak = new Float64Array(length);
    for (let i = 0, k = 0; i < n; i++)
      if (all || samples.ring[i] === ring) {
        this.index[k] = i;
        this.value[k] = samples.used[resource][i];
        this.peak[k++] = samples.peak[resource][i];
      }
    const blocks = Math.ceil(length / BLOCK);
    this.low = new Float64Array(blocks).fill(Infinity);
    this.high = new Float64Array(blocks);
    this.top = new Float64Array(blocks);
    for (let i = 0; i < length; i++) {
      const b = Math.floor(i / BLOCK);
      this.low[b] = Math.min(this.low[b], this.value[i]);
      this.high[b] = Math.max(this.high[b], this.value[i]);
      this.top[b] = Math.max(this.top[b], this.peak[i]);
    }
    this.most = this.top.reduce((a, b) => Math.max(a, b), 0);
  }

  get name(): string {
    return this.resource === MAP ? LABELS[MAP] : `${LABELS[this.resource]}, ring ${this.ring}`;
  }

  /** The first sample at or behind a position. */
  find(position: number): number {
    let low = 0;
    let high = this.index.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.index[middle] < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Extremes of [from, to), from whole blocks where the range covers them. */
  extremes(from: number, to: number, into: Extremes): void {
    for (let i = from; i < to; ) {
      const b = Math.floor(i / BLOCK);
      if (i % BLOCK === 0 && i + BLOCK <= to) {
        into.low = Math.min(into.low, this.low[b]);
        into.high = Math.max(into.high, this.high[b]);
        into.top = Math.max(into.top, this.top[b]);
        i += BLOCK;
      } else {
        into.low = Math.min(into.low, this.value[i]);
        into.high = Math.max(into.high, this.value[i]);
        into.top = Math.max(into.top, this.peak[i]);
        i++;
      }
    }
  }

  /** The sample of [from, to) with the most in use. */
  highest(from: number, to: number): number {
    let best = from;
    for (let i = from; i < to; i++) if (this.peak[i] > this.peak[best]) best = i;
    return best;
  }
}
