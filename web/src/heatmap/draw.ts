// SPDX-License-Identifier: Apache-2.0
// Draws a picture on a canvas: tiles (the coarse ones where the fine ones have not come), rulers, a grid, numbers, marks.
import type { Tokens } from "../palette.js";
import { type Camera, NUMBER_SCALE, type Size, type TilePlace, levelFor, visibleTiles } from "./camera.js";
import { isLight } from "./colour.js";
import { type Look, cellPixel, lookKey, paintTile } from "./paint.js";
import type { Picture, Place } from "./picture.js";
import { TILE, elementAt } from "./plane.js";
import type { Tile } from "./tiles.js";

/** Room for the rulers, in CSS pixels. */
export const RULER = { left: 40, top: 18 } as const;
const GRID_SCALE = 14;

export interface Scene {
  picture: Picture;
  camera: Camera;
  look: Look;
  isHex: boolean;
  selected: Place | null;
  marks: readonly Place[]; // elements worth looking at
  tokens: Tokens;
  screen: Size; // of the plane's part of the canvas, CSS pixels
  ratio: number; // device pixels of a CSS pixel
}

/** Where an element's edge lies, in device pixels: whole ones, so that tiles meet without a seam. */
function edges(scene: Scene) {
  const { camera, screen, ratio } = scene;
  const corner = camera.corner(screen);
  return {
    x: (col: number) => Math.round((RULER.left + (col - corner.col) * camera.scale) * ratio),
    y: (row: number) => Math.round((RULER.top + (row - corner.row) * camera.scale) * ratio),
  };
}

export interface Drawn {
  sampled: boolean; // a tile that is seen looked at some of its elements only
  isCoarse: boolean; // some tiles have not come
}

export function draw(context: CanvasRenderingContext2D, scene: Scene): Drawn {
  const { ratio, screen, tokens } = scene;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = tokens.sunken;
  context.fillRect(0, 0, context.canvas.width, context.canvas.height);
  context.save();
  context.beginPath();
  context.rect(RULER.left * ratio, RULER.top * ratio, screen.width * ratio, screen.height * ratio);
  context.clip();
  const drawn = drawTiles(context, scene);
  if (scene.camera.scale >= GRID_SCALE) drawGrid(context, scene);
  if (scene.camera.scale >= NUMBER_SCALE) drawNumbers(context, scene);
  drawMarks(context, scene);
  context.restore();
  drawRulers(context, scene);
  return drawn;
}

// --- tiles ----------------------------------------------------------------------------------------

function drawTiles(context: CanvasRenderingContext2D, scene: Scene): Drawn {
  const { picture, camera, screen } = scene;
  const at = edges(scene);
  const level = levelFor(camera.scale, picture.plane);
  const seen = visibleTiles(camera, picture.plane, screen, level);
  const isCoarse = seen.some((place) => !picture.tiles.get(place));
  const key = lookKey(scene.look);
  context.save();
  context.beginPath();
  context.rect(at.x(0), at.y(0), at.x(picture.plane.width) - at.x(0), at.y(picture.plane.height) - at.y(0));
  context.clip();
  context.imageSmoothingEnabled = false;
  let sampled = false;
  const drawLevel = (places: TilePlace[]) => {
    for (const place of places) {
      const tile = picture.tiles.get(place);
      if (!tile) continue;
      const side = TILE * 2 ** place.level;
      const [left, top] = [place.col * side, place.row * side];
      const [x, y] = [at.x(left), at.y(top)];
      const [right, bottom] = [at.x(left + tile.width * 2 ** place.level), at.y(top + tile.height * 2 ** place.level)];
      context.drawImage(paintTile(tile, scene.look, key), x, y, right - x, bottom - y);
      sampled ||= tile.sampled;
    }
  };
  if (isCoarse) for (let coarse = picture.levels - 1; coarse > level; coarse--) drawLevel(visibleTiles(camera, picture.plane, screen, coarse));
  drawLevel(seen);
  context.restore();
  return { sampled, isCoarse };
}

// --- grid and numbers -----------------------------------------------------------------------------

/** The elements that the screen shows. */
function seenElements({ camera, screen, picture: { plane } }: Scene) {
  const corner = camera.corner(screen);
  return {
    top: Math.max(Math.floor(corner.row), 0),
    left: Math.max(Math.floor(corner.col), 0),
    bottom: Math.min(Math.ceil(corner.row + screen.height / camera.scale), plane.height),
    right: Math.min(Math.ceil(corner.col + screen.width / camera.scale), plane.width),
  };
}

function drawGrid(context: CanvasRenderingContext2D, scene: Scene): void {
  const at = edges(scene);
  const { top, left, bottom, right } = seenElements(scene);
  context.fillStyle = scene.tokens.sunken;
  context.globalAlpha = 0.55;
  const thick = Math.max(Math.round(scene.ratio), 1);
  for (let row = top; row <= bottom; row++) context.fillRect(at.x(left), at.y(row), at.x(right) - at.x(left), thick);
  for (let col = left; col <= right; col++) context.fillRect(at.x(col), at.y(top), thick, at.y(bottom) - at.y(top));
  context.globalAlpha = 1;
}

/** A number with as many digits as fit. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const value = Number(text);
  if (!Number.isFinite(value)) return text.slice(0, Math.max(most - 1, 1)) + "…";
  for (let digits = Math.min(most, 12); digits > 0; digits--) {
    const short = String(Number(value.toPrecision(digits)));
    if (short.length <= most) return short;
    const exponent = value.toExponential(digits - 1).replace("e+", "e");
    if (exponent.length <= most) return exponent;
  }
  return "…";
}

/** The text of an element in at most `most` letters. A difference has no texts of its own: its tile has the number. */
function numberText(scene: Scene, tile: Tile, cell: number, place: Place, most: number): string {
  if (!scene.picture.values) return Number.isNaN(tile.mean[cell]) ? "" : shorten(String(Number(tile.mean[cell].toPrecision(6))), most);
  const text = scene.picture.text(place);
  if (!text) return "";
  if (!scene.isHex) return shorten(text.decimal, most);
  return text.hex.length <= most ? text.hex : `${text.hex.slice(0, Math.max(most - 1, 1))}…`;
}

function drawNumbers(context: CanvasRenderingContext2D, scene: Scene): void {
  const { picture, camera, ratio, look } = scene;
  const at = edges(scene);
  const { top, left, bottom, right } = seenElements(scene);
  // Hex digits cannot be rounded: they are smaller, so that all of them fit where that can be read.
  const size = scene.isHex ? Math.min(Math.max(camera.scale / 6, 8), 14) : Math.min(Math.max(camera.scale / 5, 10), 15);
  context.font = `${size * ratio}px ui-monospace, monospace`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const most = Math.floor((camera.scale - 6) / (size * 0.61));
  for (let row = top; row < bottom; row++)
    for (let col = left; col < right; col++) {
      const tile = picture.tiles.get({ level: 0, row: Math.floor(row / TILE), col: Math.floor(col / TILE) });
      if (!tile || elementAt(picture.plane, row, col) < 0) continue;
      const cell = (row % TILE) * tile.width + (col % TILE);
      const shown = numberText(scene, tile, cell, { row, col }, most);
      context.fillStyle = isLight(cellPixel(tile, cell, look)) ? "#10151c" : "#ffffff";
      context.fillText(shown, (at.x(col) + at.x(col + 1)) / 2, (at.y(row) + at.y(row + 1)) / 2);
    }
}

// --- marks and rulers -----------------------------------------------------------------------------

/** A frame in two colours: one of them shows on any ground. */
function frame(context: CanvasRenderingContext2D, scene: Scene, { row, col }: Place, colour: string, least: number): void {
  const at = edges(scene);
  const pad = Math.max((least * scene.ratio - (at.x(col + 1) - at.x(col))) / 2, 0);
  const [x, y] = [at.x(col) - pad, at.y(row) - pad];
  const [width, height] = [at.x(col + 1) + pad - x, at.y(row + 1) + pad - y];
  const line = 2 * scene.ratio;
  context.lineWidth = line * 2;
  context.strokeStyle = "#ffffff";
  context.strokeRect(x - line, y - line, width + 2 * line, height + 2 * line);
  context.lineWidth = line;
  context.strokeStyle = colour;
  context.strokeRect(x - line / 2, y - line / 2, width + line, height + line);
}

/** A circle around an element that is too small to be seen; a large one needs none. */
function ring(context: CanvasRenderingContext2D, scene: Scene, { row, col }: Place): void {
  if (scene.camera.scale > 16) return;
  const at = edges(scene);
  context.beginPath();
  context.arc((at.x(col) + at.x(col + 1)) / 2, (at.y(row) + at.y(row + 1)) / 2, Math.max(scene.camera.scale, 7) * scene.ratio, 0, 2 * Math.PI);
  context.lineWidth = 3.5 * scene.ratio;
  context.strokeStyle = scene.look.isDark ? "#000000" : "#ffffff";
  context.stroke();
  context.lineWidth = 1.5 * scene.ratio;
  context.strokeStyle = scene.tokens.bad;
  context.stroke();
}

function drawMarks(context: CanvasRenderingContext2D, scene: Scene): void {
  const { camera, selected, tokens, picture } = scene;
  const pointer = camera.pointer;
  if (pointer && camera.scale >= 4 && elementAt(picture.plane, pointer.row, pointer.col) >= 0) {
    const at = edges(scene);
    context.lineWidth = scene.ratio;
    context.strokeStyle = tokens.ink;
    context.strokeRect(at.x(pointer.col) + 0.5, at.y(pointer.row) + 0.5, at.x(pointer.col + 1) - at.x(pointer.col), at.y(pointer.row + 1) - at.y(pointer.row));
  }
  for (const mark of scene.marks) ring(context, scene, mark);
  if (selected) frame(context, scene, selected, tokens.bad, 9);
}

/** Steps of 1, 2 or 5 times a power of ten that leave room for a label. */
export function rulerStep(scale: number, room: number): number {
  const least = Math.max(room / scale, 1);
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least - 1e-9) ?? power * 10;
}

function drawRulers(context: CanvasRenderingContext2D, scene: Scene): void {
  const { camera, ratio, tokens, picture, screen } = scene;
  const at = edges(scene);
  const { top, left, bottom, right } = seenElements(scene);
  const digits = String(picture.plane.width).length;
  context.font = `${10 * ratio}px ui-monospace, monospace`;
  context.fillStyle = tokens.faint;
  context.textBaseline = "middle";
  context.textAlign = "center";
  const step = rulerStep(camera.scale, digits * 7 + 12);
  for (let col = Math.ceil(left / step) * step; col < right; col += step) {
    const x = (RULER.left + (col + 0.5 - camera.corner(screen).col) * camera.scale) * ratio;
    if (x > (RULER.left + 8) * ratio) context.fillText(String(col), x, Math.max(at.y(0), RULER.top * ratio) - (RULER.top / 2) * ratio);
  }
  context.textAlign = "right";
  const down = rulerStep(camera.scale, 16);
  for (let row = Math.ceil(top / down) * down; row < bottom; row += down) {
    const y = (at.y(row) + at.y(row + 1)) / 2;
    if (y > (RULER.top + 4) * ratio) context.fillText(shorten(String(row), 6), Math.max(at.x(0), RULER.left * ratio) - 5 * ratio, y);
  }
}
