// SPDX-License-Identifier: Apache-2.0
// Makes pixels of tiles.
import { type KindColours, type MapName, STEPS, colourMap, kindColours } from "./colour.js";
import { type Range, shareOf } from "./range.js";
import { KIND, type Tile } from "./tiles.js";

export const KIND_MODES = ["values", "kinds", "nan", "infinite", "zero", "denormal"] as const;
export type KindMode = (typeof KIND_MODES)[number];
export const CELL_VALUES = ["mean", "least", "most"] as const;
export type CellValue = (typeof CELL_VALUES)[number];

/** How tiles are painted. Two looks with the same key paint the same. */
export interface Look {
  readonly map: MapName;
  readonly range: Range;
  readonly isLog: boolean; // then zeros are painted as "nothing": a difference of none
  readonly kinds: KindMode;
  readonly cell: CellValue;
  readonly isDark: boolean;
}

export function lookKey(look: Look): string {
  return [look.map, look.range.low, look.range.high, look.isLog, look.kinds, look.cell, look.isDark].join(" ");
}

/** Paints one cell: returns its pixel. */
type Painter = (tile: Tile, cell: number) => number;

function valuePainter(look: Look, colours: KindColours): Painter {
  const map = colourMap(look.map, look.isDark);
  const { range, isLog } = look;
  return (tile, cell) => {
    const value = tile[look.cell][cell];
    if (Number.isNaN(value)) return 0; // nothing is there
    if (isLog && !(value > 0)) return colours.none;
    return map[Math.min(Math.floor(shareOf(value, range, isLog) * STEPS), STEPS - 1)];
  };
}

function special(kinds: number, colours: KindColours): number {
  if (kinds & KIND.nan) return colours.nan;
  if (kinds & KIND.negative) return colours.negative;
  return kinds & KIND.infinite ? colours.infinite : 0;
}

/** In a map of zeros above level 0 a cell in which only some elements are zero is paler. */
function half(a: number, b: number): number {
  const part = (shift: number) => ((((a >>> shift) & 255) + ((b >>> shift) & 255)) >> 1) << shift;
  return (part(0) | part(8) | part(16) | (255 << 24)) >>> 0;
}

function zeroPixel(tile: Tile, cell: number, colours: KindColours, other: number): number {
  if (!(tile.kinds[cell] & KIND.zero)) return other;
  return tile.allZero && !tile.allZero[cell] ? half(colours.zero, other || colours.none) : colours.zero;
}

function isEmpty(tile: Tile, cell: number): boolean {
  return tile.kinds[cell] === 0 && Number.isNaN(tile.mean[cell]);
}

function painterOf(look: Look): Painter {
  const colours = kindColours(look.isDark);
  const value = valuePainter(look, colours);
  const strong = look.isDark ? 0xfff0f0f0 : 0xff303030;
  switch (look.kinds) {
    case "values":
      return (tile, cell) => special(tile.kinds[cell], colours) || value(tile, cell);
    case "kinds":
      return (tile, cell) => {
        const kinds = tile.kinds[cell];
        const found = special(kinds, colours) || (kinds & KIND.denormal ? colours.denormal : 0);
        return found || zeroPixel(tile, cell, colours, value(tile, cell));
      };
    case "nan":
      return (tile, cell) => (tile.kinds[cell] & KIND.nan ? colours.nan : isEmpty(tile, cell) ? 0 : colours.none);
    case "infinite":
      return (tile, cell) => {
        const kinds = tile.kinds[cell] & (KIND.infinite | KIND.negative);
        return kinds ? special(kinds, colours) : isEmpty(tile, cell) ? 0 : colours.none;
      };
    case "zero":
      return (tile, cell) => (isEmpty(tile, cell) ? 0 : zeroPixel(tile, cell, { ...colours, zero: strong }, colours.none));
    case "denormal":
      return (tile, cell) => (tile.kinds[cell] & KIND.denormal ? colours.denormal : isEmpty(tile, cell) ? 0 : colours.none);
  }
}

/** The pixel of one cell, for the colour of its letters. */
export function cellPixel(tile: Tile, cell: number, look: Look): number {
  return painterOf(look)(tile, cell);
}

const painted = new WeakMap<Tile, { key: string; canvas: HTMLCanvasElement }>();

/** The tile as a picture of one pixel for each cell; made again only if the look has changed. */
export function paintTile(tile: Tile, look: Look, key: string): HTMLCanvasElement {
  const old = painted.get(tile);
  if (old?.key === key) return old.canvas;
  const canvas = old?.canvas ?? document.createElement("canvas");
  canvas.width = tile.width;
  canvas.height = tile.height;
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  const image = context.createImageData(tile.width, tile.height);
  const words = new Uint32Array(image.data.buffer);
  const paint = painterOf(look);
  for (let cell = 0; cell < words.length; cell++) words[cell] = paint(tile, cell);
  context.putImageData(image, 0, 0);
  painted.set(tile, { key, canvas });
  return canvas;
}
