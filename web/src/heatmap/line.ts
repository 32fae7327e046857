// SPDX-License-Identifier: Apache-2.0
// Draws a tensor of one dimension as a line: a band from the least to the most value of each cell, and their mean.
import { levelFor, visibleTiles } from "./camera.js";
import { cssColour, kindColours } from "./colour.js";
import { type Drawn, RULER, type Scene, rulerStep, shorten } from "./draw.js";
import { TILE } from "./plane.js";
import { KIND, type Tile } from "./tiles.js";

interface Axes {
  x: (col: number) => number; // device pixels
  y: (value: number) => number;
}

/** Left of the plot there is more room than in a heatmap: values have more digits than indices. */
function axesOf(scene: Scene): Axes {
  const { camera, screen, ratio, look } = scene;
  const corner = camera.corner(screen);
  const { low, high } = look.range;
  const pad = screen.height * 0.06;
  const span = high - low || 1;
  return {
    x: (col) => (RULER.left + (col - corner.col) * camera.scale) * ratio,
    y: (value) => (RULER.top + pad + ((high - Math.min(Math.max(value, low - span), high + span)) / span) * (screen.height - 2 * pad)) * ratio,
  };
}

export function drawLine(context: CanvasRenderingContext2D, scene: Scene): Drawn {
  const { ratio, screen, tokens, picture, camera } = scene;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = tokens.sunken;
  context.fillRect(0, 0, context.canvas.width, context.canvas.height);
  const axes = axesOf(scene);
  drawAxes(context, scene, axes);
  context.save();
  context.beginPath();
  context.rect(RULER.left * ratio, RULER.top * ratio, screen.width * ratio, screen.height * ratio);
  context.clip();
  const level = levelFor(camera.scale, picture.plane);
  const seen = visibleTiles(camera, picture.plane, screen, level).sort((a, b) => a.col - b.col);
  let sampled = false;
  let isCoarse = false;
  for (const place of seen) {
    const tile = picture.tiles.get(place);
    if (!tile) {
      isCoarse = true;
      continue;
    }
    sampled ||= tile.sampled;
    drawTile(context, scene, axes, tile, place.col * TILE * 2 ** level, 2 ** level);
  }
  if (isCoarse && picture.whole && level < picture.levels - 1) drawTile(context, scene, axes, picture.whole, 0, 2 ** (picture.levels - 1), 0.35);
  drawPlaces(context, scene, axes);
  context.restore();
  return { sampled, isCoarse };
}

function drawTile(context: CanvasRenderingContext2D, scene: Scene, axes: Axes, tile: Tile, first: number, side: number, alpha = 1): void {
  const { ratio, tokens, camera } = scene;
  const middle = (cell: number) => axes.x(first + (cell + 0.5) * side);
  context.fillStyle = tokens.accent;
  context.strokeStyle = tokens.accent;
  context.globalAlpha = 0.3 * alpha;
  if (tile.level > 0)
    for (let cell = 0; cell < tile.width; cell++) {
      const x = axes.x(first + cell * side);
      const top = axes.y(tile.most[cell]);
      if (Number.isFinite(tile.most[cell])) context.fillRect(x, top, Math.max(axes.x(first + (cell + 1) * side) - x, 1), Math.max(axes.y(tile.least[cell]) - top, ratio));
    }
  context.globalAlpha = alpha;
  context.lineWidth = 1.5 * ratio;
  context.beginPath();
  let isDown = false;
  for (let cell = 0; cell < tile.width; cell++) {
    const value = tile.mean[cell];
    if (!Number.isFinite(value)) isDown = false;
    else if (isDown) context.lineTo(middle(cell), axes.y(value));
    else context.moveTo(middle(cell), axes.y(value));
    isDown ||= Number.isFinite(value);
  }
  context.stroke();
  if (tile.level === 0 && camera.scale >= 5)
    for (let cell = 0; cell < tile.width; cell++)
      if (Number.isFinite(tile.mean[cell])) dot(context, middle(cell), axes.y(tile.mean[cell]), 2.5 * ratio);
  context.globalAlpha = 1;
  drawKinds(context, scene, tile, middle);
}

function dot(context: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}

/** NaN and infinities have no place on the axis: they are marked at the lower and the upper edge. */
function drawKinds(context: CanvasRenderingContext2D, scene: Scene, tile: Tile, middle: (cell: number) => number): void {
  const colours = kindColours(scene.look.isDark);
  const [top, bottom] = [RULER.top * scene.ratio, (RULER.top + scene.screen.height) * scene.ratio];
  const size = 8 * scene.ratio;
  for (let cell = 0; cell < tile.width; cell++) {
    const kinds = tile.kinds[cell];
    const x = middle(cell) - size / 4;
    if (kinds & KIND.nan) {
      context.fillStyle = cssColour(colours.nan);
      context.fillRect(x, top, size / 2, bottom - top);
    }
    if (kinds & (KIND.infinite | KIND.negative)) {
      context.fillStyle = cssColour(kinds & KIND.negative ? colours.negative : colours.infinite);
      context.fillRect(x, kinds & KIND.negative ? bottom - size : top, size / 2, size);
    }
  }
}

/** The element under the mouse, and the selected one. */
function drawPlaces(context: CanvasRenderingContext2D, scene: Scene, axes: Axes): void {
  const { camera, selected, tokens, picture, ratio, screen } = scene;
  const level = levelFor(camera.scale, picture.plane);
  const mark = (col: number, colour: string, width: number, alpha = 0.8) => {
    const cell = picture.cell({ row: 0, col }, level);
    const x = axes.x(col + 0.5);
    context.fillStyle = colour;
    context.globalAlpha = alpha;
    context.fillRect(x - (width * ratio) / 2, RULER.top * ratio, width * ratio, screen.height * ratio);
    context.globalAlpha = 1;
    if (cell && Number.isFinite(cell.mean)) dot(context, x, axes.y(cell.mean), 4 * ratio);
  };
  for (const place of scene.marks) mark(place.col, tokens.bad, 1, 0.25);
  if (camera.pointer) mark(camera.pointer.col, tokens.faint, 1);
  if (selected) mark(selected.col, tokens.bad, 2);
}

function drawAxes(context: CanvasRenderingContext2D, scene: Scene, axes: Axes): void {
  const { camera, ratio, tokens, picture, screen, look } = scene;
  context.font = `${10 * ratio}px ui-monospace, monospace`;
  context.textBaseline = "middle";
  context.textAlign = "right";
  const { low, high } = look.range;
  const step = rulerStepReal((high - low || 1) / Math.max(screen.height / 44, 1));
  const first = Math.ceil(low / step);
  const count = Math.min(Math.floor((high - first * step) / step + 1e-6) + 1, 50);
  for (let i = 0; i < count; i++) {
    const value = (first + i) * step;
    const y = Math.round(axes.y(value));
    context.fillStyle = tokens.rule;
    context.fillRect(RULER.left * ratio, y, screen.width * ratio, Math.max(Math.round(ratio), 1));
    context.fillStyle = tokens.faint;
    context.fillText(shorten(String(Number(value.toPrecision(4))), 6), (RULER.left - 4) * ratio, y);
  }
  context.textAlign = "center";
  context.fillStyle = tokens.faint;
  const across = rulerStep(camera.scale, String(picture.plane.width).length * 7 + 14);
  const corner = camera.corner(screen);
  for (let col = Math.max(Math.ceil(corner.col / across), 0) * across; col < Math.min(picture.plane.width, corner.col + screen.width / camera.scale); col += across)
    context.fillText(String(col), axes.x(col + 0.5), (RULER.top / 2) * ratio);
}

/** Steps of 1, 2 or 5 times a power of ten, of any size. */
function rulerStepReal(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least) ?? power * 10;
}
