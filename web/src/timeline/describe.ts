// SPDX-License-Identifier: Apache-2.0
// The timeline in words: for the tooltip, for readers of the screen, and for the measured stretch of time.
import { formatCount, formatLength, formatNs, formatShare, plural } from "../format.js";
import { BEGAN_BEFORE, ENDED_LATER, UNFINISHED } from "../model.js";
import type { TimelineData } from "./data.js";
import type { Measured } from "./scene.js";

/** "20,000 tasks on 24 cores in 1.20 ms from the first begin to the last end; the cores were busy 78.1 % of the time." */
export function describeRun(data: TimelineData): string {
  const { model } = data;
  const busy = data.lanes.reduce((sum, lane) => sum + lane.busyIn(0, model.span), 0);
  const share = busy / Math.max(1, model.span * data.lanes.length);
  const open = data.unfinished.length ? ` ${plural(data.unfinished.length, "kernel")} had not ended, and nothing is recorded of the time since then.` : "";
  return (
    `${plural(model.timed, "task")} on ${plural(data.lanes.length, "core")} in ${formatNs(model.span)} from the first begin to the last end; ` +
    `the cores were busy ${formatShare(share)} of the time.${open}`
  );
}

/** One line about a task, for a reader of the screen. */
export function describeTask(data: TimelineData, task: number): string {
  const { model } = data;
  const begin = model.beginOf(task);
  const core = task < model.timed ? model.cores[model.partCore[model.firstPart[task]]] : undefined;
  const where = core ? `on ${core.name}` : "without a core";
  const when = Number.isNaN(begin) ? "its times are not known" : `begins at ${formatNs(begin)}, ${lengthWords(data, task)}`;
  return `Task ${model.idText(task)}, ${model.kernelOf(task)}, ${where}, ${when}.`;
}

function lengthWords({ model }: TimelineData, task: number): string {
  const flags = model.flagsOf(task);
  if (flags & UNFINISHED) return "had not ended";
  return `time it took: ${formatLength(model.endOf(task) - model.beginOf(task), (flags & (BEGAN_BEFORE | ENDED_LATER)) !== 0)}`;
}

export interface Measurement {
  length: number;
  slices: number; // a kernel of a task on a core, with some of its time in the stretch
  share: number; // busy, of all cores
}

export function measure(data: TimelineData, { from, to }: Measured): Measurement {
  let slices = 0;
  let busy = 0;
  for (const lane of data.lanes) {
    slices += lane.countIn(from, to);
    busy += lane.busyIn(from, to);
  }
  return { length: to - from, slices, share: busy / Math.max(1e-9, (to - from) * data.lanes.length) };
}

export function describeMeasurement(measured: Measurement): string {
  return (
    `${formatNs(measured.length)}: ${formatCount(measured.slices)} ${measured.slices === 1 ? "slice" : "slices"}, ` +
    `cores busy ${formatShare(measured.share)}`
  );
}
