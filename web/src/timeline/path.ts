// SPDX-License-Identifier: Apache-2.0
// The critical path: the command `taskglass path` finds it, and its steps are shown in the timeline.
import { isStatic } from "../api.js";
import { followJob } from "../jobs.js";
import { type RunModel, parseId } from "../model.js";

export interface CriticalPath {
  tasks: Uint32Array; // in the order of time
  isOn: Set<number>;
  unknown: number; // steps that the timeline does not have
  spent: [string, number][]; // what the time went to, in nanoseconds
  command: string;
}

const objectOf = (value: unknown): Record<string, unknown> =>
  value !== null && typeof value === "object" ? (value as Record<string, unknown>) : {};

/** The steps of an answer of `taskglass path --json`. Throws the sentence that says why there is no path. */
export function readPath(model: RunModel, answer: Record<string, unknown>, command: string): CriticalPath {
  const path = objectOf(answer.path);
  const steps = Array.isArray(path.steps) ? path.steps : [];
  if (!steps.length) {
    const why = answer.path_unknown;
    throw new Error(typeof why === "string" && why ? why : "the run has no critical path");
  }
  const tasks: number[] = [];
  let unknown = 0;
  for (const step of steps) {
    const id = objectOf(step).task_id;
    const task = typeof id === "string" && parseId(id) !== null ? model.find(id) : -1;
    if (task >= 0) tasks.push(task);
    else unknown++;
  }
  const spent = Object.entries(objectOf(path.spent_ns)).filter((entry): entry is [string, number] => typeof entry[1] === "number");
  return { tasks: Uint32Array.from(tasks), isOn: new Set(tasks), unknown, spent, command };
}

/** Asks the server for the path; a page without a server cannot. */
export async function askPath(model: RunModel, signal: AbortSignal): Promise<CriticalPath> {
  if (isStatic) throw new Error("This page has no server; the command `taskglass path` shows the critical path.");
  const job = await followJob({ verb: "path", run: model.key }, () => {}, signal);
  if (!job.answer) throw new Error(job.error || job.text || `${job.command} failed`);
  return readPath(model, job.answer, job.command);
}
