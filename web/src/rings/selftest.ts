// SPDX-License-Identifier: Apache-2.0
// For tests (#selftest): acts like a user, and writes the results into the page as JSON.
import type { RingsBoard } from "./board.js";
import type { Chart } from "./chart.js";
import { MARGIN } from "./paint.js";

function texts(selector: string): (string | null)[] {
  return [...document.querySelectorAll(selector)].map((element) => element.textContent);
}

function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element '${id}'`);
  return element;
}

function firstSamples({ data, samples }: RingsBoard, n: number): unknown[] {
  return Array.from({ length: Math.min(n, data.samples) }, (_, i) => ({
    site: data.sites[samples.site[i]],
    end: !!samples.end[i],
    depth: samples.depth[i],
    ring: samples.ring[i],
    used: samples.used.map((used) => used[i]),
    peak: samples.peak.map((peak) => peak[i]),
  }));
}

/** Pixels that are not empty. */
function painted({ canvas }: Chart): number {
  const pixels = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
  let n = 0;
  for (let i = 3; i < pixels.length; i += 4) if (pixels[i] > 0) n++;
  return n;
}

/** Uses the first chart by wheel, pointer, keys and buttons. */
function useHands(board: RingsBoard, result: Record<string, unknown>): void {
  const chart = board.charts[0];
  const canvas = chart.canvas;
  const box = canvas.getBoundingClientRect();
  const at = (part: number) => ({
    clientX: box.left + MARGIN.left + part * chart.painter.inner,
    clientY: box.top + 60,
    bubbles: true,
    cancelable: true,
    pointerId: 1,
    button: 0,
  });
  const pointer = (type: string, part: number, more = {}) => canvas.dispatchEvent(new PointerEvent(type, { ...at(part), ...more }));
  const wheel = (deltaY: number, more = {}) => canvas.dispatchEvent(new WheelEvent("wheel", { ...at(0.5), deltaY, ...more }));
  const key = (name: string) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
  const press = (name: string) => document.querySelector<HTMLElement>(`[data-do=${name}]`)?.click();
  const drag = (from: number, to: number, more = {}) => {
    pointer("pointerdown", from, more);
    pointer("pointermove", to, more);
    pointer("pointerup", to, more);
  };
  const range = () => {
    board.drawAll();
    return [board.range.from, board.range.to];
  };
  const tip = byId("tip");
  result.full = range();
  pointer("pointermove", 0.999);
  result.tip = tip.hidden ? null : tip.textContent;
  pointer("pointerleave", 2);
  result.tip_gone = tip.hidden;
  wheel(-100);
  result.wheel_in = range();
  wheel(100);
  result.wheel_out = range();
  drag(0.25, 0.5);
  result.dragged = range();
  drag(0.5, 0.4, { shiftKey: true });
  result.moved = range();
  wheel(100, { shiftKey: true });
  result.wheel_moved = range();
  press("left");
  result.left = range();
  press("reset");
  result.reset = range();
  key("ArrowRight");
  result.key_tip = tip.textContent;
  key("+");
  result.key_in = range();
  key("0");
  result.key_reset = range();
  result.painted_again = painted(chart);
}

export function selftest(board: RingsBoard): string {
  const failed = byId("failed");
  const result: Record<string, unknown> = {
    title: document.title,
    errors: [],
    summary: byId("summary").textContent,
    notes: texts("#notes li"),
    advice: texts("#advice tbody td"),
    failed: failed.hidden ? null : failed.textContent,
    heads: texts("#peaks th"),
    rows: texts("#peaks tbody tr"),
    charts: board.charts.map((chart) => ({
      name: chart.series.name,
      samples: chart.series.index.length,
      peak: chart.series.most,
      painted: painted(chart),
    })),
    decoded: firstSamples(board, 20),
  };
  const bySite = document.querySelector<HTMLElement>("#peaks th button");
  bySite?.click();
  result.by_site = texts("#peaks tbody td:first-child");
  bySite?.click();
  result.by_site_down = texts("#peaks tbody td:first-child");
  if (board.charts.length) useHands(board, result);
  return JSON.stringify(result);
}
