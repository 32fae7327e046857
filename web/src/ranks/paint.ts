// SPDX-License-Identifier: Apache-2.0
// Draws the scene of several ranks: rows of slices, arrows between calls, the time axis.
import { formatTick } from "../format.js";
import { type Tokens, kernelColour, themeTokens } from "../palette.js";
import { type Camera, tickStep } from "../timeline/camera.js";
import { type Calls, DONE, arrivalOf, arrowsWithin } from "./calls.js";
import { AXIS, GUTTER, type Row, type Scene } from "./scene.js";

export const MOST_ARROWS = 400; // in one picture: more of them are a grey cloud
const LEAST_LABEL = 30; // pixels
const FONT_SIZE = 11;

export interface Picture {
  context: CanvasRenderingContext2D;
  width: number;
  scene: Scene;
  camera: Camera; // times since scene.from
  selected: number; // a call; -1: none
  hovered: number;
}

export interface Painted {
  arrows: number; // drawn
  all: number; // in sight
}

export function xOf(picture: Picture, time: number): number {
  const { camera, width, scene } = picture;
  return GUTTER + ((time - scene.from - camera.from) / (camera.to - camera.from)) * (width - GUTTER);
}

export function timeAt(picture: Pick<Picture, "camera" | "width" | "scene">, x: number): number {
  const { camera, width, scene } = picture;
  return scene.from + camera.from + ((x - GUTTER) / Math.max(1, width - GUTTER)) * (camera.to - camera.from);
}

/** The call has waited in vain, or failed. */
const isOpen = (calls: Calls, call: number) => calls.state[call] !== DONE;

function paintCall(picture: Picture, tokens: Tokens, row: Row, call: number): void {
  const { context, scene } = picture;
  const { calls } = scene;
  const x = xOf(picture, calls.posted[call]);
  const end = Math.max(x + 2, xOf(picture, calls.endOf(call)));
  const moves = Number.isNaN(calls.matched[call]) ? end : Math.min(end, Math.max(x, xOf(picture, arrivalOf(calls, call))));
  const height = row.height - 3;
  // The wait is pale, what moved bytes is full.
  context.fillStyle = isOpen(calls, call) ? tokens.bad : kernelColour(calls.kindOf(call));
  context.globalAlpha = 0.35;
  context.fillRect(x, row.top, moves - x, height);
  context.globalAlpha = 1;
  context.fillRect(moves, row.top, end - moves, height);
  context.fillRect(x, row.top, 1.5, height);
  if (call === picture.selected || call === picture.hovered) {
    context.strokeStyle = tokens.ink;
    context.lineWidth = call === picture.selected ? 2 : 1;
    context.strokeRect(x, row.top, end - x, height);
  }
  const left = Math.max(GUTTER, x);
  if (end - left < LEAST_LABEL) return;
  // The text lies on two shades of any colour, so it brings its own ground.
  const text = clip(context, calls.describe(call), end - left - 8);
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = tokens.panel;
  context.fillStyle = tokens.ink;
  context.strokeText(text, left + 4, row.top + height / 2 + 0.5);
  context.fillText(text, left + 4, row.top + height / 2 + 0.5);
}

function clip(context: CanvasRenderingContext2D, text: string, room: number): string {
  const width = context.measureText(text).width;
  if (width <= room) return text;
  const letters = Math.floor((room / width) * text.length) - 1;
  return letters >= 2 ? `${text.slice(0, letters)}…` : "";
}

/** The slices of a row. Of those that share a pixel one is drawn: a picture takes as long as it is wide, not as the run is. */
function paintRow(picture: Picture, tokens: Tokens, row: Row): void {
  const { context, camera, scene, width } = picture;
  const { lane } = row;
  if (!lane) return;
  const model = scene.groups.find((group) => group.rank === row.rank)?.model;
  const last = scene.from + camera.to;
  const pixel = (camera.to - camera.from) / Math.max(1, width - GUTTER);
  let at = lane.firstAfter(scene.from + camera.from - 2 * pixel);
  while (at < lane.count && lane.begin[at] <= last) {
    if (row.kind === "calls") {
      paintCall(picture, tokens, row, lane.item[at]);
    } else {
      const x = xOf(picture, lane.begin[at]);
      context.fillStyle = kernelColour(model?.kernels[model.partKernel[lane.item[at]]] ?? "?");
      context.fillRect(x, row.top, Math.max(1, xOf(picture, lane.end[at]) - x), row.height - 2);
    }
    const next = Math.max(lane.end[at], lane.begin[at] + pixel / 2);
    at = Math.max(at + 1, Math.min(lane.firstAfter(next - pixel / 2), lane.firstFrom(next)));
  }
}

function paintArrows(picture: Picture, tokens: Tokens): Painted {
  const { context, camera, scene } = picture;
  const { calls } = scene;
  const { arrows, all } = arrowsWithin(calls, scene.from + camera.from, scene.from + camera.to, MOST_ARROWS);
  let drawn = 0;
  for (const { from, to } of arrows) {
    const y = scene.middleOf(from);
    const y2 = scene.middleOf(to);
    if (y === null || y2 === null || y === y2) continue;
    const isChosen = [from, to].includes(picture.selected);
    const x = xOf(picture, calls.posted[from]);
    const x2 = xOf(picture, arrivalOf(calls, to));
    context.strokeStyle = context.fillStyle = isChosen ? tokens.accent : tokens.faint;
    context.globalAlpha = isChosen ? 1 : 0.6;
    context.lineWidth = isChosen ? 2 : 1;
    context.beginPath();
    context.moveTo(x, y);
    context.bezierCurveTo(x + 14, y, x2 - 14, y2, x2, y2);
    context.stroke();
    context.beginPath();
    context.moveTo(x2, y2);
    context.lineTo(x2 - 6, y2 - 3);
    context.lineTo(x2 - 6, y2 + 3);
    context.fill();
    drawn++;
  }
  context.globalAlpha = 1;
  return { arrows: drawn, all };
}

function paintAxis(picture: Picture, tokens: Tokens): void {
  const { context, camera, width, scene } = picture;
  const step = tickStep(camera.to - camera.from, (width - GUTTER) / 90);
  context.fillStyle = tokens.faint;
  context.strokeStyle = tokens.rule;
  context.lineWidth = 1;
  for (let time = Math.ceil(camera.from / step) * step; time <= camera.to; time += step) {
    const x = Math.round(xOf(picture, scene.from + time)) + 0.5;
    if (x < GUTTER) continue;
    context.beginPath();
    context.moveTo(x, AXIS - 6);
    context.lineTo(x, scene.height);
    context.stroke();
    context.fillText(formatTick(time, step), x + 4, AXIS / 2);
  }
}

function paintHeadings(picture: Picture, tokens: Tokens, width: number): void {
  const { context, scene } = picture;
  context.fillStyle = tokens.sunken;
  for (const row of scene.rows) if (row.kind === "heading") context.fillRect(0, row.top, width, row.height - 2);
}

function paintNames(picture: Picture, tokens: Tokens): void {
  const { context, scene, width } = picture;
  context.fillStyle = tokens.panel;
  context.fillRect(0, 0, GUTTER - 1, scene.height);
  paintHeadings(picture, tokens, GUTTER - 1);
  for (const row of scene.rows) {
    context.fillStyle = row.kind === "heading" ? tokens.ink : tokens.faint;
    context.fillText(clip(context, row.label, row.kind === "heading" ? width - 20 : GUTTER - 16), 10, row.top + row.height / 2);
  }
}

/** Draws everything; says how many of the arrows in sight are drawn. */
export function paint(picture: Picture): Painted {
  const { context, width, scene } = picture;
  const tokens = themeTokens();
  context.font = `${FONT_SIZE}px ${tokens.font}`;
  context.textBaseline = "middle";
  context.fillStyle = tokens.panel;
  context.fillRect(0, 0, width, scene.height);
  paintAxis(picture, tokens);
  paintHeadings(picture, tokens, width);
  context.save();
  context.beginPath();
  context.rect(GUTTER, AXIS, width - GUTTER, scene.height - AXIS);
  context.clip();
  for (const row of scene.rows) paintRow(picture, tokens, row);
  const painted = paintArrows(picture, tokens);
  context.restore();
  paintNames(picture, tokens);
  return painted;
}
