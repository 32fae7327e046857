// SPDX-License-Identifier: Apache-2.0
// Where the tracks of the timeline lie: some that stay at the top, and the cores, which scroll below them.

export interface TrackNeeds {
  hasSubmissions: boolean;
  scopes: number;
  hasRunning: boolean;
  hasReady: boolean;
  cores: number;
}

export interface Track {
  kind: "overview" | "axis" | "submissions" | "scope" | "running" | "ready";
  index: number; // of the scope
  top: number;
  height: number;
}

export interface Layout {
  width: number;
  height: number;
  gutter: number; // names at the left
  tracks: Track[];
  coresTop: number;
  coreHeight: number; // with the gap
  coreGap: number;
  mostScroll: number;
}

const HEIGHTS = { overview: 34, axis: 22, submissions: 22, scope: 16, running: 34, ready: 34 };
const LEAST_CORE = 12;
const MOST_CORE = 40;
const LEAST_CORES = 90; // pixels for the cores, at least: tracks above them go first

export function layoutTracks(width: number, height: number, needs: TrackNeeds): Layout {
  const tracks: Track[] = [];
  let top = 0;
  const add = (kind: Track["kind"], index = 0) => {
    const size = HEIGHTS[kind];
    if (kind !== "axis" && top + size > height - LEAST_CORES) return;
    tracks.push({ kind, index, top, height: size });
    top += size;
  };
  add("overview");
  add("axis");
  if (needs.hasSubmissions) add("submissions");
  for (let scope = 0; scope < needs.scopes; scope++) add("scope", scope);
  if (needs.hasRunning) add("running");
  if (needs.hasReady) add("ready");
  const room = Math.max(0, height - top - 6);
  const coreHeight = Math.max(LEAST_CORE, Math.min(MOST_CORE, Math.floor(room / Math.max(1, needs.cores))));
  return {
    width,
    height,
    gutter: width < 560 ? 64 : 132,
    tracks,
    coresTop: top + 4,
    coreHeight,
    coreGap: coreHeight >= 18 ? 3 : 2,
    mostScroll: Math.max(0, needs.cores * coreHeight - room),
  };
}

/** The core at a height of the canvas; -1: there is none. */
export function coreAt(layout: Layout, y: number, scroll: number, cores: number): number {
  if (y < layout.coresTop) return -1;
  const core = Math.floor((y - layout.coresTop + scroll) / layout.coreHeight);
  return core < cores ? core : -1;
}

export function trackAt(layout: Layout, y: number): Track | null {
  return layout.tracks.find((track) => y >= track.top && y < track.top + track.height) ?? null;
}
