// SPDX-License-Identifier: Apache-2.0
// Draws a scene. It keeps what can be used again for the next picture: pixels of rows, the overview, widths of names.
import { type Tokens, parseColour, themeTokens } from "../palette.js";
import { type Layout, type TrackNeeds, layoutTracks } from "./layout.js";
import { paintCores } from "./paint-cores.js";
import { paintOverlays } from "./paint-overlays.js";
import { paintTracks } from "./paint-tracks.js";
import { RowScratch, type Shades, fillRow, makeShades, shadeRow } from "./raster.js";
import type { Scene } from "./scene.js";

const FADED = 0.32; // how strong other tasks are while some are found or lie on the path

export const FONT_SIZE = 11;

/** A picture in the making: what the functions that paint need. */
export interface Easel {
  context: CanvasRenderingContext2D;
  layout: Layout;
  tokens: Tokens;
  scene: Scene;
  /** Nanoseconds of a CSS pixel. */
  pixel: number;
  /** Cores that run, on the average of each device pixel; by device pixel of the plot. */
  running: Float32Array;
  scale: number; // device pixels of a CSS pixel
  painter: Painter;
}

/** The place of a time on the screen, kept near it: canvases draw wrong far away. */
export function xOf(easel: Easel, time: number): number {
  const x = easel.layout.gutter + (time - easel.scene.camera.from) / easel.pixel;
  return Math.max(-1e4, Math.min(2e4, x));
}

export class Painter {
  layout: Layout | null = null;
  private row = new RowScratch(0);
  private running = new Float32Array(0);
  private image: ImageData | null = null;
  private pixels = new Uint32Array(0);
  private readonly stretched = document.createElement("canvas");
  private readonly overview = document.createElement("canvas");
  private overviewOf: unknown[] = [];
  private shades: { of: unknown[]; shades: Shades } | null = null;
  private readonly names = new Map<string, { text: string; width: number }>();

  constructor(private readonly canvas: HTMLCanvasElement) {}

  /** Draws; false if the canvas has no size yet. */
  paint(scene: Scene): boolean {
    const scale = Math.min(2, window.devicePixelRatio || 1);
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    const context = this.canvas.getContext("2d", { alpha: false });
    if (!context || width < 100 || height < 60) return false;
    if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
    }
    const layout = (this.layout = layoutTracks(width, height, needsOf(scene)));
    scene.scroll = Math.max(0, Math.min(layout.mostScroll, scene.scroll));
    const tokens = themeTokens();
    const plot = width - layout.gutter;
    const pixel = (scene.camera.to - scene.camera.from) / plot;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = `${FONT_SIZE}px ${tokens.font}`;
    context.textBaseline = "middle";
    context.fillStyle = tokens.panel;
    context.fillRect(0, 0, width, height);
    const easel: Easel = { context, layout, tokens, scene, pixel, running: this.running, scale, painter: this };
    const rows = this.rasterise(easel, Math.round(plot * scale));
    easel.running = this.running;
    paintCores(easel, rows);
    paintOverlays(easel);
    paintTracks(easel);
    return true;
  }

  private shadesOf(scene: Scene, tokens: Tokens): Shades {
    const isFaded = scene.matches !== null || scene.path !== null;
    const of = [scene.keys, tokens.sunken, isFaded];
    if (!this.shades || of.some((value, i) => value !== this.shades?.of[i]))
      this.shades = { of, shades: makeShades(scene.keys.colours, parseColour(tokens.sunken), isFaded ? FADED : 1) };
    return this.shades.shades;
  }

  /** One row of pixels for each core, in a canvas that is stretched when it is drawn. */
  private rasterise(easel: Easel, width: number): { image: HTMLCanvasElement; hasSlices: boolean } {
    const { scene } = easel;
    const lanes = scene.data.lanes.length;
    if (this.row.width !== width || this.image?.height !== Math.max(1, lanes)) {
      this.row = new RowScratch(width);
      this.running = new Float32Array(width);
      this.stretched.width = width;
      this.stretched.height = Math.max(1, lanes);
      this.image = new ImageData(width, Math.max(1, lanes));
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.running.fill(0);
    const shades = this.shadesOf(scene, easel.tokens);
    const hasSlices = this.rows(scene, scene.camera.from, easel.pixel / easel.scale, this.row, shades, this.pixels, this.running);
    this.stretched.getContext("2d")?.putImageData(this.image, 0, 0);
    return { image: this.stretched, hasSlices };
  }

  private rows(scene: Scene, from: number, pixel: number, row: RowScratch, shades: Shades, into: Uint32Array, sum: Float32Array): boolean {
    const { ofPart, pyramids } = scene.keys;
    const keyOf = (part: number) => ofPart[part];
    let hasSlices = false;
    scene.data.lanes.forEach((lane, index) => {
      hasSlices = fillRow(lane, pyramids[index], keyOf, from, pixel, row) || hasSlices;
      shadeRow(row, shades, into, index * row.width, sum);
    });
    return hasSlices;
  }

  /** The whole run in small, drawn once. */
  overviewOfRun(easel: Easel, width: number): HTMLCanvasElement {
    const { scene, tokens } = easel;
    const { home, span } = scene.camera;
    const of = [scene.data, scene.keys, tokens.sunken, width, home];
    if (of.every((value, i) => value === this.overviewOf[i])) return this.overview;
    this.overviewOf = of;
    const lanes = Math.max(1, scene.data.lanes.length);
    this.overview.width = width;
    this.overview.height = lanes;
    const image = new ImageData(width, lanes);
    const shades = makeShades(scene.keys.colours, parseColour(tokens.sunken), 1);
    const pixel = Math.max(1, span - home) / width;
    const pixels = new Uint32Array(image.data.buffer);
    pixels.fill(shades.empty);
    this.rows(scene, home, pixel, new RowScratch(width), shades, pixels, new Float32Array(width));
    this.overview.getContext("2d")?.putImageData(image, 0, 0);
    return this.overview;
  }

  /** A name, shortened to fit; "" if nothing of it would be seen. Remembers what it measured. */
  fit(context: CanvasRenderingContext2D, name: string, room: number): string {
    let known = this.names.get(name);
    if (!known) {
      if (this.names.size > 20_000) this.names.clear();
      known = { text: name, width: context.measureText(name).width };
      this.names.set(name, known);
    }
    if (known.width <= room) return name;
    const letters = Math.floor((room / known.width) * name.length) - 1;
    return letters >= 2 ? `${name.slice(0, letters)}…` : "";
  }

  /** Fonts have changed: measure again. */
  forgetNames(): void {
    this.names.clear();
  }
}

export function needsOf(scene: Scene): TrackNeeds {
  return {
    hasSubmissions: !!scene.tracks?.submissions.length,
    scopes: scene.tracks?.scopes.length ?? 0,
    hasRunning: scene.data.lanes.length > 1,
    hasReady: !!scene.tracks?.ready,
    cores: scene.data.lanes.length,
  };
}
