// SPDX-License-Identifier: Apache-2.0
// Pieces of a picture that come over the network: asked for when they are seen, kept while there is room, forgotten in
// the order in which they were last seen. Of what is no longer seen nothing is asked.
import { AskError } from "../api.js";
import type { TilePlace } from "./camera.js";

/** Requests under way for all pictures of the page together; the server and the browser have few lines. */
const AT_A_TIME = 4;
const AGAIN_MS = 250;

let busy = 0;
const waiting = new Set<{ next(): void }>();

function freed(): void {
  busy--;
  for (const blocks of [...waiting]) {
    if (busy >= AT_A_TIME) return;
    waiting.delete(blocks);
    blocks.next();
  }
}

export class Blocks<T> {
  private readonly kept = new Map<string, { block: T; bytes: number }>();
  private readonly asked = new Set<string>();
  private wanted: TilePlace[] = [];
  private bytes = 0;
  private readonly stop = new AbortController();
  /** Why the last block did not come; "": it came. */
  error = "";

  constructor(
    private readonly load: (place: TilePlace, signal: AbortSignal) => Promise<T>,
    private readonly bytesOf: (block: T) => number,
    private readonly most: number, // bytes
    private readonly changed: () => void,
  ) {}

  private static key(place: TilePlace): string {
    return `${place.level} ${place.row} ${place.col}`;
  }

  /** The block if it is there; does not ask for it. */
  get(place: TilePlace): T | undefined {
    const key = Blocks.key(place);
    const found = this.kept.get(key);
    if (!found) return undefined;
    this.kept.delete(key); // to the end: it was seen last
    this.kept.set(key, found);
    return found.block;
  }

  /** What is seen now, the most important first: asks for what is missing, and for nothing else. */
  want(places: TilePlace[]): void {
    this.wanted = places.filter((place) => {
      const key = Blocks.key(place);
      return !this.kept.has(key) && !this.asked.has(key);
    });
    this.next();
  }

  get isWaiting(): boolean {
    return this.wanted.length > 0 || this.asked.size > 0;
  }

  next(): void {
    while (this.wanted.length > 0 && !this.stop.signal.aborted) {
      if (busy >= AT_A_TIME) {
        waiting.add(this);
        return;
      }
      void this.fetch(this.wanted.shift() as TilePlace);
    }
  }

  private async fetch(place: TilePlace): Promise<void> {
    const key = Blocks.key(place);
    this.asked.add(key);
    busy++;
    try {
      this.keep(key, await this.load(place, this.stop.signal));
      this.error = "";
      this.asked.delete(key);
    } catch (cause) {
      this.failed(key, cause);
    } finally {
      freed();
    }
    if (!this.stop.signal.aborted) this.changed();
  }

  /** A server with too much to do is asked again; what it refuses is not. */
  private failed(key: string, cause: unknown): void {
    if (this.stop.signal.aborted) return;
    if (cause instanceof AskError && cause.http === 503) {
      setTimeout(() => {
        this.asked.delete(key);
        this.changed();
      }, AGAIN_MS);
      return;
    }
    this.error = cause instanceof Error ? cause.message : String(cause);
  }

  private keep(key: string, block: T): void {
    const bytes = this.bytesOf(block);
    this.kept.set(key, { block, bytes });
    this.bytes += bytes;
    for (const [oldest, entry] of this.kept) {
      if (this.bytes <= this.most || oldest === key) return;
      this.kept.delete(oldest);
      this.bytes -= entry.bytes;
    }
  }

  close(): void {
    this.stop.abort();
    waiting.delete(this);
  }
}
