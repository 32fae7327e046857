// SPDX-License-Identifier: Apache-2.0
// Draws one chart: a grid, what was in use, the peaks within scopes, the capacity, and the pointer's marks.
import { HEAP } from "./document.js";
import type { Range } from "./range.js";
import { BLOCK, type Series } from "./series.js";
import { amount, grouped } from "./words.js";

export const MARGIN = { left: 76, right: 10, top: 10, bottom: 20 };

/** What is marked: a sample, and the span that is being selected. */
export interface Marks {
  cursor: number; // a number in the series; -1: none
  selected: { from: number; to: number } | null; // in pixels
}

/** Round numbers up to `most`; for bytes, powers of two. */
function niceSteps(most: number, about: number, bytes: boolean): number[] {
  const raw = most / about;
  let step = bytes ? 2 ** Math.ceil(Math.log2(raw)) : 10 ** Math.floor(Math.log10(raw));
  if (!bytes) step *= [1, 2, 5, 10].find((m) => m * step >= raw) ?? 10;
  step = Math.max(step, 1);
  const steps: number[] = [];
  for (let value = 0; value <= most; value += step) steps.push(value);
  return steps;
}

export class Painter {
  width = 0;
  height = 0;
  private scale = 1;
  private first = 0; // visible samples of the series
  private past = 0;
  private colours: CSSStyleDeclaration;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly series: Series,
    private readonly range: Range,
  ) {
    this.colours = getComputedStyle(canvas);
  }

  get inner(): number {
    return Math.max(this.width - MARGIN.left - MARGIN.right, 1);
  }

  x(position: number): number {
    return MARGIN.left + ((position - this.range.from) / this.range.width) * this.inner;
  }

  position(x: number): number {
    return this.range.from + ((x - MARGIN.left) / this.inner) * this.range.width;
  }

  private y(value: number): number {
    return this.height - MARGIN.bottom - (value / this.scale) * (this.height - MARGIN.top - MARGIN.bottom);
  }

  /** A token of the style sheet. */
  private colour(name: string): string {
    return this.colours.getPropertyValue(`--${name}`);
  }

  draw(toCapacity: boolean, marks: Marks): void {
    const canvas = this.canvas;
    const ratio = window.devicePixelRatio || 1;
    this.width = canvas.clientWidth;
    this.height = canvas.clientHeight;
    if (canvas.width !== Math.round(this.width * ratio) || canvas.height !== Math.round(this.height * ratio)) {
      canvas.width = Math.round(this.width * ratio);
      canvas.height = Math.round(this.height * ratio);
    }
    const g = canvas.getContext("2d");
    if (!g) return;
    this.colours = getComputedStyle(canvas);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, this.width, this.height);
    this.setScale(toCapacity);
    this.drawGrid(g);
    this.drawValues(g);
    this.drawMarks(g, marks);
  }

  /** Only visible samples decide the scale, so that small values are not flat lines beside a large one. */
  private setScale(toCapacity: boolean): void {
    const s = this.series;
    this.first = Math.max(s.find(this.range.from) - 1, 0);
    this.past = s.find(this.range.to);
    const seen = { low: Infinity, high: 0, top: 0 };
    s.extremes(this.first, this.past, seen);
    this.scale = Math.max(seen.top, seen.high, toCapacity ? s.capacity : 0, 1) * 1.05;
  }

  private drawGrid(g: CanvasRenderingContext2D): void {
    const s = this.series;
    g.font = "11px system-ui, sans-serif";
    g.textBaseline = "middle";
    g.textAlign = "right";
    for (const value of niceSteps(this.scale, 4, s.resource === HEAP)) {
      const y = Math.round(this.y(value)) + 0.5;
      g.fillStyle = this.colour("rule");
      g.fillRect(MARGIN.left, y, this.inner, 1);
      g.fillStyle = this.colour("faint");
      g.fillText(amount(s.resource, value), MARGIN.left - 6, y);
    }
    if (s.capacity > 0 && s.capacity <= this.scale) {
      g.fillStyle = this.colour("bad");
      g.fillRect(MARGIN.left, Math.round(this.y(s.capacity)), this.inner, 1);
    }
    g.fillStyle = this.colour("faint");
    g.textBaseline = "bottom";
    g.textAlign = "left";
    g.fillText(grouped(Math.ceil(this.range.from)), MARGIN.left, this.height - 3);
    g.textAlign = "right";
    g.fillText(grouped(this.range.lastShown), this.width - MARGIN.right, this.height - 3);
  }

  /** Draws column by column the range in use and the highest peak. A value holds until the ring's next sample. */
  private drawValues(g: CanvasRenderingContext2D): void {
    const s = this.series;
    const base = this.y(0);
    const columns = Math.floor(this.inner);
    const area = this.colour("accent-soft");
    const line = this.colour("accent");
    const peak = this.colour("mark");
    const sparse = (this.past - this.first) * 6 < columns;
    let i = this.first;
    let held = i < s.value.length && s.index[i] < this.range.from ? s.value[i++] : null;
    for (let c = 0; c < columns; c++) {
      const from = i;
      const position = this.position(MARGIN.left + c + 1);
      while (i < this.past && s.index[i] < position) i = this.skip(i, position);
      const seen = { low: held ?? Infinity, high: held ?? 0, top: -1 };
      s.extremes(from, i, seen);
      if (held === null && from === i) continue;
      if (i > from) held = s.value[i - 1];
      const x = MARGIN.left + c;
      const high = this.y(seen.high);
      const low = this.y(seen.low);
      g.fillStyle = area;
      g.fillRect(x, high, 1, base - high);
      g.fillStyle = line;
      g.fillRect(x, high - 0.75, 1, Math.max(low - high, 0) + 1.5);
      if (seen.top > seen.high) {
        g.fillStyle = peak;
        if (sparse) g.fillRect(x - 2, this.y(seen.top) - 2, 5, 4);
        else g.fillRect(x, this.y(seen.top) - 1, 1, 2);
      }
    }
    if (sparse) this.drawDots(g, line);
  }

  /** Goes to the next sample, or skips a whole block that lies before the position. */
  private skip(i: number, position: number): number {
    const last = i + BLOCK - 1;
    return i % BLOCK === 0 && last < this.past && this.series.index[last] < position ? i + BLOCK : i + 1;
  }

  private drawDots(g: CanvasRenderingContext2D, colour: string): void {
    g.fillStyle = colour;
    for (let i = this.first; i < this.past; i++) {
      const x = this.x(this.series.index[i]);
      if (x >= MARGIN.left) g.fillRect(x - 2, this.y(this.series.value[i]) - 2, 4, 4);
    }
  }

  private drawMarks(g: CanvasRenderingContext2D, marks: Marks): void {
    const height = this.height - MARGIN.top - MARGIN.bottom;
    if (marks.selected) {
      const { from, to } = marks.selected;
      g.fillStyle = this.colour("accent");
      g.globalAlpha = 0.2;
      g.fillRect(Math.min(from, to), MARGIN.top, Math.abs(to - from), height);
      g.globalAlpha = 1;
    }
    if (marks.cursor < 0) return;
    const x = this.x(this.series.index[marks.cursor]);
    if (x < MARGIN.left || x > this.width - MARGIN.right) return;
    g.fillStyle = this.colour("ink");
    g.fillRect(Math.round(x), MARGIN.top, 1, height);
    g.beginPath();
    g.arc(x + 0.5, this.y(this.series.peak[marks.cursor]), 3.5, 0, 7);
    g.fill();
  }
}
