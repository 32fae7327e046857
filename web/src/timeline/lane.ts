// SPDX-License-Identifier: Apache-2.0
// A lane of the timeline: slices of time, one behind the other, such as the tasks of a core. A million of them must be drawn
// sixty times a second, so a lane answers two questions without looking at each slice:
//
//   which slices are in sight?        binary search in arrays that are sorted by time
//   how busy is this pixel, and by    a pyramid of bins: bin i of level L covers [i, i + 1) × 2^(base + L) ns and has the
//   whom?                             busy share and the key (kernel, core or duration) that prevails
//
// Slices of one lane may overlap in recordings of others; busy time then counts once.

/** A key of no slice: the bin is empty. */
export const NO_KEY = 0xffff;

const TRACE = 1e-6; // of a bin
const MOST_AT_A_PIXEL = 4096;

export interface Level {
  width: number; // of a bin, in nanoseconds
  busy: Float32Array; // 0 to 1
  key: Uint16Array;
}

/** The bins of one lane, finest first. */
export interface Pyramid {
  levels: Level[];
}

/** How many entries at the front of a sorted array are less than `value`. */
export function lowerBound(sorted: ArrayLike<number>, value: number, from = 0, to = sorted.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many entries at the front of a sorted array are `value` or less. */
export function upperBound(sorted: ArrayLike<number>, value: number, from = 0, to = sorted.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Lane {
  readonly count: number;
  /** The latest end of slice i and all before it: sorted, also where slices overlap. */
  private readonly reach: Float64Array;
  /** Busy time of the slices before i. */
  private readonly cover: Float64Array;

  /** Slices in the order of `begin`; `item` is what each one stands for. The lane keeps the arrays. */
  constructor(
    readonly begin: Float64Array,
    readonly end: Float64Array,
    readonly item: Uint32Array,
  ) {
    this.count = begin.length;
    this.reach = new Float64Array(this.count);
    this.cover = new Float64Array(this.count + 1);
    let reach = -Infinity;
    for (let i = 0; i < this.count; i++) {
      this.cover[i + 1] = this.cover[i] + Math.max(0, end[i] - Math.max(begin[i], reach));
      if (end[i] > reach) reach = end[i];
      this.reach[i] = reach;
    }
  }

  /** The first slice that ends behind `time`, or one before it that another one outlasts; `count`: there is none. */
  firstAfter(time: number, from = 0): number {
    return upperBound(this.reach, time, from);
  }

  /** The first slice that begins at `time` or later. */
  firstFrom(time: number, from = 0): number {
    return lowerBound(this.begin, time, from);
  }

  private busyUntil(time: number): number {
    const count = this.firstFrom(time);
    return count ? this.cover[count] - Math.max(0, this.reach[count - 1] - time) : 0;
  }

  /** Busy nanoseconds within [from, to). */
  busyIn(from: number, to: number): number {
    return to > from ? this.busyUntil(to) - this.busyUntil(from) : 0;
  }

  /** How many slices have a part of their time within [from, to). */
  countIn(from: number, to: number): number {
    let count = 0;
    const last = this.firstFrom(to);
    const sure = lowerBound(this.begin, from, 0, last);
    for (let i = this.firstAfter(from); i < sure; i++) if (this.end[i] > from) count++;
    return count + last - sure;
  }

  /** The slice at `time`, or the nearest one within `slack`; -1: there is none. */
  at(time: number, slack: number): number {
    let best = -1;
    let distance = slack;
    const first = this.firstAfter(time - slack);
    // Where thousands of slices share a pixel, any of them will do.
    const last = Math.min(first + MOST_AT_A_PIXEL, upperBound(this.begin, time + slack));
    for (let i = first; i < last; i++) {
      const away = time < this.begin[i] ? this.begin[i] - time : time >= this.end[i] ? time - this.end[i] : 0;
      const isBetter = away < distance || (away === distance && (best < 0 || this.length(i) > this.length(best)));
      if (away <= slack && isBetter) {
        best = i;
        distance = away;
      }
    }
    return best;
  }

  length(slice: number): number {
    return this.end[slice] - this.begin[slice];
  }
}

/** The exponent of the finest bins: about two bins for each slice, and at most `most`. */
export function baseExponent(span: number, slices: number, most = 1 << 19): number {
  const bins = Math.min(most, Math.max(1024, 2 * slices));
  return Math.max(0, Math.ceil(Math.log2(Math.max(1, span) / bins)));
}

/**
 * Makes the bins of a lane. `keyOf` gives the key of a slice. The key of a bin is the one that has more than half of the busy
 * time, if there is such a one, and one of the frequent ones if not: each bin votes with its weight as in the majority vote of
 * Boyer and Moore, which needs no table of all keys in each bin.
 */
export function buildPyramid(lane: Lane, span: number, base: number, keyOf: (item: number) => number): Pyramid {
  const width = 2 ** base;
  const bins = Math.max(1, Math.ceil((span + 1) / width));
  const busy = new Float32Array(bins);
  const key = new Uint16Array(bins).fill(NO_KEY);
  const weight = new Float32Array(bins);
  let covered = 0; // busy time counts once where slices overlap
  for (let i = 0; i < lane.count; i++) {
    const slice = keyOf(lane.item[i]);
    const begin = Math.max(lane.begin[i], covered); // not before 0: there are no bins
    const end = Math.min(lane.end[i], bins * width);
    if (end < begin || begin >= bins * width) continue;
    covered = Math.max(covered, end);
    let bin = Math.floor(begin / width);
    do {
      // A slice of no length gets a trace of time, so that it is seen from afar.
      const time = Math.max(TRACE * width, Math.min(end, (bin + 1) * width) - Math.max(begin, bin * width));
      busy[bin] += time / width;
      vote(key, weight, bin, slice, time);
      bin++;
    } while (bin < bins && bin * width < end);
  }
  const levels: Level[] = [{ width, busy, key }];
  let votes: Float32Array = weight;
  while (levels[levels.length - 1].busy.length > 1) {
    const above = halve(levels[levels.length - 1], votes);
    levels.push(above.level);
    votes = above.weight;
  }
  return { levels };
}

function vote(key: Uint16Array, weight: Float32Array, bin: number, candidate: number, time: number): void {
  if (key[bin] === candidate) {
    weight[bin] += time;
  } else if (time > weight[bin]) {
    key[bin] = candidate;
    weight[bin] = time - weight[bin];
  } else {
    weight[bin] -= time;
  }
}

function halve(below: Level, votes: Float32Array): { level: Level; weight: Float32Array } {
  const bins = (below.busy.length + 1) >> 1;
  const busy = new Float32Array(bins);
  const key = new Uint16Array(bins).fill(NO_KEY);
  const weight = new Float32Array(bins);
  for (let i = 0; i < below.busy.length; i++) {
    const bin = i >> 1;
    busy[bin] += below.busy[i] / 2;
    if (below.key[i] !== NO_KEY) vote(key, weight, bin, below.key[i], votes[i]);
  }
  return { level: { width: below.width * 2, busy, key }, weight };
}

/** The level whose bins are at most a pixel of `pixel` nanoseconds wide, -1: even the finest are wider. */
export function levelFor(pyramid: Pyramid, pixel: number): number {
  const finest = pyramid.levels[0].width;
  if (pixel < finest) return -1;
  return Math.min(pyramid.levels.length - 1, Math.floor(Math.log2(pixel / finest) + 1e-9));
}
