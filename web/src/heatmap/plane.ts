// SPDX-License-Identifier: Apache-2.0
// A plane: the 2-D slice of a tensor that a heatmap shows, and its tiles. docs/workbench-protocol.md has the terms.
import type { Parameters } from "../api.js";

/** Cells of a tile in each direction. */
export const TILE = 128;
/** Elements of a block of `values` in each direction. */
export const BLOCK = 32;

export interface Plane {
  readonly view: readonly number[]; // the shape in which elements are shown
  readonly rows: number; // the dimension that goes down; -1: there is one row
  readonly cols: number; // the dimension that goes right; -1: there is one column
  readonly at: readonly number[]; // the index in each dimension; those of rows and cols do not count
  readonly wrap: number; // elements in a row, of a tensor of one dimension that is wrapped; 0: it is not
  readonly height: number; // elements
  readonly width: number;
}

/** The plane of these dimensions. What is out of range is put right: the numbers may come from an address. */
export function planeOf(view: readonly number[], rows: number, cols: number, at: readonly number[] = []): Plane {
  const last = view.length - 1;
  const right = Number.isInteger(cols) && cols >= 0 && cols <= last ? cols : last;
  const down = Number.isInteger(rows) && rows >= 0 && rows <= last && rows !== right ? rows : last === 0 ? -1 : right === last ? last - 1 : last;
  const index = view.map((size, i) => {
    const wanted = at[i];
    return i === right || i === down || !Number.isInteger(wanted) ? 0 : Math.min(Math.max(wanted, 0), Math.max(size - 1, 0));
  });
  return {
    view,
    rows: last < 0 ? -1 : down,
    cols: right,
    at: index,
    wrap: 0,
    height: last < 1 ? 1 : view[down],
    width: last < 0 ? 1 : view[right],
  };
}

/** A tensor of one dimension in rows of `width` elements. The plane lacks those that fill no row. */
export function wrappedPlane(elements: number, width: number): Plane {
  const wrap = Math.min(Math.max(Math.floor(width) || 1, 1), 65536, Math.max(elements, 1));
  return { view: [elements], rows: -1, cols: 0, at: [0], wrap, height: Math.floor(elements / wrap), width: wrap };
}

/** A width for rows that makes about a square; a power of two, because sizes mostly are. */
export function usualWrap(elements: number): number {
  return Math.min(2 ** Math.round(Math.log2(Math.sqrt(Math.max(elements, 1)))), 65536);
}

/** What a request needs to know of the plane, in the order of the protocol. */
export function planeParameters(plane: Plane): Parameters {
  return plane.wrap ? { wrap: plane.wrap } : { rows: plane.rows, cols: plane.cols, at: plane.at.join(",") };
}

/** The number of levels: the last is the first at which the plane fits into one tile. */
export function levelsOf(height: number, width: number): number {
  let levels = 1;
  for (let side = Math.max(height, width); side > TILE; side = Math.ceil(side / 2)) levels++;
  return levels;
}

/** The row-major number of an element of the tensor; -1: there is none at this place. */
export function elementAt(plane: Plane, row: number, col: number): number {
  if (row < 0 || col < 0 || row >= plane.height || col >= plane.width) return -1;
  if (plane.wrap) return row * plane.wrap + col;
  return numberOf(plane.view, indexAt(plane, row, col));
}

/** The index in each dimension of the tensor. */
export function indexAt(plane: Plane, row: number, col: number): number[] {
  if (plane.wrap) return [row * plane.wrap + col];
  return plane.view.map((_, i) => (i === plane.cols ? col : i === plane.rows ? row : plane.at[i]));
}

/** The row-major number of an index. */
export function numberOf(view: readonly number[], index: readonly number[]): number {
  return view.reduce((number, size, i) => number * size + index[i], 0);
}

/** The index of a row-major number. */
export function indexOf(view: readonly number[], element: number): number[] {
  const index = new Array<number>(view.length);
  let rest = element;
  for (let i = view.length - 1; i >= 0; i--) {
    index[i] = view[i] > 0 ? rest % view[i] : 0;
    rest = view[i] > 0 ? Math.floor(rest / view[i]) : 0;
  }
  return index;
}

/** The plane of the same dimensions in which an element lies, and where it lies there; null: no such element. */
export function planeAround(plane: Plane, element: number): { plane: Plane; row: number; col: number } | null {
  const count = plane.view.reduce((product, size) => product * size, 1);
  if (!Number.isInteger(element) || element < 0 || element >= count) return null;
  if (plane.wrap) {
    const row = Math.floor(element / plane.wrap);
    return row < plane.height ? { plane, row, col: element % plane.wrap } : null;
  }
  const index = indexOf(plane.view, element);
  const moved = planeOf(plane.view, plane.rows, plane.cols, index);
  return { plane: moved, row: plane.rows < 0 ? 0 : index[plane.rows], col: plane.cols < 0 ? 0 : index[plane.cols] };
}

/** "[3, 17]", as reports write it. */
export function indexText(index: readonly number[]): string {
  return `[${index.join(", ")}]`;
}

/** "0,0,3" of an address; what is no number is left to planeOf. */
export function parseAt(text: string | undefined): number[] {
  return text ? text.split(",").map((word) => (/^\d{1,15}$/.test(word) ? Number(word) : NaN)) : [];
}

/** The plane that an address asks for; without `at`, the one with the element that it names. */
export function planeFromAddress(info: { view: readonly number[]; rows: number; cols: number }, parameters: Record<string, string>): Plane {
  const plane = planeOf(info.view, Number(parameters.rows ?? info.rows), Number(parameters.cols ?? info.cols), parseAt(parameters.at));
  return parameters.at === undefined ? (planeAround(plane, Number(parameters.element ?? NaN))?.plane ?? plane) : plane;
}

/** Where the element of an address lies, if it lies in this plane. */
export function placeFromAddress(plane: Plane, text: string | undefined): { row: number; col: number } | null {
  const element = Number(text ?? NaN);
  const found = planeAround(plane, element);
  return found && elementAt(plane, found.row, found.col) === element ? { row: found.row, col: found.col } : null;
}
