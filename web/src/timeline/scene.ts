// SPDX-License-Identifier: Apache-2.0
// All that one picture of the timeline depends on.
import type { Arrows } from "./arrows.js";
import { Camera } from "./camera.js";
import type { EdgeTracks, Keys, TimelineData } from "./data.js";
import type { CriticalPath } from "./path.js";
import type { Matches } from "./search.js";

export interface Measured {
  from: number;
  to: number;
}

export interface Scene {
  data: TimelineData;
  keys: Keys;
  tracks: EdgeTracks | null;
  camera: Camera;
  scroll: number; // of the cores, in pixels
  selected: number; // task; -1: none
  hovered: number; // part; -1: none
  pointer: { x: number; y: number } | null;
  arrows: Arrows | null;
  waits: boolean; // show for each task how long it was ready
  matches: Matches | null;
  path: CriticalPath | null;
  measured: Measured | null;
}

export function makeScene(data: TimelineData, keys: Keys, glides: boolean): Scene {
  return {
    data,
    keys,
    tracks: null,
    camera: new Camera(data.model.span, glides),
    scroll: 0,
    selected: -1,
    hovered: -1,
    pointer: null,
    arrows: null,
    waits: false,
    matches: null,
    path: null,
    measured: null,
  };
}
