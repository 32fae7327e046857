// SPDX-License-Identifier: Apache-2.0
// How many of something there are at a time: tasks that are ready and wait. Its mean over any stretch of time takes two binary
// searches, so that a pixel of a far view shows the mean of all that happened in it.
import { upperBound } from "./lane.js";

function sumsOf(sorted: Float64Array): Float64Array {
  const sums = new Float64Array(sorted.length + 1);
  for (let i = 0; i < sorted.length; i++) sums[i + 1] = sums[i] + sorted[i];
  return sums;
}

export class Counter {
  private readonly upSums: Float64Array;
  private readonly downSums: Float64Array;
  readonly most: number; // at any time

  /** The times at which the count goes up and down; sorts them. */
  constructor(
    private readonly ups: Float64Array,
    private readonly downs: Float64Array,
  ) {
    ups.sort();
    downs.sort();
    this.upSums = sumsOf(ups);
    this.downSums = sumsOf(downs);
    this.most = mostOf(ups, downs);
  }

  at(time: number): number {
    return upperBound(this.ups, time) - upperBound(this.downs, time);
  }

  /** The integral of the count from the beginning to `time`. */
  private integral(time: number): number {
    const up = upperBound(this.ups, time);
    const down = upperBound(this.downs, time);
    return up * time - this.upSums[up] - (down * time - this.downSums[down]);
  }

  /** The mean within [from, to). */
  mean(from: number, to: number): number {
    return to > from ? (this.integral(to) - this.integral(from)) / (to - from) : this.at(from);
  }

  /** The means of `into.length` neighbouring pixels of `width` nanoseconds. */
  means(from: number, width: number, into: Float32Array): void {
    let before = this.integral(from);
    for (let i = 0; i < into.length; i++) {
      const next = this.integral(from + (i + 1) * width);
      into[i] = (next - before) / width;
      before = next;
    }
  }
}

function mostOf(ups: Float64Array, downs: Float64Array): number {
  let most = 0;
  let down = 0;
  for (let up = 0; up < ups.length; up++) {
    while (down < downs.length && downs[down] <= ups[up]) down++;
    if (up + 1 - down > most) most = up + 1 - down;
  }
  return most;
}
