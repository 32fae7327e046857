// SPDX-License-Identifier: Apache-2.0
// The cores: stretched rows of pixels, names in slices that are wide enough, and what is found or selected.
import { inkOn, toCss } from "../palette.js";
import { type Easel, xOf } from "./painter.js";

const LEAST_LABEL = 26; // pixels
const MOST_LABELS = 700; // in one picture: text is slow
const CROWD = 64; // tasks found in one pixel that are looked at
/** Pixels of a kernel that had not ended. */
export const LEAST_UNFINISHED = 14;

export function paintCores(easel: Easel, rows: { image: HTMLCanvasElement; hasSlices: boolean }): void {
  const { context, layout, scene } = easel;
  context.save();
  context.beginPath();
  context.rect(0, layout.coresTop, layout.width, layout.height - layout.coresTop);
  context.clip();
  context.imageSmoothingEnabled = false;
  const { first, last } = visibleCores(easel);
  for (let core = first; core < last; core++) {
    const top = topOf(easel, core);
    context.drawImage(
      rows.image,
      0,
      core,
      rows.image.width,
      1,
      layout.gutter,
      top,
      layout.width - layout.gutter,
      layout.coreHeight - layout.coreGap,
    );
  }
  if (scene.matches || scene.path) paintChosen(easel, first, last);
  if (rows.hasSlices) paintSlices(easel, first, last);
  paintUnfinished(easel, first, last);
  paintNames(easel, first, last);
  context.restore();
}

export function visibleCores(easel: Easel): { first: number; last: number } {
  const { layout, scene } = easel;
  const first = Math.max(0, Math.floor(scene.scroll / layout.coreHeight));
  const rows = Math.ceil((layout.height - layout.coresTop) / layout.coreHeight) + 1;
  return { first, last: Math.min(scene.data.lanes.length, first + rows) };
}

export function topOf(easel: Easel, core: number): number {
  return easel.layout.coresTop + core * easel.layout.coreHeight - easel.scene.scroll;
}

/** Names in wide slices. */
function paintSlices(easel: Easel, first: number, last: number): void {
  const { context, layout, scene, tokens } = easel;
  const { data, keys, camera } = scene;
  const { model } = data;
  const height = layout.coreHeight - layout.coreGap;
  const isFaded = scene.matches !== null || scene.path !== null;
  const inks = keys.colours.map(inkOn);
  const isFull = (task: number) => !isFaded || scene.matches?.isMatch[task] || scene.path?.isOn.has(task);
  let labels = 0;
  for (let core = first; core < last; core++) {
    const lane = data.lanes[core];
    const top = topOf(easel, core);
    const end = lane.firstFrom(camera.to);
    let begin = lane.firstAfter(camera.from);
    if (end - begin > 4 * (layout.width - layout.gutter)) continue; // narrower than a pixel, nearly all
    for (; begin < end; begin++) {
      const x = Math.max(layout.gutter, xOf(easel, lane.begin[begin]));
      const width = xOf(easel, lane.end[begin]) - x;
      const part = lane.item[begin];
      if (width < LEAST_LABEL || height < 10 || labels >= MOST_LABELS) continue;
      const name = easel.painter.fit(context, model.kernels[model.partKernel[part]] ?? "?", width - 8);
      if (!name) continue;
      context.fillStyle = isFull(data.taskOfPart[part]) ? (inks[keys.ofPart[part]] ?? tokens.ink) : tokens.faint;
      context.fillText(name, x + 4, top + height / 2 + 0.5);
      labels++;
    }
  }
}

/** Kernels that had not ended: how long they ran is not known, so they fade out and have a red end. */
function paintUnfinished(easel: Easel, first: number, last: number): void {
  const { context, layout, scene, tokens } = easel;
  const { data, keys } = scene;
  const height = layout.coreHeight - layout.coreGap;
  for (const part of data.unfinished) {
    const core = data.model.partCore[part];
    if (core < first || core >= last) continue;
    const x = xOf(easel, data.begin[part]);
    const end = Math.max(x + LEAST_UNFINISHED, xOf(easel, data.end[part]));
    if (end < layout.gutter || x > layout.width) continue;
    context.fillStyle = toCss(keys.colours[keys.ofPart[part]] ?? [128, 128, 128]);
    context.globalAlpha = 0.55;
    context.fillRect(x, topOf(easel, core), end - x, height);
    context.globalAlpha = 1;
    context.fillStyle = tokens.bad;
    context.fillRect(end - 3, topOf(easel, core), 3, height);
  }
}

/** What is found, or lies on the path, in full colour and at least two pixels wide. */
function paintChosen(easel: Easel, first: number, last: number): void {
  const { context, layout, scene } = easel;
  const { data, matches, path } = scene;
  const height = layout.coreHeight - layout.coreGap;
  const draw = (part: number, lastX: Float64Array) => {
    const core = data.model.partCore[part];
    if (core < first || core >= last) return;
    const x = Math.max(layout.gutter, xOf(easel, data.begin[part]));
    const end = Math.max(x + 2, xOf(easel, data.end[part]));
    if (end <= layout.gutter || end <= lastX[core]) return; // another one is drawn here
    lastX[core] = end;
    context.fillStyle = toCss(scene.keys.colours[scene.keys.ofPart[part]] ?? [128, 128, 128]);
    context.fillRect(x, topOf(easel, core), end - x, height);
  };
  for (const tasks of [matches?.tasks, path?.tasks]) {
    if (!tasks) continue;
    const lastX = new Float64Array(data.lanes.length).fill(-Infinity);
    forVisible(easel, tasks, (part) => draw(part, lastX));
  }
}

/**
 * Calls `visit` for the parts of tasks, in the order of their begin, that may be in sight. Where many tasks share a pixel it
 * looks at some of them: a picture must not take longer because a million tasks are found.
 */
function forVisible(easel: Easel, tasks: Uint32Array, visit: (part: number) => void): void {
  const { data, camera } = easel.scene;
  const { firstPart, timed } = data.model;
  const beginOf = (index: number) => (tasks[index] < timed ? (data.begin[firstPart[tasks[index]]] ?? Infinity) : Infinity);
  const firstFrom = (time: number, from: number) => {
    let low = from;
    let high = tasks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (beginOf(middle) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  let index = Math.max(0, firstFrom(camera.from, 0) - CROWD); // some that began before may go on
  let crowd = 0;
  let place = -1;
  while (index < tasks.length) {
    const time = beginOf(index);
    if (!(time <= camera.to)) break;
    const task = tasks[index];
    for (let part = firstPart[task]; part < firstPart[task + 1]; part++) visit(part);
    const now = Math.floor(time / easel.pixel);
    crowd = now === place ? crowd + 1 : 0;
    place = now;
    index = crowd > CROWD ? Math.max(index + 1, firstFrom((now + 1) * easel.pixel, index)) : index + 1;
  }
}

function paintNames(easel: Easel, first: number, last: number): void {
  const { context, layout, scene, tokens } = easel;
  context.fillStyle = tokens.panel;
  context.fillRect(0, layout.coresTop, layout.gutter - 1, layout.height);
  context.fillStyle = tokens.faint;
  const height = layout.coreHeight - layout.coreGap;
  for (let core = first; core < last; core++) {
    const info = scene.data.model.cores[core];
    const text = layout.gutter < 100 ? `${info.number} ${info.kind}` : info.name;
    context.fillText(easel.painter.fit(context, text, layout.gutter - 14), 10, topOf(easel, core) + height / 2 + 0.5);
  }
}
