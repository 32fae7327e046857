// SPDX-License-Identifier: Apache-2.0
// The timeline on its canvas: draws when something has changed, at most once for each frame of the screen, and moves the camera.
import { themeTokens } from "../palette.js";
import { coreAt, trackAt } from "./layout.js";
import { overviewTime } from "./paint-tracks.js";
import { Painter } from "./painter.js";
import type { Measured, Scene } from "./scene.js";

/** What the board tells the view. */
export interface BoardEvents {
  onSelect(task: number): void; // -1: nothing
  onHover(part: number, x: number, y: number): void; // -1: nothing
  onMove(from: number, to: number): void; // the camera has come to rest
  onMeasure(measured: Measured | null): void;
  onScope(scope: number): void; // a click on a scope
}

/** What is at a place of the canvas. */
export type Place =
  | { kind: "overview"; time: number }
  | { kind: "scope"; scope: number }
  | { kind: "core"; core: number; part: number; time: number }
  | { kind: "other"; time: number };

const REST_MS = 250;
let isMarked = false; // the first picture, for those who measure the page

export class Board {
  readonly painter: Painter;
  private frame = 0;
  private lastTime = 0;
  private restTimer = 0;

  constructor(
    readonly canvas: HTMLCanvasElement,
    public scene: Scene,
    readonly events: BoardEvents,
  ) {
    this.painter = new Painter(canvas);
  }

  /** Something has changed: draw with the next frame. */
  redraw(): void {
    if (!this.frame) this.frame = requestAnimationFrame((time) => this.draw(time));
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.restTimer);
    this.frame = -1;
  }

  private draw(time: number): void {
    this.frame = 0;
    const passed = Math.min(50, this.lastTime ? time - this.lastTime : 16);
    const moved = this.scene.camera.step(passed);
    this.lastTime = this.scene.camera.isMoving ? time : 0;
    this.painter.paint(this.scene);
    if (!isMarked) performance.mark("first-picture");
    isMarked = true;
    if (this.scene.camera.isMoving) this.redraw();
    else if (moved) this.rest();
  }

  /** Tells the view where the camera is, some time after the last move: an address changes seldom. */
  rest(): void {
    clearTimeout(this.restTimer);
    this.restTimer = window.setTimeout(() => {
      const { from, to } = this.scene.camera.target;
      this.events.onMove(from, to);
    }, REST_MS);
  }

  /** The camera has a new target. */
  moved(): void {
    this.redraw();
    this.rest();
  }

  private get plotWidth(): number {
    return Math.max(1, this.canvas.clientWidth - (this.painter.layout?.gutter ?? 0));
  }

  timeAt(x: number): number {
    const { from, to } = this.scene.camera;
    return from + ((x - (this.painter.layout?.gutter ?? 0)) / this.plotWidth) * (to - from);
  }

  get nsPerPixel(): number {
    return (this.scene.camera.to - this.scene.camera.from) / this.plotWidth;
  }

  placeAt(x: number, y: number): Place {
    const layout = this.painter.layout;
    const time = this.timeAt(x);
    if (!layout) return { kind: "other", time };
    const track = trackAt(layout, y);
    if (track?.kind === "overview" && x >= layout.gutter) return { kind: "overview", time: overviewTime({ layout, scene: this.scene }, x) };
    if (track?.kind === "scope" && x >= layout.gutter) return { kind: "scope", scope: this.scopeAt(track.index, time) };
    const core = coreAt(layout, y, this.scene.scroll, this.scene.data.lanes.length);
    if (core < 0 || x < layout.gutter) return { kind: "other", time };
    const slice = this.scene.data.lanes[core].at(time, 3 * this.nsPerPixel);
    return { kind: "core", core, time, part: slice < 0 ? -1 : this.scene.data.lanes[core].item[slice] };
  }

  private scopeAt(index: number, time: number): number {
    const row = this.scene.tracks?.scopes[index];
    return row && row.lane.at(time, 3 * this.nsPerPixel) >= 0 ? row.scope : -1;
  }

  scrollBy(pixels: number): boolean {
    const before = this.scene.scroll;
    const most = this.painter.layout?.mostScroll ?? 0;
    this.scene.scroll = Math.max(0, Math.min(most, before + pixels));
    if (this.scene.scroll !== before) this.redraw();
    return most > 0;
  }

  /** Makes a task visible, with some room around it, without more motion than it needs. */
  reveal(task: number, zoomIn = false): void {
    const { data, camera } = this.scene;
    const begin = data.model.beginOf(task);
    const end = data.model.endOf(task);
    if (Number.isNaN(begin)) return;
    const stop = Number.isNaN(end) ? data.model.span : end;
    const { from, to } = camera.target;
    const width = to - from;
    if (zoomIn) camera.show(begin - 2 * (stop - begin) - 1, stop + 2 * (stop - begin) + 1);
    else if (begin < from || stop > to) {
      const wide = Math.max(width, (stop - begin) * 1.5);
      camera.show((begin + stop - wide) / 2, (begin + stop + wide) / 2);
    }
    this.revealCore(data.model.partCore[data.model.firstPart[task]]);
    this.moved();
  }

  private revealCore(core: number): void {
    const layout = this.painter.layout;
    if (!layout) return;
    const room = layout.height - layout.coresTop;
    const top = core * layout.coreHeight;
    if (top < this.scene.scroll) this.scene.scroll = top;
    else if (top + layout.coreHeight > this.scene.scroll + room) this.scene.scroll = top + layout.coreHeight - room;
  }

  /** The neighbour of the selected task on its core: -1 before, 1 behind; the first in sight if nothing is selected. */
  neighbour(direction: -1 | 1): number {
    const { data, selected, camera } = this.scene;
    const { model } = data;
    if (selected >= 0 && selected < model.timed && model.firstPart[selected] < model.firstPart[selected + 1]) {
      const part = model.firstPart[selected];
      const lane = data.lanes[model.partCore[part]];
      let at = lane.firstFrom(data.begin[part]);
      while (at < lane.count && lane.item[at] !== part) at++;
      const next = at + direction;
      return next >= 0 && next < lane.count ? data.taskOfPart[lane.item[next]] : selected;
    }
    let best = -1;
    let time = Infinity;
    for (const lane of data.lanes) {
      const at = lane.firstFrom(camera.target.from);
      if (at < lane.count && lane.begin[at] < time) {
        time = lane.begin[at];
        best = data.taskOfPart[lane.item[at]];
      }
    }
    return best;
  }

  /** The same place in time on the core above or below the selected task. */
  neighbourCore(direction: -1 | 1): number {
    const { data, selected } = this.scene;
    const { model } = data;
    if (selected < 0 || selected >= model.timed || model.firstPart[selected] >= model.firstPart[selected + 1]) return this.neighbour(1);
    const part = model.firstPart[selected];
    for (let core = model.partCore[part] + direction; core >= 0 && core < data.lanes.length; core += direction) {
      const lane = data.lanes[core];
      if (!lane.count) continue;
      const time = data.begin[part];
      let at = Math.min(lane.count - 1, lane.firstAfter(time));
      if (at > 0 && lane.begin[at] - time > time - lane.end[at - 1]) at--; // the one before is nearer
      return data.taskOfPart[lane.item[at]];
    }
    return selected;
  }

  themeChanged(): void {
    themeTokens();
    this.painter.forgetNames();
    this.redraw();
  }
}
