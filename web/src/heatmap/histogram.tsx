// SPDX-License-Identifier: Apache-2.0
// How often which values occur, with the range of the colours marked.
import { useMemo } from "preact/hooks";
import { formatCount } from "../format.js";
import { type Histogram, type Range, numberFrom } from "./range.js";

const WIDTH = 256;
const HEIGHT = 90;

/** Heights of the bars, 0 to 1. */
export function barHeights(counts: readonly number[], isLog: boolean): number[] {
  const size = (count: number) => (isLog ? Math.log10(1 + count) : count);
  const most = counts.reduce((largest, count) => Math.max(largest, size(count)), 0);
  return counts.map((count) => (most > 0 ? size(count) / most : 0));
}

function summary(histogram: Histogram, from: number, to: number): string {
  const most = histogram.counts.indexOf(Math.max(...histogram.counts));
  const width = (to - from) / histogram.counts.length;
  const short = (value: number) => String(Number(value.toPrecision(3)));
  return `Histogram of ${formatCount(histogram.looked_at)} elements from ${short(from)} to ${short(to)}; most of them lie between ${short(from + most * width)} and ${short(from + (most + 1) * width)}`;
}

export function HistogramChart({ histogram, range, isLog }: { histogram: Histogram; range: Range | null; isLog: boolean }) {
  const from = numberFrom(histogram.from);
  const to = numberFrom(histogram.to);
  const bars = useMemo(() => barHeights(histogram.counts, isLog), [histogram, isLog]);
  if (!Number.isFinite(from) || !Number.isFinite(to)) return <p class="note">No element is a finite number.</p>;
  const width = WIDTH / bars.length;
  const x = (value: number) => (to > from ? Math.min(Math.max((value - from) / (to - from), 0), 1) : 0.5) * WIDTH;
  const binWidth = (to - from) / bars.length;
  const short = (value: number) => String(Number(value.toPrecision(4)));
  return (
    <figure class="histogram">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={summary(histogram, from, to)}>
        {range && <rect class="histogram-range" x={x(range.low)} y={0} width={Math.max(x(range.high) - x(range.low), 1)} height={HEIGHT} />}
        {bars.map((height, i) => (
          <rect
            key={i}
            class="histogram-bar"
            x={i * width}
            width={Math.max(width - 0.5, 0.5)}
            y={HEIGHT - Math.max(height * (HEIGHT - 4), histogram.counts[i] > 0 ? 1 : 0)}
            height={Math.max(height * (HEIGHT - 4), histogram.counts[i] > 0 ? 1 : 0)}
          >
            <title>{`${short(from + i * binWidth)} to ${short(from + (i + 1) * binWidth)}: ${formatCount(histogram.counts[i])}`}</title>
          </rect>
        ))}
      </svg>
      <figcaption>
        <span>{short(from)}</span>
        <span>{short(to)}</span>
      </figcaption>
      {!histogram.complete && <p class="note">Of the first {formatCount(histogram.looked_at)} elements: the time was over before the end.</p>}
    </figure>
  );
}
