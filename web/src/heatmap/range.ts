// SPDX-License-Identifier: Apache-2.0
// Which numbers the two ends of a colour map stand for.

export const RANGE_MODES = ["auto", "full", "symmetric", "robust", "manual"] as const;
export type RangeMode = (typeof RANGE_MODES)[number];

export interface Range {
  low: number;
  high: number;
}

export interface Histogram {
  from: number | string | null;
  to: number | string | null;
  counts: number[];
  looked_at: number;
  complete: boolean;
}

/** The part of the values that the robust range leaves out at each end. */
export const ROBUST_TAIL = 0.01;

/** Numbers come as numbers or, where JSON has none for them, as texts. NaN: not known. */
export function numberFrom(value: number | string | null | undefined): number {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return NaN;
  if (/^[+-]?inf(inity)?$/i.test(value)) return value.startsWith("-") ? -Infinity : Infinity;
  return value.trim() === "" ? NaN : Number(value);
}

/** The values between which all but `tail` of the values at each end lie, by the histogram's bins. */
export function percentiles(histogram: Histogram, tail = ROBUST_TAIL): Range | null {
  const from = numberFrom(histogram.from);
  const to = numberFrom(histogram.to);
  const total = histogram.counts.reduce((sum, count) => sum + count, 0);
  if (!Number.isFinite(from) || !Number.isFinite(to) || total === 0) return null;
  const width = (to - from) / histogram.counts.length;
  let low = 0;
  for (let seen = 0; low < histogram.counts.length - 1 && seen + histogram.counts[low] <= total * tail; low++) seen += histogram.counts[low];
  let high = histogram.counts.length - 1;
  for (let seen = 0; high > low && seen + histogram.counts[high] <= total * tail; high--) seen += histogram.counts[high];
  return { low: from + low * width, high: from + (high + 1) * width };
}

function around(range: Range): Range {
  const most = Math.max(Math.abs(range.low), Math.abs(range.high));
  return { low: -most, high: most };
}

/** The range of a mode. `full` is that of all values; `robust` is null as long as there is no histogram. */
export function rangeOf(mode: RangeMode, full: Range, robust: Range | null, manual: Range): Range {
  switch (mode) {
    case "auto":
      return full.low < 0 && full.high > 0 ? around(full) : full;
    case "symmetric":
      return around(full);
    case "robust":
      return robust ?? full;
    case "manual":
      return manual.low < manual.high ? manual : full;
    default:
      return full;
  }
}

/** Where a value lies between the ends: 0 to 1. A range without width has everything in its middle. */
export function shareOf(value: number, range: Range, isLog: boolean): number {
  if (!(range.high > range.low)) return 0.5;
  const low = isLog ? Math.log(range.low) : range.low;
  const high = isLog ? Math.log(range.high) : range.high;
  const share = ((isLog ? Math.log(value) : value) - low) / (high - low);
  return Math.min(Math.max(share, 0), 1);
}

/** The range of a logarithmic map of errors: six powers of ten below the largest, or all of a smaller span. */
export function errorRange(most: number, least: number): Range {
  if (!(most > 0)) return { low: 0.1, high: 1 };
  const low = Math.max(most * 1e-6, Number.isFinite(least) && least > 0 ? least : 0);
  return low < most ? { low, high: most } : { low: most / 10, high: most };
}
