// SPDX-License-Identifier: Apache-2.0
// The tiles of a heatmap, and the texts of single elements.
import { type Columns, type Parameters, ask, askColumns } from "../api.js";
import { Blocks } from "./blocks.js";
import type { TilePlace } from "./camera.js";
import { type Plane, planeParameters } from "./plane.js";

interface TileHeader {
  height: number;
  width: number;
  level: number;
  levels: number;
  plane: [number, number];
  sampled: boolean;
  looked_at: number;
  elements: number;
}

export interface Tile {
  readonly level: number;
  readonly height: number; // cells
  readonly width: number;
  readonly sampled: boolean;
  /** At level 0 all three are the element. */
  readonly least: Float32Array;
  readonly most: Float32Array;
  readonly mean: Float32Array;
  readonly kinds: Uint8Array;
  readonly allZero: Uint8Array | null; // null at level 0
}

export const KIND = { nan: 1, infinite: 2, zero: 4, denormal: 8, negative: 16 } as const;

export function tileOf(answer: Columns<TileHeader>): Tile {
  const { header, column } = answer;
  const mean = column.mean as Float32Array;
  return {
    level: header.level,
    height: header.height,
    width: header.width,
    sampled: header.sampled,
    mean,
    least: (column.least as Float32Array | undefined) ?? mean,
    most: (column.most as Float32Array | undefined) ?? mean,
    kinds: column.kinds as Uint8Array,
    allZero: (column.all_zero as Uint8Array | undefined) ?? null,
  };
}

/** What a picture is of: the request that gives its tiles, without the plane and the place. */
export interface Subject {
  name: "heatmap" | "difference";
  parameters: Parameters;
}

export function loadTile(subject: Subject, plane: Plane, place: TilePlace, signal?: AbortSignal): Promise<Tile> {
  const { level, row, col } = place;
  return askColumns<TileHeader>(subject.name, { ...subject.parameters, ...planeParameters(plane), level, row, col }, signal).then(tileOf);
}

export function tilesOf(subject: Subject, plane: Plane, came: (tile: Tile) => void, changed: () => void): Blocks<Tile> {
  return new Blocks<Tile>(
    async (place, signal) => {
      const tile = await loadTile(subject, plane, place, signal);
      came(tile);
      return tile;
    },
    (tile) => tile.kinds.length * (tile.level === 0 ? 5 : 14),
    48 << 20,
    changed,
  );
}

/** The finite values that tiles have shown so far. NaN: none yet. */
export interface Extremes {
  low: number;
  high: number;
  lowPositive: number;
}

export const NO_EXTREMES: Extremes = { low: NaN, high: NaN, lowPositive: NaN };

/** The extremes of a tile, and of what was seen before it. */
export function extremes(tile: Tile, before: Extremes = NO_EXTREMES): Extremes {
  let { low, high, lowPositive } = before;
  for (let i = 0; i < tile.kinds.length; i++) {
    const least = tile.least[i];
    const most = tile.most[i];
    if (Number.isFinite(least) && !(least >= low)) low = least;
    if (Number.isFinite(most) && !(most <= high)) high = most;
    const positive = least > 0 ? least : most;
    if (positive > 0 && Number.isFinite(positive) && !(positive >= lowPositive)) lowPositive = positive;
  }
  return { low, high, lowPositive };
}

/** The kinds that occur anywhere in a tile. */
export function kindsIn(tile: Tile): number {
  let kinds = 0;
  for (const kind of tile.kinds) kinds |= kind;
  return kinds;
}

// --- texts of elements ----------------------------------------------------------------------------

export interface ValueBlock {
  height: number;
  width: number;
  decimal: string[][];
  hex: string[][];
}

export function valuesOf(run: string, record: number, plane: Plane, changed: () => void): Blocks<ValueBlock> {
  return new Blocks<ValueBlock>(
    ({ row, col }, signal) => ask<ValueBlock>("values", { run, record, ...planeParameters(plane), row, col }, signal),
    () => 1, // counted, not weighed: each has at most 1024 texts
    200,
    changed,
  );
}
