// SPDX-License-Identifier: Apache-2.0
// Which part of a plane is seen, and how large. Heatmaps that share a camera move together. It keeps the middle and not
// a corner, so heatmaps of different sizes look at the same place.
import { TILE, levelsOf } from "./plane.js";

export interface Size {
  height: number;
  width: number;
}

/** Pixels of an element from which on it can hold a number. */
export const NUMBER_SCALE = 46;
/** The largest zoom, in pixels of an element. */
export const MOST_SCALE = 120;

export class Camera {
  /** The middle, in elements; (0.5, 0.5) is the middle of the first one. */
  row = 0;
  col = 0;
  /** Pixels of an element. */
  scale = 1;
  /** True if all of the plane is shown: it stays so when the window changes. */
  fitted = true;
  /** The element under the mouse, in all heatmaps of this camera. */
  pointer: { row: number; col: number } | null = null;
  /** The size of the heatmap that was measured last. */
  screen: Size = { height: 400, width: 600 };
  private readonly watchers = new Set<() => void>();

  watch(call: () => void): () => void {
    this.watchers.add(call);
    return () => this.watchers.delete(call);
  }

  private moved(): void {
    for (const call of this.watchers) call();
  }

  /** The zoom at which the plane fits. A small plane is enlarged, but not so far that a cell looks like a wall. */
  static fitScale(plane: Size, screen: Size): number {
    const scale = Math.min(screen.width / Math.max(plane.width, 1), screen.height / Math.max(plane.height, 1));
    return Math.min(Math.max(scale, 1e-9), MOST_SCALE);
  }

  fit(plane: Size, screen: Size): void {
    this.row = plane.height / 2;
    this.col = plane.width / 2;
    this.scale = Camera.fitScale(plane, screen);
    this.fitted = true;
    this.moved();
  }

  /** Keeps the middle inside of the plane and the zoom within its limits. */
  private bound(plane: Size, screen: Size): void {
    const least = Camera.fitScale(plane, screen) / 2;
    this.scale = Math.min(Math.max(this.scale, least), MOST_SCALE);
    this.row = Math.min(Math.max(this.row, 0), plane.height);
    this.col = Math.min(Math.max(this.col, 0), plane.width);
  }

  /** Enlarges by `factor`; the place under the pixel (x, y) stays where it is. */
  zoom(factor: number, x: number, y: number, plane: Size, screen: Size): void {
    const dx = x - screen.width / 2;
    const dy = y - screen.height / 2;
    const col = this.col + dx / this.scale;
    const row = this.row + dy / this.scale;
    this.scale *= factor;
    this.bound(plane, screen);
    this.col = col - dx / this.scale;
    this.row = row - dy / this.scale;
    this.fitted = false;
    this.bound(plane, screen);
    this.moved();
  }

  /** Enlarges by `factor` around the middle of the screen. */
  zoomMiddle(factor: number, plane: Size): void {
    this.zoom(factor, this.screen.width / 2, this.screen.height / 2, plane, this.screen);
  }

  /** Moves the picture by pixels. */
  pan(dx: number, dy: number, plane: Size, screen: Size): void {
    this.col -= dx / this.scale;
    this.row -= dy / this.scale;
    this.fitted = false;
    this.bound(plane, screen);
    this.moved();
  }

  /** Looks at an element, at least as large as `scale`. */
  centre(row: number, col: number, scale: number): void {
    this.row = row + 0.5;
    this.col = col + 0.5;
    this.scale = Math.min(Math.max(this.scale, scale), MOST_SCALE);
    this.fitted = false;
    this.moved();
  }

  /** Moves no further than needed for the element to be seen. */
  reveal(row: number, col: number, plane: Size, screen: Size): void {
    const high = screen.height / this.scale / 2;
    const wide = screen.width / this.scale / 2;
    if (row + 1 > this.row + high) this.row = row + 1 - high;
    if (row < this.row - high) this.row = row + high;
    if (col + 1 > this.col + wide) this.col = col + 1 - wide;
    if (col < this.col - wide) this.col = col + wide;
    this.bound(plane, screen);
    this.moved();
  }

  point(row: number, col: number): void {
    if (this.pointer?.row === row && this.pointer.col === col) return;
    this.pointer = { row, col };
    this.moved();
  }

  pointAway(): void {
    if (this.pointer) {
      this.pointer = null;
      this.moved();
    }
  }

  /** As an address keeps it: "row,col,scale". */
  text(): string {
    return this.fitted ? "" : [this.row, this.col, this.scale].map((n) => Number(n.toPrecision(7))).join(",");
  }

  /** Reads what text() wrote; false: it is none. */
  read(text: string | undefined): boolean {
    const numbers = (text ?? "").split(",").map(Number);
    if (numbers.length !== 3 || !numbers.every(Number.isFinite) || numbers[2] <= 0) return false;
    [this.row, this.col] = numbers;
    this.scale = Math.min(numbers[2], MOST_SCALE);
    this.fitted = false;
    this.moved();
    return true;
  }

  /** The left and upper edge of the screen, in elements. */
  corner(screen: Size): { row: number; col: number } {
    return { row: this.row - screen.height / this.scale / 2, col: this.col - screen.width / this.scale / 2 };
  }
}

/** The level whose cells are as small as they can be without being smaller than a pixel. */
export function levelFor(scale: number, plane: Size): number {
  const level = Math.ceil(-Math.log2(scale) - 1e-9);
  return Math.min(Math.max(level, 0), levelsOf(plane.height, plane.width) - 1);
}

export interface TilePlace {
  level: number;
  row: number;
  col: number;
}

/** The tiles of a level that the screen shows, those in the middle first. */
export function visibleTiles(camera: Camera, plane: Size, screen: Size, level: number, cells = TILE): TilePlace[] {
  const side = cells * 2 ** level; // elements
  const corner = camera.corner(screen);
  const last = { row: Math.ceil(plane.height / side) - 1, col: Math.ceil(plane.width / side) - 1 };
  const from = { row: Math.max(Math.floor(corner.row / side), 0), col: Math.max(Math.floor(corner.col / side), 0) };
  const to = {
    row: Math.min(Math.ceil((corner.row + screen.height / camera.scale) / side) - 1, last.row),
    col: Math.min(Math.ceil((corner.col + screen.width / camera.scale) / side) - 1, last.col),
  };
  const places: TilePlace[] = [];
  for (let row = from.row; row <= to.row; row++) for (let col = from.col; col <= to.col; col++) places.push({ level, row, col });
  const away = (place: TilePlace) => Math.hypot((place.row + 0.5) * side - camera.row, (place.col + 0.5) * side - camera.col);
  return places.sort((a, b) => away(a) - away(b));
}
