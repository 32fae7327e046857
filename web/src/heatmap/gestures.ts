// SPDX-License-Identifier: Apache-2.0
// Mouse, trackpad, touch and keys of a heatmap. Every coordinate here is a CSS pixel of the plane's part of the canvas.
import { isForPicture } from "../hooks.js";
import { type Camera, NUMBER_SCALE, type Size } from "./camera.js";
import { RULER } from "./draw.js";
import type { Place } from "./picture.js";
import { type Plane, elementAt } from "./plane.js";

export interface Ground {
  canvas: HTMLCanvasElement;
  camera: Camera;
  plane: Plane;
  screen: () => Size;
  selected: () => Place | null;
  select: (place: Place | null) => void;
}

const CLICK = 4; // pixels that a click may move
const KEY_ZOOM = 1.5;

/** A wheel of a mouse turns in large even steps of one direction; a trackpad sends small ones of both. */
export function isMouseWheel(event: { deltaMode: number; deltaX: number; deltaY: number }): boolean {
  return event.deltaMode !== 0 || (event.deltaX === 0 && Math.abs(event.deltaY) >= 60 && Number.isInteger(event.deltaY));
}

function pointOf(ground: Ground, event: MouseEvent): { x: number; y: number } {
  const box = ground.canvas.getBoundingClientRect();
  return { x: event.clientX - box.left - RULER.left, y: event.clientY - box.top - RULER.top };
}

export function placeUnder({ camera, screen, plane }: Ground, { x, y }: { x: number; y: number }): Place | null {
  const corner = camera.corner(screen());
  const row = plane.height === 1 ? 0 : Math.floor(corner.row + y / camera.scale);
  const place = { row, col: Math.floor(corner.col + x / camera.scale) };
  return elementAt(plane, place.row, place.col) < 0 ? null : place;
}

function onWheel(ground: Ground, event: WheelEvent): void {
  event.preventDefault();
  const { x, y } = pointOf(ground, event);
  const { camera, plane } = ground;
  if (event.ctrlKey || event.metaKey) camera.zoom(Math.exp(-event.deltaY / 100), x, y, plane, ground.screen());
  else if (isMouseWheel(event)) camera.zoom(event.deltaY < 0 ? 1.25 : 0.8, x, y, plane, ground.screen());
  else camera.pan(-event.deltaX, -event.deltaY, plane, ground.screen());
}

/** One pointer drags, two pinch; a pointer that hardly moved has clicked. */
function pointers(ground: Ground) {
  const down = new Map<number, { x: number; y: number }>();
  let travelled = 0;
  const pair = () => {
    const [a, b] = [...down.values()];
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.hypot(a.x - b.x, a.y - b.y) };
  };
  return {
    down(event: PointerEvent) {
      if (event.button !== 0) return;
      if (down.size === 0) travelled = 0;
      down.set(event.pointerId, pointOf(ground, event));
      ground.canvas.setPointerCapture(event.pointerId);
    },
    move(event: PointerEvent) {
      const now = pointOf(ground, event);
      const old = down.get(event.pointerId);
      if (!old) {
        const place = placeUnder(ground, now);
        if (place) ground.camera.point(place.row, place.col);
        else ground.camera.pointAway();
        return;
      }
      const before = down.size === 2 ? pair() : null;
      down.set(event.pointerId, now);
      travelled += Math.hypot(now.x - old.x, now.y - old.y);
      if (before) {
        const after = pair();
        ground.camera.pan(after.x - before.x, after.y - before.y, ground.plane, ground.screen());
        ground.camera.zoom(after.apart / (before.apart || 1), after.x, after.y, ground.plane, ground.screen());
      } else if (travelled > CLICK) {
        ground.camera.pan(now.x - old.x, now.y - old.y, ground.plane, ground.screen());
      }
    },
    up(event: PointerEvent) {
      const was = down.get(event.pointerId);
      down.delete(event.pointerId);
      if (was && down.size === 0 && travelled <= CLICK) ground.select(placeUnder(ground, was));
    },
    cancel(event: PointerEvent) {
      down.delete(event.pointerId);
    },
  };
}

/** The place that an arrow, Home, End or a page key leads to; null: another key. */
export function step(key: string, from: Place, plane: Size, page: Size): Place | null {
  const steps: Record<string, [number, number]> = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    PageUp: [-page.height, 0],
    PageDown: [page.height, 0],
    Home: [0, -plane.width],
    End: [0, plane.width],
  };
  const found = steps[key];
  if (!found) return null;
  const within = (value: number, size: number) => Math.min(Math.max(value, 0), size - 1);
  return { row: within(from.row + found[0], plane.height), col: within(from.col + found[1], plane.width) };
}

function onKey(ground: Ground, event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { camera, plane } = ground;
  const screen = ground.screen();
  const selected = ground.selected();
  const page = { height: Math.max(Math.floor(screen.height / camera.scale), 1), width: Math.max(Math.floor(screen.width / camera.scale), 1) };
  const moved = step(event.key, selected ?? { row: Math.floor(camera.row), col: Math.floor(camera.col) }, plane, page);
  if (moved && selected) {
    ground.select(moved);
    camera.reveal(moved.row, moved.col, plane, screen);
  } else if (moved) {
    const unit = step(event.key, { row: 1, col: 1 }, { height: 3, width: 3 }, { height: 1, width: 1 }) as Place;
    camera.pan(((1 - unit.col) * screen.width) / 8, ((1 - unit.row) * screen.height) / 8, plane, screen);
  } else if (event.key === "+" || event.key === "=") camera.zoom(KEY_ZOOM, screen.width / 2, screen.height / 2, plane, screen);
  else if (event.key === "-") camera.zoom(1 / KEY_ZOOM, screen.width / 2, screen.height / 2, plane, screen);
  else if (event.key === "0") camera.fit(plane, screen);
  else if (event.key === "Enter") {
    const place = selected ?? { row: Math.min(Math.floor(camera.row), plane.height - 1), col: Math.min(Math.floor(camera.col), plane.width - 1) };
    ground.select(place);
    camera.centre(place.row, place.col, NUMBER_SCALE * 1.5);
  } else if (event.key === "Escape" && selected) ground.select(null);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Listens until the function that it returns is called. */
export function listen(ground: Ground): () => void {
  const { canvas } = ground;
  const on = pointers(ground);
  const stop = new AbortController();
  const options = { signal: stop.signal };
  canvas.addEventListener("wheel", (event) => onWheel(ground, event), { ...options, passive: false });
  canvas.addEventListener("pointerdown", on.down, options);
  canvas.addEventListener("pointermove", on.move, options);
  canvas.addEventListener("pointerup", on.up, options);
  canvas.addEventListener("pointercancel", on.cancel, options);
  canvas.addEventListener("pointerleave", () => ground.camera.pointAway(), options);
  canvas.addEventListener("keydown", (event) => onKey(ground, event), options);
  window.addEventListener("keydown", (event) => isForPicture(event, canvas) && onKey(ground, event), options);
  canvas.addEventListener(
    "dblclick",
    (event) => {
      const { x, y } = pointOf(ground, event);
      ground.camera.zoom(4, x, y, ground.plane, ground.screen());
    },
    options,
  );
  return () => stop.abort();
}
