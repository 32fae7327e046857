// SPDX-License-Identifier: Apache-2.0
// What a heatmap draws: the tiles of a plane and the texts of its elements, as far as they have come.
import type { Blocks } from "./blocks.js";
import { type Camera, NUMBER_SCALE, type Size, type TilePlace, levelFor, visibleTiles } from "./camera.js";
import { BLOCK, type Plane, TILE, elementAt, levelsOf } from "./plane.js";
import { type Extremes, NO_EXTREMES, type Subject, type Tile, type ValueBlock, extremes, tilesOf, valuesOf } from "./tiles.js";

export interface Place {
  row: number;
  col: number;
}

/** What is known of the cell under an element. */
export interface Cell {
  level: number;
  least: number;
  mean: number;
  most: number;
  kinds: number;
  sampled: boolean;
}

export class Picture {
  readonly tiles: Blocks<Tile>;
  readonly values: Blocks<ValueBlock> | null;
  readonly levels: number;
  /** Of all tiles that have come, also of those that were forgotten since. */
  seen: Extremes = NO_EXTREMES;
  private readonly watchers = new Set<() => void>();

  /** `texts`: the record whose elements can be read; null: a difference, which has none. */
  constructor(
    readonly subject: Subject,
    readonly plane: Plane,
    texts: { run: string; record: number } | null,
  ) {
    const changed = () => {
      for (const call of this.watchers) call();
    };
    this.levels = levelsOf(plane.height, plane.width);
    const came = (tile: Tile) => {
      this.seen = extremes(tile, this.seen);
    };
    this.tiles = tilesOf(subject, plane, came, changed);
    this.values = texts ? valuesOf(texts.run, texts.record, plane, changed) : null;
  }

  watch(call: () => void): () => void {
    this.watchers.add(call);
    return () => this.watchers.delete(call);
  }

  /** The one tile of the last level, which shows the whole plane. */
  get whole(): Tile | undefined {
    return this.tiles.get({ level: this.levels - 1, row: 0, col: 0 });
  }

  /** Asks for what this camera sees, and for the texts of `places`. */
  want(camera: Camera, screen: Size, places: readonly Place[]): void {
    const level = levelFor(camera.scale, this.plane);
    this.tiles.want([{ level: this.levels - 1, row: 0, col: 0 }, ...visibleTiles(camera, this.plane, screen, level)]);
    if (!this.values) return;
    const blocks = places
      .filter((place) => elementAt(this.plane, place.row, place.col) >= 0)
      .map((place) => ({ level: 0, row: Math.floor(place.row / BLOCK), col: Math.floor(place.col / BLOCK) }));
    if (camera.scale >= NUMBER_SCALE) blocks.push(...visibleTiles(camera, this.plane, screen, 0, BLOCK));
    this.values.want(blocks);
  }

  /** The texts of an element, if they have come. */
  text({ row, col }: Place): { decimal: string; hex: string } | null {
    const block = this.values?.get({ level: 0, row: Math.floor(row / BLOCK), col: Math.floor(col / BLOCK) });
    const decimal = block?.decimal[row % BLOCK]?.[col % BLOCK];
    return block && decimal !== undefined ? { decimal, hex: block.hex[row % BLOCK][col % BLOCK] } : null;
  }

  /** The finest cell with this element that has come, from `level` on. */
  cell({ row, col }: Place, level: number): Cell | null {
    if (elementAt(this.plane, row, col) < 0) return null;
    for (let at = level; at < this.levels; at++) {
      const found = this.cellOf({ row, col }, at);
      if (found) return found;
    }
    return null;
  }

  private cellOf({ row, col }: Place, level: number): Cell | null {
    const side = 2 ** level;
    const place: TilePlace = { level, row: Math.floor(row / side / TILE), col: Math.floor(col / side / TILE) };
    const tile = this.tiles.get(place);
    if (!tile) return null;
    const cell = (Math.floor(row / side) % TILE) * tile.width + (Math.floor(col / side) % TILE);
    return { level, least: tile.least[cell], mean: tile.mean[cell], most: tile.most[cell], kinds: tile.kinds[cell], sampled: tile.sampled };
  }

  close(): void {
    this.watchers.clear();
    this.tiles.close();
    this.values?.close();
  }
}
