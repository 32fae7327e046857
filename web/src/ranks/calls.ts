// SPDX-License-Identifier: Apache-2.0
// The communication of all ranks of a run, from the request `calls`: times on rank 0's clock, which calls belong together,
// and rows for calls that were under way at the same time. The answer comes from files of strangers, so every number of it is
// checked before it is used as an index.
import { type Columns, AskError } from "../api.js";

export interface CallsHeader {
  start_ns: string;
  calls: number;
  given: number;
  generation: number;
  kinds: string[];
  operations: string[];
  dtypes: string[];
  states: string[];
  sites: string[];
  ranks: RankClock[];
}

/** How a rank's clock goes beside rank 0's; error_ns null: not known. */
export interface RankClock {
  offset_ns: string;
  drift: number;
  at_ns: string;
  error_ns: number | null;
  calls: number;
}

export const DONE = 0;
export const WAITS = 1;
const SEND = 0;
const RECV = 1;
const NO_PEER = 0xffff;
const NO_TAG = 0xffffffff;
const NO_OPERATION = 0xff;
/** More rows of calls that were under way at the same time are drawn over each other. */
export const MOST_ROWS = 6;

export class Calls {
  readonly count: number;
  readonly start: bigint; // of the time axis, on rank 0's clock
  readonly ranks: RankClock[];
  readonly rank: Uint16Array;
  readonly task: BigUint64Array;
  readonly kind: Uint8Array;
  readonly state: Uint8Array;
  readonly number: Float64Array;
  readonly elements: Float64Array;
  readonly bytes: Float64Array;
  readonly posted: Float64Array; // NaN: not known
  readonly matched: Float64Array;
  readonly done: Float64Array;
  /** The call on the other side of a send or receive; of a call of all ranks, that of the rank that came last. -1: there is
   * none, or it is this one. */
  readonly other: Int32Array;
  /** The row of its rank that it is drawn in. */
  readonly row: Uint8Array;
  readonly rows: Uint8Array; // by rank
  readonly last: number; // the last time that is known

  constructor(readonly answer: Columns<CallsHeader>) {
    const { header, column } = answer;
    this.count = column.rank?.length ?? 0;
    for (const name of ["rank", "peer", "task", "kind", "operation", "dtype", "state", "tag", "site", "number", "elements", "bytes", "posted", "matched", "done"])
      if (column[name]?.length !== this.count) throw new AskError("BAD_ARGUMENT", `the server's answer has no whole column ${name}`, 0);
    this.start = BigInt(header.start_ns);
    this.ranks = header.ranks;
    this.rank = column.rank as Uint16Array;
    this.task = column.task as BigUint64Array;
    this.kind = column.kind as Uint8Array;
    this.state = column.state as Uint8Array;
    this.number = column.number as Float64Array;
    this.elements = column.elements as Float64Array;
    this.bytes = column.bytes as Float64Array;
    this.posted = column.posted as Float64Array;
    this.matched = column.matched as Float64Array;
    this.done = column.done as Float64Array;
    if (this.rank.some((rank) => rank >= this.ranks.length)) throw new AskError("BAD_ARGUMENT", "the server's answer names a rank that it does not have", 0);
    let last = 0;
    for (const times of [this.posted, this.matched, this.done]) for (const time of times) if (time > last) last = time;
    this.last = last;
    this.other = this.match();
    this.row = new Uint8Array(this.count);
    this.rows = new Uint8Array(this.ranks.length);
    this.giveRows();
  }

  peerOf(call: number): number | null {
    const peer = (this.answer.column.peer as Uint16Array)[call];
    return peer === NO_PEER ? null : peer;
  }

  tagOf(call: number): number | null {
    const tag = (this.answer.column.tag as Uint32Array)[call];
    return tag === NO_TAG ? null : tag;
  }

  operationOf(call: number): string {
    const operation = (this.answer.column.operation as Uint8Array)[call];
    return operation === NO_OPERATION ? "" : (this.answer.header.operations[operation] ?? "");
  }

  dtypeOf(call: number): string {
    return this.answer.header.dtypes[(this.answer.column.dtype as Uint8Array)[call]] ?? "";
  }

  siteOf(call: number): string {
    return this.answer.header.sites[(this.answer.column.site as Uint32Array)[call]] ?? "";
  }

  kindOf(call: number): string {
    return this.answer.header.kinds[this.kind[call]] ?? "call";
  }

  stateOf(call: number): string {
    return this.answer.header.states[this.state[call]] ?? "unknown";
  }

  isMessage(call: number): boolean {
    return this.kind[call] === SEND || this.kind[call] === RECV;
  }

  /** When it ended; one that is not done goes on to the last time that is known. */
  endOf(call: number): number {
    const end = this.done[call];
    return Number.isNaN(end) ? Math.max(this.last, this.posted[call]) : end;
  }

  /** What it waited for the other side; NaN: not known. */
  waitOf(call: number): number {
    const until = Number.isNaN(this.matched[call]) ? this.endOf(call) : this.matched[call];
    return Math.max(0, until - this.posted[call]);
  }

  /** The call of a rank that is this task; -1: there is none. */
  find(rank: number, task: bigint): number {
    for (let i = 0; i < this.count; i++) if (this.rank[i] === rank && this.task[i] === task) return i;
    return -1;
  }

  /** "tg_recv from rank 1, tag 3" */
  describe(call: number): string {
    const peer = this.peerOf(call);
    const tag = this.tagOf(call);
    const words = [this.kindOf(call)];
    if (this.operationOf(call)) words[0] += `(${this.operationOf(call)})`;
    if (peer !== null) words[0] += this.kind[call] === SEND ? ` to rank ${peer}` : ` from rank ${peer}`;
    if (tag !== null) words.push(`tag ${tag}`);
    return words.join(", ");
  }

  private keyOf(call: number): string {
    if (!this.isMessage(call)) return `${this.number[call]}`;
    const peer = this.peerOf(call) ?? -1;
    const [from, to] = this.kind[call] === SEND ? [this.rank[call], peer] : [peer, this.rank[call]];
    return `${from}>${to}:${this.tagOf(call)}:${this.number[call]}`;
  }

  private match(): Int32Array {
    const other = new Int32Array(this.count).fill(-1);
    const groups = new Map<string, number[]>();
    for (let i = 0; i < this.count; i++) {
      const key = this.keyOf(i);
      const group = groups.get(key);
      if (group) group.push(i);
      else groups.set(key, [i]);
    }
    for (const group of groups.values()) {
      if (this.isMessage(group[0])) {
        const send = group.find((call) => this.kind[call] === SEND);
        const receive = group.find((call) => this.kind[call] === RECV);
        if (send === undefined || receive === undefined) continue;
        other[send] = receive;
        other[receive] = send;
      } else {
        let last = group[0];
        for (const call of group) if (this.posted[call] > this.posted[last]) last = call;
        for (const call of group) if (call !== last) other[call] = last;
      }
    }
    return other;
  }

  private giveRows(): void {
    const order = Uint32Array.from({ length: this.count }, (_, i) => i).sort((a, b) => this.posted[a] - this.posted[b] || a - b);
    const free = this.ranks.map(() => new Float64Array(MOST_ROWS).fill(-Infinity));
    for (const call of order) {
      const ends = free[this.rank[call]];
      let row = ends.findIndex((end) => end <= this.posted[call]);
      if (row < 0) row = MOST_ROWS - 1;
      ends[row] = Math.max(ends[row], this.endOf(call));
      this.row[call] = row;
      this.rows[this.rank[call]] = Math.max(this.rows[this.rank[call]], row + 1);
    }
  }
}

/** Calls for the table: those that are not done first, then by time. `rank` null: of all ranks. */
export function orderedCalls(calls: Calls, rank: number | null): number[] {
  const chosen: number[] = [];
  for (let i = 0; i < calls.count; i++) if (rank === null || calls.rank[i] === rank) chosen.push(i);
  const isOpen = (call: number) => (calls.state[call] === DONE ? 1 : 0);
  return chosen.sort((a, b) => isOpen(a) - isOpen(b) || calls.posted[a] - calls.posted[b] || a - b);
}

/** An arrow: from the call that came last, or from the send, to the other. */
export interface Arrow {
  from: number;
  to: number;
}

/** The arrows that begin or end within [from, to]: at most `most`, those whose receiver waited longest; and how many there are. */
export function arrowsWithin(calls: Calls, from: number, to: number, most: number): { arrows: Arrow[]; all: number } {
  const found: Arrow[] = [];
  for (let call = 0; call < calls.count; call++) {
    const other = calls.other[call];
    if (other < 0 || calls.kind[call] === SEND) continue; // a send's arrow is that of its receive
    const begin = calls.posted[other];
    const end = arrivalOf(calls, call);
    if (Math.min(begin, end) <= to && Math.max(begin, end) >= from) found.push({ from: other, to: call });
  }
  const all = found.length;
  if (all > most) {
    found.sort((a, b) => calls.waitOf(b.to) - calls.waitOf(a.to) || a.to - b.to);
    found.length = most;
  }
  return { arrows: found, all };
}

/** Where the arrow to a call ends: when the other side was known, and not before that had begun. */
export function arrivalOf(calls: Calls, call: number): number {
  const known = Number.isNaN(calls.matched[call]) ? calls.posted[call] : calls.matched[call];
  const other = calls.other[call];
  const least = other < 0 ? known : Math.max(known, calls.posted[other]);
  return Math.min(least, calls.endOf(call));
}

/** A time of a rank's own clock, in nanoseconds since the axis began. */
export function onAxis(calls: Calls, rank: number, own: bigint): number {
  const clock = calls.ranks[rank];
  const at = BigInt(clock.at_ns);
  const drift = clock.drift * Number(own - at);
  return Number(own + BigInt(clock.offset_ns) - calls.start) + (Number.isFinite(drift) ? drift : 0);
}
