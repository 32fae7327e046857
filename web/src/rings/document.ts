// SPDX-License-Identifier: Apache-2.0
// The document about the scopes of a run: src/scope/scope_page.c writes it into the page of `taskglass scope`, and the
// request `rings` answers with it.

export const LABELS = ["task window", "heap", "dep pool", "tensor map"];
export const HEAP = 1;
export const MAP = 3; // the rings share it
export const RESOURCES = 4;
export const RINGS = 4;

export interface Fatal {
  error: string;
  site: string;
  advice: string;
  resource: number;
  ring: number;
  used: number;
  capacity: number;
  wanted: number;
}

export interface RingsDocument {
  run: string;
  complete: boolean;
  measured: boolean;
  no_rings: boolean;
  failed: boolean;
  fatal: Fatal | null;
  dropped: number;
  samples: number;
  scopes: number;
  left_open: number;
  missing: number;
  capacity: number[][]; // [resource][ring]
  advice: [resource: number, present: string, verdict: string, option: string][];
  sites: string[];
  rows: number[][]; // see table.ts
  stream: string; // base64 of the samples
}
