// SPDX-License-Identifier: Apache-2.0
// The tracks above the cores: the whole run in small, the axis, submissions, scopes, and how many tasks run and are ready.
import { formatCount, formatTick } from "../format.js";
import { mix, parseColour, toCss } from "../palette.js";
import { tickStep } from "./camera.js";
import { upperBound } from "./lane.js";
import type { Track } from "./layout.js";
import { type Easel, xOf } from "./painter.js";

export function paintTracks(easel: Easel): void {
  const { context, layout, tokens } = easel;
  context.fillStyle = tokens.panel;
  context.fillRect(0, 0, layout.width, layout.coresTop);
  for (const track of layout.tracks) {
    context.save();
    context.beginPath();
    context.rect(0, track.top, layout.width, track.height);
    context.clip();
    PAINT[track.kind](easel, track);
    context.restore();
  }
  context.fillStyle = tokens.rule;
  context.fillRect(0, layout.coresTop - 3, layout.width, 1);
  context.fillRect(layout.gutter - 1, 0, 1, layout.height);
}

const PAINT: Record<Track["kind"], (easel: Easel, track: Track) => void> = {
  overview: paintOverview,
  axis: paintAxis,
  submissions: paintSubmissions,
  scope: paintScope,
  running: (easel, track) => {
    const cores = easel.scene.data.lanes.length;
    paintArea(easel, track, "cores running", easel.running, cores, easel.tokens.accent);
  },
  ready: (easel, track) => {
    const ready = easel.scene.tracks?.ready;
    if (!ready) return;
    const means = new Float32Array(Math.round((easel.layout.width - easel.layout.gutter) * easel.scale));
    ready.means(easel.scene.camera.from, easel.pixel / easel.scale, means);
    paintArea(easel, track, "ready, waiting", means, Math.max(1, ready.most), easel.tokens.mark);
  },
};

function paintLabel(easel: Easel, track: Track, text: string, more = ""): void {
  const { context, layout, tokens } = easel;
  context.fillStyle = tokens.panel;
  context.fillRect(0, track.top, layout.gutter - 1, track.height);
  context.fillStyle = tokens.faint;
  const middle = track.top + track.height / 2 + 0.5;
  const isDouble = more !== "" && track.height >= 30;
  context.fillText(easel.painter.fit(context, text, layout.gutter - 14), 10, isDouble ? middle - 6 : middle);
  if (isDouble) context.fillText(easel.painter.fit(context, more, layout.gutter - 14), 10, middle + 7);
}

/** The time at a place of the overview, which always shows the whole run. */
export function overviewTime(easel: Pick<Easel, "layout" | "scene">, x: number): number {
  const { layout, scene } = easel;
  const { home, span } = scene.camera;
  return home + ((x - layout.gutter) / (layout.width - layout.gutter)) * (span - home);
}

function paintOverview(easel: Easel, track: Track): void {
  const { context, layout, scene, tokens } = easel;
  const width = layout.width - layout.gutter;
  const top = track.top + 3;
  const height = track.height - 5;
  context.imageSmoothingEnabled = scene.data.lanes.length > height;
  context.drawImage(easel.painter.overviewOfRun(easel, Math.round(width)), layout.gutter, top, width, height);
  const { home, span } = scene.camera;
  const scale = width / Math.max(1, span - home);
  const left = layout.gutter + Math.max(0, (scene.camera.from - home) * scale);
  const right = layout.gutter + Math.min(width, (scene.camera.to - home) * scale);
  context.fillStyle = tokens.panel;
  context.globalAlpha = 0.72;
  context.fillRect(layout.gutter, top, left - layout.gutter, height);
  context.fillRect(right, top, layout.width - right, height);
  context.globalAlpha = 1;
  context.strokeStyle = tokens.accent;
  context.lineWidth = 1.5;
  context.strokeRect(left + 0.75, top + 0.75, Math.max(2, right - left - 1.5), height - 1.5);
  paintLabel(easel, track, "whole run");
}

function paintAxis(easel: Easel, track: Track): void {
  const { context, layout, scene, tokens } = easel;
  const { from, to } = scene.camera;
  const step = tickStep(to - from, (layout.width - layout.gutter) / 110);
  for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) {
    const x = Math.round(xOf(easel, tick));
    context.fillStyle = tokens.rule;
    context.fillRect(x, track.top + track.height - 6, 1, 6);
    context.fillStyle = tokens.faint;
    const text = formatTick(tick, step);
    if (x + 4 + context.measureText(text).width <= layout.width) context.fillText(text, x + 4, track.top + track.height / 2);
  }
  paintLabel(easel, track, "");
}

function paintSubmissions(easel: Easel, track: Track): void {
  const { context, layout, scene, tokens } = easel;
  const times = scene.tracks?.submissions;
  if (!times) return;
  const width = layout.width - layout.gutter;
  context.fillStyle = tokens.accent;
  let before = upperBound(times, scene.camera.from);
  // Height by the number in the pixel, in powers of two: one is seen beside a thousand.
  for (let x = 0; x < width && before < times.length; x++) {
    const next = upperBound(times, scene.camera.from + (x + 1) * easel.pixel, before, times.length);
    if (next > before) {
      const height = Math.min(track.height - 5, 5 + 2 * Math.log2(next - before));
      context.fillRect(layout.gutter + x, track.top + track.height - 2 - height, 1, height);
    }
    before = next;
  }
  paintLabel(easel, track, layout.gutter < 100 ? "submit" : "orchestrator");
}

function paintScope(easel: Easel, track: Track): void {
  const { context, layout, scene, tokens } = easel;
  const row = scene.tracks?.scopes[track.index];
  if (!row) return;
  const { lane } = row;
  const soft = toCss(mix(parseColour(tokens.panel), parseColour(tokens.accent), 0.22));
  const top = track.top + 1;
  const height = track.height - 2;
  let lastX = -Infinity;
  for (let i = lane.firstAfter(scene.camera.from); i < lane.count && lane.begin[i] < scene.camera.to; ) {
    const x = Math.max(layout.gutter, xOf(easel, lane.begin[i]));
    const end = Math.max(x + 1, xOf(easel, lane.end[i]));
    if (end > lastX) {
      context.fillStyle = soft;
      context.fillRect(x, top, end - x, height);
      context.fillStyle = tokens.accent;
      context.fillRect(x, top, 1, height);
      if (end - x > 60) {
        context.fillStyle = tokens.ink;
        context.fillText(easel.painter.fit(context, row.name, end - x - 10), x + 5, track.top + track.height / 2 + 0.5);
      }
      lastX = end;
    }
    // At most one span for a pixel.
    i = Math.max(i + 1, lane.firstAfter(scene.camera.from + (x + 1 - layout.gutter) * easel.pixel, i));
  }
  const more = scene.tracks?.moreScopes ?? 0;
  const isLast = track.index + 1 === scene.tracks?.scopes.length;
  paintLabel(easel, track, isLast && more ? `scopes (+${formatCount(more)} sites)` : track.index === 0 ? "scopes" : "");
}

/** An area of means, from 0 to `most`. */
function paintArea(easel: Easel, track: Track, label: string, values: Float32Array, most: number, colour: string): void {
  const { context, layout, scene, scale } = easel;
  const bottom = track.top + track.height - 3;
  const height = track.height - 8;
  const from = Math.max(0, Math.floor(((scene.camera.home - scene.camera.from) / easel.pixel) * scale));
  const to = Math.min(values.length, Math.ceil(((scene.data.model.span - scene.camera.from) / easel.pixel) * scale));
  context.beginPath();
  context.moveTo(layout.gutter + from / scale, bottom);
  for (let x = from; x < to; x++) {
    const y = bottom - (Math.min(most, Math.max(0, values[x])) / most) * height;
    context.lineTo(layout.gutter + x / scale, y);
    context.lineTo(layout.gutter + (x + 1) / scale, y);
  }
  context.lineTo(layout.gutter + to / scale, bottom);
  context.closePath();
  context.fillStyle = colour;
  context.globalAlpha = 0.28;
  context.fill();
  context.globalAlpha = 1;
  paintLabel(easel, track, label, `of ${formatCount(most)}`);
}
