// SPDX-License-Identifier: Apache-2.0
// A run that goes on: the server's events about it, as state of the page. docs/live-protocol.md has the answers.
import { useEffect, useRef, useState } from "preact/hooks";
import { type RunEntry, isStatic } from "./api.js";
import { forgetModel, loadMs } from "./model.js";

interface LiveRing {
  tasks: number;
  task_window: number;
  task_window_used: number;
  heap: number;
  heap_used: number;
  dep_pool: number;
  dep_pool_used: number;
}

/** What the run itself answers; members may be missing, since runs of other versions answer too. */
export interface LiveAnswer {
  phase?: string;
  workload?: string | null;
  case?: string | null;
  platform?: string | null;
  runtime?: string | null;
  elapsed?: number;
  tasks?: { submitted: number; finished: number; edges: number; total: number | null };
  run_seconds?: number;
  idle_seconds?: number;
  hang_seconds?: number;
  rings?: LiveRing[];
  rings_old?: boolean;
  tensormap?: number;
  orchestrator?: { state: string; scope: string | null; scopes: number; waits_for: string | null; waits_ring?: number } | null;
  cores?: { core: number; kind: string; task: string | null; kernel: string | null }[];
  waiting?: number;
  recorder?: {
    level: string;
    policy: string;
    records: number;
    attempted: number;
    bytes_recorded: number;
    bytes_written: number;
    lost: { full: number; gave_up: number };
  } | null;
}

export interface Live {
  answer: LiveAnswer | null; // the last one
  /** Counts up when the files have grown, at most once in GROWTH_MS: views ask again. */
  generation: number;
  ended: RunEntry | null; // how it ended
  error: string; // why there is nothing new
  /** Tasks finished in a second, of late; null: not known yet. */
  rate: number | null;
}

const GROWTH_MS = 1500;
const GROWTH_LOADS = 4; // a large run is loaded at most for a quarter of the time
const RATE_SECONDS = 3;
const NOTHING: Live = { answer: null, generation: 0, ended: null, error: "", rate: null };

/** An event's data, if it is the JSON of an object. */
function dataOf<T>(event: Event): T | null {
  try {
    const data: unknown = JSON.parse((event as MessageEvent<string>).data);
    return data !== null && typeof data === "object" ? (data as T) : null;
  } catch {
    return null;
  }
}

/** Tasks in a second, from counts that were taken within the last seconds. */
export class RateMeter {
  private samples: { at: number; count: number }[] = [];

  add(at: number, count: number): number | null {
    this.samples.push({ at, count });
    while (this.samples.length > 2 && at - this.samples[0].at > RATE_SECONDS) this.samples.shift();
    const first = this.samples[0];
    return at - first.at >= 0.5 ? (count - first.count) / (at - first.at) : null;
  }
}

/** Follows run `key` while `isLive`. The stream of events ends with the run or when the view goes away. */
export function useLive(key: string | undefined, isLive: boolean): Live {
  const [live, setLive] = useState<Live>(NOTHING);
  const last = useRef({ key, grownAt: 0, timer: 0 });
  if (last.current.key !== key) last.current = { key, grownAt: 0, timer: 0 };

  useEffect(() => setLive((old) => ({ ...NOTHING, generation: old.generation })), [key]);
  useEffect(() => {
    if (isStatic || key === undefined || !isLive) return undefined;
    const stream = new EventSource(`events?run=${encodeURIComponent(key)}`);
    const meter = new RateMeter();
    const grow = () => {
      last.current.timer = 0;
      last.current.grownAt = performance.now();
      forgetModel(key);
      setLive((old) => ({ ...old, generation: old.generation + 1 }));
    };
    stream.addEventListener("live", (event) => {
      const answer = dataOf<LiveAnswer>(event);
      if (!answer) return;
      const rate = meter.add(answer.elapsed ?? performance.now() / 1000, answer.tasks?.finished ?? 0);
      setLive((old) => ({ ...old, answer, rate, error: "" }));
    });
    stream.addEventListener("grown", () => {
      if (last.current.timer) return;
      const pause = Math.max(GROWTH_MS, GROWTH_LOADS * loadMs());
      const wait = Math.max(0, last.current.grownAt + pause - performance.now());
      last.current.timer = window.setTimeout(grow, wait);
    });
    stream.addEventListener("ended", (event) => {
      stream.close();
      clearTimeout(last.current.timer);
      const ended = dataOf<RunEntry>(event);
      grow();
      setLive((old) => ({ ...old, ended, error: "" }));
    });
    stream.onerror = () => setLive((old) => ({ ...old, error: "The server does not answer; the numbers are old." }));
    return () => {
      stream.close();
      clearTimeout(last.current.timer);
      last.current.timer = 0;
    };
  }, [key, isLive]);
  return live;
}
