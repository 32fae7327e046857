// SPDX-License-Identifier: Apache-2.0
// A chart and the user's hands on it: wheel, drag, pointer and keys.
import { button, make } from "./dom.js";
import { Painter } from "./paint.js";
import type { Range } from "./range.js";
import type { Series } from "./series.js";
import { amount, percent, share } from "./words.js";

/** What charts share. */
export interface ChartHost {
  readonly range: Range;
  readonly toCapacity: () => boolean;
  /** Shows the words about a sample at a place of the window; null hides them. */
  readonly tell: (series: Series, number: number, x: number, y: number) => void;
  readonly hush: () => void;
}

interface Drag {
  from: number;
  to: number;
  selects: boolean; // it selects a span; otherwise it moves the chart
}

export class Chart {
  readonly figure: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly painter: Painter;
  private cursor = -1; // number in the series
  private drag: Drag | null = null;

  constructor(
    readonly series: Series,
    private readonly host: ChartHost,
  ) {
    const peak = `peak ${amount(series.resource, series.most)} of ${amount(series.resource, series.capacity)}, ${percent(
      share(series.most, series.capacity),
    )}`;
    this.canvas = make("canvas", { tabindex: 0, role: "img", "aria-label": `${series.name}: ${peak}` });
    this.figure = make("figure", {}, make("figcaption", {}, series.name, make("span", {}, peak)), this.canvas);
    this.painter = new Painter(this.canvas, series, host.range);
    this.listen();
  }

  draw(): void {
    const selected = this.drag?.selects ? this.drag : null;
    this.painter.draw(this.host.toCapacity(), { cursor: this.cursor, selected });
  }

  /** The sample at the pointer: the highest within two pixels, else the nearest. */
  private pick(x: number): number {
    const s = this.series;
    const from = s.find(this.painter.position(x - 2));
    const to = s.find(this.painter.position(x + 2));
    if (to > from) return s.highest(from, to);
    const at = this.painter.position(x);
    const next = Math.min(from, s.index.length - 1);
    return next > 0 && at - s.index[next - 1] < Math.abs(s.index[next] - at) ? next - 1 : next;
  }

  private point(number: number, x: number, y: number): void {
    this.cursor = number;
    this.draw();
    this.host.tell(this.series, number, x, y);
  }

  private leave(): void {
    this.cursor = -1;
    this.host.hush();
    this.draw();
  }

  private listen(): void {
    const canvas = this.canvas;
    canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.onDown(event));
    canvas.addEventListener("pointermove", (event) => this.onMove(event));
    canvas.addEventListener("pointerup", () => this.onUp());
    canvas.addEventListener("pointercancel", () => {
      this.drag = null;
      this.leave();
    });
    canvas.addEventListener("pointerleave", () => {
      if (!this.drag) this.leave();
    });
    canvas.addEventListener("dblclick", () => this.host.range.reset());
    canvas.addEventListener("blur", () => this.leave());
    canvas.addEventListener("keydown", (event) => this.onKey(event));
  }

  private place(event: MouseEvent): number {
    return event.clientX - this.canvas.getBoundingClientRect().left;
  }

  /** When the chart shows all samples, the wheel scrolls the page again. */
  private onWheel(event: WheelEvent): void {
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const delta = event.deltaY || event.deltaX;
    if (this.host.range.isAll && (sideways || delta > 0)) return;
    event.preventDefault();
    if (sideways) this.host.range.move(Math.sign(event.deltaX || event.deltaY) * 0.1);
    else this.host.range.zoom(delta < 0 ? 1 / 1.3 : 1.3, this.painter.position(this.place(event)));
  }

  private onDown(event: PointerEvent): void {
    const x = this.place(event);
    this.drag = { from: x, to: x, selects: !event.shiftKey && event.button === 0 };
    try {
      this.canvas.setPointerCapture(event.pointerId);
    } catch {
      // the pointer no longer exists
    }
  }

  private onMove(event: PointerEvent): void {
    const x = this.place(event);
    if (!this.drag) {
      if (this.series.index.length) this.point(this.pick(x), event.clientX, event.clientY);
      return;
    }
    if (!this.drag.selects) this.host.range.move((this.drag.to - x) / this.painter.inner);
    this.drag.to = x;
    if (this.drag.selects) this.draw();
  }

  private onUp(): void {
    const drag = this.drag;
    this.drag = null;
    if (!drag?.selects) return;
    const from = Math.min(drag.from, drag.to);
    const to = Math.max(drag.from, drag.to);
    if (to - from > 4) this.host.range.show(this.painter.position(from), this.painter.position(to));
    else this.draw();
  }

  private onKey(event: KeyboardEvent): void {
    const range = this.host.range;
    const keys: Record<string, () => void> = {
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      PageUp: () => range.move(-0.5),
      PageDown: () => range.move(0.5),
      "+": () => range.zoom(1 / 1.5, this.focus()),
      "=": () => range.zoom(1 / 1.5, this.focus()),
      "-": () => range.zoom(1.5, this.focus()),
      "0": () => range.reset(),
      Escape: () => this.leave(),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
  }

  private focus(): number {
    return this.cursor >= 0 ? this.series.index[this.cursor] : this.host.range.middle;
  }

  /** Goes to the next sample, or to the next pixel if samples are closer than pixels. */
  private step(direction: number): void {
    const s = this.series;
    const range = this.host.range;
    const perPixel = range.width / this.painter.inner;
    if (!s.index.length) return;
    const isOutside = (number: number) => s.index[number] < range.from || s.index[number] >= range.to;
    let next = this.cursor;
    if (next < 0 || isOutside(next)) next = Math.min(s.find(direction > 0 ? range.from : range.to - 1), s.index.length - 1);
    else if (perPixel > 1) next = s.find(s.index[next] + direction * perPixel);
    else next += direction;
    next = Math.min(Math.max(next, 0), s.index.length - 1);
    if (isOutside(next)) range.move(direction * 0.25);
    const box = this.canvas.getBoundingClientRect();
    this.point(next, box.left + this.painter.x(s.index[next]), box.top + 20);
  }
}

/** The buttons above the charts. */
export function makeToolbar(range: Range, toCapacity: HTMLInputElement, shown: HTMLOutputElement): HTMLElement {
  return make(
    "div",
    { class: "rings-bar", role: "toolbar", "aria-label": "Charts" },
    button("+", { "data-do": "in", "aria-label": "Zoom in" }, () => range.zoom(1 / 1.5)),
    button("\u2212", { "data-do": "out", "aria-label": "Zoom out" }, () => range.zoom(1.5)),
    button("\u2190", { "data-do": "left", "aria-label": "Move left" }, () => range.move(-0.25)),
    button("\u2192", { "data-do": "right", "aria-label": "Move right" }, () => range.move(0.25)),
    button("All", { "data-do": "reset" }, () => range.reset()),
    make("label", {}, toCapacity, " up to capacity"),
    shown,
  );
}
