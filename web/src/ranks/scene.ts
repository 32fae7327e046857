// SPDX-License-Identifier: Apache-2.0
// What the picture of several ranks shows, and where: each rank is a group of rows on one time axis.
//
//   rank 0 (host)      heading
//   calls              one row, or more where calls were under way at the same time
//   core 0, core 1 …   the rank's own timeline, moved to rank 0's clock
import type { RunModel } from "../model.js";
import { Lane } from "../timeline/lane.js";
import { type Calls, onAxis } from "./calls.js";

export const GUTTER = 118;
export const AXIS = 24;
export const HEADING = 20;
export const CALL_ROW = 18;
const CORE_ROW = 13;
const GROUP_GAP = 6;

export interface Row {
  kind: "heading" | "calls" | "core";
  rank: number;
  index: number; // of the row of calls, or of the core
  top: number;
  height: number;
  label: string;
  lane: Lane | null; // items are calls, or parts of the rank's model
}

export interface Group {
  rank: number;
  label: string;
  model: RunModel | null; // null: its timeline is not there
  shift: number; // adds to times of the model
}

/** The slices of each core, on the axis. */
function coreLanes(model: RunModel, shift: number): Lane[] {
  const times = timesOf(model);
  const parts: number[][] = model.cores.map(() => []);
  for (let part = 0; part < model.parts; part++) parts[model.partCore[part]]?.push(part);
  return parts.map((own) => {
    own.sort((a, b) => times.begin[a] - times.begin[b] || a - b);
    const of = (from: Float64Array) => Float64Array.from(own, (part) => from[part] + shift);
    return new Lane(of(times.begin), of(times.end), Uint32Array.from(own));
  });
}

function timesOf(model: RunModel): { begin: Float64Array; end: Float64Array } {
  const begin = new Float64Array(model.parts);
  const end = new Float64Array(model.parts);
  for (let part = 0; part < model.parts; part++) {
    const from = Number(model.partBegin[part]);
    const to = Number(model.partEnd[part]);
    const known = (time: number) => !Number.isNaN(time) && !(model.partBegin instanceof Uint32Array && time === 0xffffffff);
    begin[part] = known(from) ? from : 0;
    end[part] = known(to) ? Math.max(to, begin[part]) : model.span;
  }
  return { begin, end };
}

function callLane(calls: Calls, rank: number, row: number): Lane {
  const chosen: number[] = [];
  for (let call = 0; call < calls.count; call++)
    if (calls.rank[call] === rank && calls.row[call] === row && !Number.isNaN(calls.posted[call])) chosen.push(call);
  chosen.sort((a, b) => calls.posted[a] - calls.posted[b] || a - b);
  return new Lane(
    Float64Array.from(chosen, (call) => calls.posted[call]),
    Float64Array.from(chosen, (call) => calls.endOf(call)),
    Uint32Array.from(chosen),
  );
}

/** The rows of the ranks that are shown, from top to bottom, and the time that they take. */
export class Scene {
  readonly rows: Row[] = [];
  readonly height: number;
  readonly from: number; // the first time
  readonly span: number; // from there to the last
  private readonly callTop = new Map<string, number>();

  constructor(
    readonly calls: Calls,
    readonly groups: readonly Group[],
  ) {
    let top = AXIS;
    let from = calls.count ? 0 : Infinity;
    let to = calls.last;
    const add = (row: Omit<Row, "top">) => {
      this.rows.push({ ...row, top });
      if (row.kind === "calls") this.callTop.set(`${row.rank} ${row.index}`, top);
      top += row.height;
    };
    for (const { rank, label, model, shift } of groups) {
      add({ kind: "heading", rank, index: 0, height: HEADING, label, lane: null });
      for (let row = 0; row < calls.rows[rank]; row++)
        add({ kind: "calls", rank, index: row, height: CALL_ROW, label: row ? "" : "calls", lane: callLane(calls, rank, row) });
      if (model) {
        coreLanes(model, shift).forEach((lane, index) =>
          add({ kind: "core", rank, index, height: CORE_ROW, label: model.cores[index].name, lane }),
        );
        from = Math.min(from, shift);
        to = Math.max(to, shift + model.span);
      }
      top += GROUP_GAP;
    }
    this.height = top;
    this.from = Number.isFinite(from) ? from : 0;
    this.span = Math.max(1, to - this.from);
  }

  /** The middle of the row of a call; null: its rank is not shown. */
  middleOf(call: number): number | null {
    const top = this.callTop.get(`${this.calls.rank[call]} ${this.calls.row[call]}`);
    return top === undefined ? null : top + CALL_ROW / 2;
  }

  rowAt(y: number): Row | null {
    return this.rows.find((row) => y >= row.top && y < row.top + row.height) ?? null;
  }
}

/** How far a rank's timeline is moved. */
export function shiftOf(calls: Calls, rank: number, model: RunModel): number {
  return onAxis(calls, rank, model.start);
}
