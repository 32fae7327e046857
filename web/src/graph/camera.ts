// SPDX-License-Identifier: Apache-2.0
// Where the picture lies in its window: a point of the picture p is at p * scale + (x, y).
import type { Size } from "./layout.js";

export interface Camera {
  x: number;
  y: number;
  scale: number;
}

export const MOST_SCALE = 2.5;
const LEAST_SCALE = 0.02;
const MARGIN = 24;

/** All of the picture, at its own size at most. */
export function fit(picture: Size, window: Size): Camera {
  const width = Math.max(picture.width, 1);
  const height = Math.max(picture.height, 1);
  const room = { width: Math.max(window.width - 2 * MARGIN, 1), height: Math.max(window.height - 2 * MARGIN, 1) };
  const scale = Math.max(Math.min(1.15, room.width / width, room.height / height), LEAST_SCALE);
  return { x: (window.width - width * scale) / 2, y: (window.height - height * scale) / 2, scale };
}

/** The scale below which all of the picture is so small that the next coarser one serves better. */
export function leastScale(picture: Size, window: Size): number {
  return Math.max(fit(picture, window).scale * 0.6, LEAST_SCALE);
}

/** Larger or smaller, with the point (x, y) of the window in its place. */
export function zoom(camera: Camera, factor: number, x: number, y: number, least: number): Camera {
  const scale = Math.min(Math.max(camera.scale * factor, least), MOST_SCALE);
  const part = scale / camera.scale;
  return { x: x - (x - camera.x) * part, y: y - (y - camera.y) * part, scale };
}

/** Moves, but never so far that nothing is seen. */
export function pan(camera: Camera, dx: number, dy: number, picture: Size, window: Size): Camera {
  const keep = 60;
  const within = (at: number, size: number, room: number) => Math.min(Math.max(at, keep - size), room - keep);
  return {
    x: within(camera.x + dx, picture.width * camera.scale, window.width),
    y: within(camera.y + dy, picture.height * camera.scale, window.height),
    scale: camera.scale,
  };
}

/** Brings a point of the picture into the window, with some room around it. */
export function reveal(camera: Camera, x: number, y: number, window: Size): Camera {
  const room = { x: Math.min(120, window.width / 3), y: Math.min(60, window.height / 3) };
  const at = { x: x * camera.scale + camera.x, y: y * camera.scale + camera.y };
  const move = (place: number, least: number, most: number) => (place < least ? least - place : place > most ? most - place : 0);
  return {
    x: camera.x + move(at.x, room.x, window.width - room.x),
    y: camera.y + move(at.y, room.y, window.height - room.y),
    scale: camera.scale,
  };
}

/** The point of the picture in the middle of the window. */
export function centred(camera: Camera, x: number, y: number, window: Size): Camera {
  return { x: window.width / 2 - x * camera.scale, y: window.height / 2 - y * camera.scale, scale: camera.scale };
}
