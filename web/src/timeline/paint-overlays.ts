// SPDX-License-Identifier: Apache-2.0
// What lies over the cores: waits, dependencies, the critical path, the selection, and the measured stretch of time.
import { formatNs } from "../format.js";
import { BEGAN_BEFORE, UNFINISHED } from "../model.js";
import { coreAt } from "./layout.js";
import { LEAST_UNFINISHED, topOf, visibleCores } from "./paint-cores.js";
import { type Easel, xOf } from "./painter.js";

const MOST_WAITS = 3000; // bars in one picture

export function paintOverlays(easel: Easel): void {
  const { context, layout, scene } = easel;
  context.save();
  context.beginPath();
  context.rect(layout.gutter, layout.coresTop, layout.width - layout.gutter, layout.height - layout.coresTop);
  context.clip();
  if (scene.waits) paintWaits(easel);
  if (scene.path) paintPath(easel);
  if (scene.arrows) paintArrows(easel);
  if (scene.selected >= 0) paintSelected(easel);
  paintHovered(easel);
  context.restore();
  if (scene.measured) paintMeasured(easel);
}

const partOf = (easel: Easel, task: number): number => {
  const { model } = easel.scene.data;
  return task < model.timed && model.firstPart[task] < model.firstPart[task + 1] ? model.firstPart[task] : -1;
};

const middleOf = (easel: Easel, core: number) => topOf(easel, core) + (easel.layout.coreHeight - easel.layout.coreGap) / 2;

/** A line below each slice from the time at which its task was ready to its begin. */
function paintWaits(easel: Easel): void {
  const { context, layout, scene, tokens } = easel;
  const { data, camera } = scene;
  if (!data.model.edges) return;
  const { first, last } = visibleCores(easel);
  let drawn = 0;
  context.fillStyle = tokens.mark;
  for (let core = first; core < last; core++) {
    const lane = data.lanes[core];
    const end = lane.firstFrom(camera.to);
    const y = topOf(easel, core) + layout.coreHeight - layout.coreGap - 3;
    const start = lane.firstAfter(camera.from);
    const stride = Math.max(1, Math.ceil((end - start) / (layout.width - layout.gutter)));
    for (let i = start; i < end && drawn < MOST_WAITS; i += stride) {
      const ready = data.model.readyOf(data.taskOfPart[lane.item[i]]);
      if (Number.isNaN(ready) || ready >= lane.begin[i]) continue;
      const x = xOf(easel, ready);
      const width = xOf(easel, lane.begin[i]) - x;
      if (width < 1) continue;
      context.globalAlpha = 0.25;
      context.fillRect(x, y, width, 3);
      context.globalAlpha = 1;
      context.fillRect(x, y - 1, 1.5, 4);
      drawn++;
    }
  }
}

function paintPath(easel: Easel): void {
  const { context, scene, tokens } = easel;
  const { data, path } = scene;
  if (!path) return;
  context.strokeStyle = tokens.bad;
  context.lineWidth = 2;
  context.beginPath();
  let lastX = -Infinity;
  let lastCore = -1;
  for (const task of path.tasks) {
    const part = partOf(easel, task);
    if (part < 0) continue;
    const core = data.model.partCore[part];
    const x = xOf(easel, data.begin[part]);
    const end = xOf(easel, data.end[part]);
    if (end - lastX < 0.5 && core === lastCore) continue;
    if (lastCore < 0) context.moveTo(x, middleOf(easel, core));
    else context.lineTo(x, middleOf(easel, core));
    context.lineTo(end, middleOf(easel, core));
    lastX = end;
    lastCore = core;
  }
  context.stroke();
}

function paintArrows(easel: Easel): void {
  const { context, scene, tokens } = easel;
  const { data } = scene;
  for (const arrow of scene.arrows?.list ?? []) {
    const from = partOf(easel, arrow.before);
    const to = partOf(easel, arrow.after);
    if (from < 0 || to < 0) continue;
    const x1 = xOf(easel, data.end[from]);
    const x2 = xOf(easel, data.begin[to]);
    const y1 = middleOf(easel, data.model.partCore[from]);
    const y2 = middleOf(easel, data.model.partCore[to]);
    const bend = Math.max(12, Math.min(80, Math.abs(x2 - x1) / 2));
    context.strokeStyle = context.fillStyle = arrow.isBefore ? tokens.accent : tokens.mark;
    context.globalAlpha = arrow.depth === 1 ? 1 : 0.75 - 0.1 * arrow.depth;
    context.lineWidth = arrow.depth === 1 ? 1.75 : 1;
    context.beginPath();
    context.moveTo(x1, y1);
    context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2 - 5, y2);
    context.stroke();
    context.beginPath();
    context.moveTo(x2, y2);
    context.lineTo(x2 - 7, y2 - 3.5);
    context.lineTo(x2 - 7, y2 + 3.5);
    context.closePath();
    context.fill();
  }
  context.globalAlpha = 1;
}

function paintSelected(easel: Easel): void {
  const { context, layout, scene, tokens } = easel;
  const { data, selected } = scene;
  const { model } = data;
  if (selected >= model.timed) return;
  const height = layout.coreHeight - layout.coreGap;
  const ready = model.edges ? model.readyOf(selected) : NaN;
  for (let part = model.firstPart[selected]; part < model.firstPart[selected + 1]; part++) {
    const top = topOf(easel, model.partCore[part]);
    const x = xOf(easel, data.begin[part]);
    const isOpen = (model.partFlags[part] & UNFINISHED) !== 0;
    const end = Math.max(x + (isOpen ? LEAST_UNFINISHED : 3), xOf(easel, data.end[part]));
    if (ready < data.begin[part] && !(model.partFlags[part] & BEGAN_BEFORE)) paintReady(easel, xOf(easel, ready), x, top, height, data.begin[part] - ready);
    context.strokeStyle = tokens.panel;
    context.lineWidth = 4;
    context.strokeRect(x, top, end - x, height);
    context.strokeStyle = tokens.ink;
    context.lineWidth = 2;
    context.strokeRect(x, top, end - x, height);
  }
}

/** The selected task was ready all this time. */
function paintReady(easel: Easel, from: number, to: number, top: number, height: number, waited: number): void {
  const { context, tokens } = easel;
  if (to - from < 1) return;
  context.fillStyle = tokens.mark;
  context.globalAlpha = 0.3;
  context.fillRect(from, top, to - from, height);
  context.globalAlpha = 1;
  context.fillRect(from, top, 1.5, height);
  context.fillRect(from, top + height - 2, to - from, 2);
  const text = `ready, waited ${formatNs(waited)}`;
  const left = Math.max(easel.layout.gutter, from) + 4;
  if (to - left > 120 && height >= 12) {
    context.fillStyle = tokens.panel;
    context.globalAlpha = 0.85;
    context.fillRect(left - 2, top + 1, context.measureText(text).width + 4, height - 3);
    context.globalAlpha = 1;
    context.fillStyle = tokens.ink;
    context.fillText(text, left, top + height / 2);
  }
}

function paintHovered(easel: Easel): void {
  const { context, layout, scene, tokens } = easel;
  const { pointer, data } = scene;
  if (!pointer || pointer.x < layout.gutter) return;
  context.fillStyle = tokens.faint;
  context.globalAlpha = 0.5;
  context.fillRect(Math.round(pointer.x), layout.coresTop, 1, layout.height);
  context.globalAlpha = 1;
  if (scene.hovered < 0 || coreAt(layout, pointer.y, scene.scroll, data.lanes.length) < 0) return;
  const x = xOf(easel, data.begin[scene.hovered]);
  const end = Math.max(x + 2, xOf(easel, data.end[scene.hovered]));
  context.strokeStyle = tokens.ink;
  context.lineWidth = 1;
  context.strokeRect(
    x + 0.5,
    topOf(easel, data.model.partCore[scene.hovered]) + 0.5,
    Math.max(1, end - x - 1),
    layout.coreHeight - layout.coreGap - 1,
  );
}

function paintMeasured(easel: Easel): void {
  const { context, layout, scene, tokens } = easel;
  const { measured } = scene;
  if (!measured) return;
  const from = Math.max(layout.gutter, xOf(easel, measured.from));
  const to = Math.max(layout.gutter, Math.min(layout.width, xOf(easel, measured.to)));
  context.fillStyle = tokens.accent;
  context.globalAlpha = 0.14;
  context.fillRect(from, layout.coresTop, to - from, layout.height);
  context.globalAlpha = 1;
  context.fillRect(from, layout.coresTop, 1, layout.height);
  context.fillRect(to - 1, layout.coresTop, 1, layout.height);
  const text = formatNs(measured.to - measured.from);
  const width = context.measureText(text).width + 12;
  const x = Math.max(layout.gutter, Math.min(layout.width - width, (from + to - width) / 2));
  context.fillRect(x, layout.coresTop + 4, width, 18);
  context.fillStyle = tokens.panel;
  context.fillText(text, x + 6, layout.coresTop + 13.5);
}
