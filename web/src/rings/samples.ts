// SPDX-License-Identifier: Apache-2.0
// The samples of a run, decoded. src/scope/scope_stream.h describes the stream.
import { MAP, RESOURCES, RINGS } from "./document.js";

export interface Samples {
  count: number;
  site: Uint32Array;
  depth: Uint32Array;
  ring: Uint8Array;
  end: Uint8Array;
  used: Float64Array[]; // by resource
  peak: Float64Array[];
}

const DEPTHS = 128; // at which the stream predicts a scope's site

export function bytesOf(base64: string): Uint8Array {
  const raw = atob(base64);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/** Reads numbers of up to 2^53, so they are multiplied: shifts would cut them to 32 bits. */
class Varints {
  at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  byte(): number {
    if (this.at >= this.bytes.length) throw new Error("the samples of this page are damaged");
    return this.bytes[this.at++];
  }

  unsigned(): number {
    let value = 0;
    let scale = 1;
    let byte: number;
    do {
      byte = this.byte();
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte & 128);
    return value;
  }

  signed(): number {
    let byte = this.byte();
    const negative = byte & 1;
    let value = (byte & 126) >> 1;
    for (let scale = 64; byte & 128; scale *= 128) {
      byte = this.byte();
      value += (byte & 127) * scale;
    }
    return negative ? -value : value;
  }
}

function emptySamples(n: number): Samples {
  const numbers = () => Array.from({ length: RESOURCES }, () => new Float64Array(n));
  return {
    count: n,
    site: new Uint32Array(n),
    depth: new Uint32Array(n),
    ring: new Uint8Array(n),
    end: new Uint8Array(n),
    used: numbers(),
    peak: numbers(),
  };
}

export function decodeSamples(bytes: Uint8Array, n: number): Samples {
  // A sample takes a byte or more, so a number that lies cannot take more memory than the stream does.
  if (n > bytes.length) throw new Error("the samples of this page are damaged");
  const out = emptySamples(n);
  const from = new Varints(bytes);
  const last = Array.from({ length: RINGS }, () => new Float64Array(RESOURCES));
  const siteAt = new Uint32Array(DEPTHS);
  let open = 0;
  for (let i = 0; i < n; i++) {
    const head = from.byte();
    const end = head & 1;
    const ring = (head >> 1) & 3;
    let depth = end && open > 0 ? open - 1 : open;
    let site = siteAt[Math.min(depth, DEPTHS - 1)];
    if (head & 8) {
      site = from.unsigned();
      depth = from.unsigned();
    }
    siteAt[Math.min(depth, DEPTHS - 1)] = site;
    open = end ? depth : depth + 1;
    out.site[i] = site;
    out.depth[i] = depth;
    out.ring[i] = ring;
    out.end[i] = end;
    for (let r = 0; r < RESOURCES; r++) {
      const before = last[r === MAP ? 0 : ring];
      if ((head >> (4 + r)) & 1) before[r] += from.signed();
      out.used[r][i] = out.peak[r][i] = before[r];
    }
    if (end) {
      const above = from.byte();
      for (let r = 0; r < RESOURCES; r++) if ((above >> r) & 1) out.peak[r][i] += from.unsigned();
    }
  }
  if (from.at !== bytes.length) throw new Error("the samples of this page are damaged");
  return out;
}
