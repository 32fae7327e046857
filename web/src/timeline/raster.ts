// SPDX-License-Identifier: Apache-2.0
// Turns lanes into rows of pixels. A row is one pixel high; the painter stretches it to the height of the lane. Its cost depends
// on the pixels and not on the number of slices.
import { type Lane, NO_KEY, type Pyramid, levelFor } from "./lane.js";
import { type Rgb, mix } from "../palette.js";

const STEPS = 16; // shades between idle and busy
const FAINTEST = 0.3; // a pixel with little in it is still seen
const CROWD = 24; // slices in one pixel that are looked at one by one

/** The colours of keys at each busy share, as pixels; the last entry of a row is the edge of a slice. */
export interface Shades {
  pixels: Uint32Array; // key × (STEPS + 2)
  empty: number;
}

const packed = (colour: Rgb) => (255 << 24) | (colour[2] << 16) | (colour[1] << 8) | colour[0];

/** `strength` below 1 lets everything fade, so that what is found or lies on the path stands out. */
export function makeShades(colours: readonly Rgb[], background: Rgb, strength: number): Shades {
  const pixels = new Uint32Array(colours.length * (STEPS + 2));
  colours.forEach((colour, key) => {
    const at = key * (STEPS + 2);
    for (let step = 1; step <= STEPS; step++)
      pixels[at + step] = packed(mix(background, colour, strength * (FAINTEST + (1 - FAINTEST) * (step / STEPS)))) >>> 0;
    pixels[at] = packed(background) >>> 0;
    pixels[at + STEPS + 1] = packed(mix(background, colour, strength * 0.45)) >>> 0;
  });
  return { pixels, empty: packed(background) >>> 0 };
}

/** Room for one row while it is made; used again for each lane. */
export class RowScratch {
  readonly busy: Float32Array;
  readonly key: Uint16Array;
  readonly best: Float32Array;
  readonly edge: Uint8Array;

  constructor(readonly width: number) {
    this.busy = new Float32Array(width);
    this.key = new Uint16Array(width);
    this.best = new Float32Array(width);
    this.edge = new Uint8Array(width);
  }

  clear(): void {
    this.busy.fill(0);
    this.key.fill(NO_KEY);
    this.best.fill(0);
    this.edge.fill(0);
  }
}

/** Busy share and key of each pixel of `pixel` nanoseconds from `from` on. True: single slices were looked at. */
export function fillRow(
  lane: Lane,
  pyramid: Pyramid,
  keyOf: (item: number) => number,
  from: number,
  pixel: number,
  row: RowScratch,
): boolean {
  row.clear();
  const level = levelFor(pyramid, pixel);
  if (level >= 0) fillFromBins(pyramid, level, from, pixel, row);
  else fillFromSlices(lane, keyOf, from, pixel, row);
  return level < 0;
}

function fillFromBins(pyramid: Pyramid, level: number, from: number, pixel: number, row: RowScratch): void {
  const { width, busy, key } = pyramid.levels[level];
  for (let x = Math.max(0, Math.floor(-from / pixel)); x < row.width; x++) {
    const begin = from + x * pixel;
    const end = begin + pixel;
    let bin = Math.max(0, Math.floor(begin / width));
    if (bin >= busy.length) break;
    let share = 0;
    let best = 0;
    for (; bin < busy.length && bin * width < end; bin++) {
      const part = busy[bin] * (Math.min(end, (bin + 1) * width) - Math.max(begin, bin * width));
      share += part;
      if (part > best) {
        best = part;
        row.key[x] = key[bin];
      }
    }
    row.busy[x] = share / pixel;
  }
}

function fillFromSlices(lane: Lane, keyOf: (item: number) => number, from: number, pixel: number, row: RowScratch): void {
  const to = from + row.width * pixel;
  let crowdedPixel = -1;
  let crowd = 0;
  for (let i = lane.firstAfter(from); i < lane.count && lane.begin[i] < to; i++) {
    const begin = (lane.begin[i] - from) / pixel;
    const end = (lane.end[i] - from) / pixel;
    const first = Math.max(0, Math.floor(begin));
    const last = Math.min(row.width - 1, Math.ceil(end) - 1);
    const key = keyOf(lane.item[i]);
    for (let x = first; x <= Math.max(first, last); x++) {
      const part = Math.max(1e-3, Math.min(end, x + 1) - Math.max(begin, x));
      row.busy[x] += part;
      if (part > row.best[x]) {
        row.best[x] = part;
        row.key[x] = key;
      }
    }
    if (end - begin >= 3 && begin >= 0) row.edge[first] = 1;
    crowd = first === crowdedPixel && last <= first ? crowd + 1 : 0;
    crowdedPixel = first;
    if (crowd > CROWD) {
      // Thousands of slices in a pixel: take its busy time from the sums and go on behind it.
      const next = from + (first + 1) * pixel;
      row.busy[first] = lane.busyIn(next - pixel, next) / pixel;
      i = Math.max(i, lane.firstFrom(next, i) - 1);
      crowd = 0;
    }
  }
}

/** Writes the pixels of a row, and adds its busy shares to `sum`. */
export function shadeRow(row: RowScratch, shades: Shades, into: Uint32Array, at: number, sum: Float32Array): void {
  const keys = shades.pixels.length / (STEPS + 2);
  for (let x = 0; x < row.width; x++) {
    const busy = row.busy[x];
    if (busy <= 0 || row.key[x] >= keys) {
      into[at + x] = shades.empty;
      continue;
    }
    const share = busy < 1 ? busy : 1;
    sum[x] += share;
    const step = row.edge[x] ? STEPS + 1 : Math.ceil(share * STEPS);
    into[at + x] = shades.pixels[row.key[x] * (STEPS + 2) + step];
  }
}
