// SPDX-License-Identifier: Apache-2.0
// The records of a task by argument: what it was before and what it was after.
import type { TaskRecord } from "../api.js";

export interface ArgumentPair {
  arg: number;
  before: TaskRecord | null;
  after: TaskRecord | null;
}

export function pairArguments(records: readonly TaskRecord[]): ArgumentPair[] {
  const pairs = new Map<number, ArgumentPair>();
  for (const record of records) {
    const pair = pairs.get(record.arg) ?? { arg: record.arg, before: null, after: null };
    if (record.stage === "after_completion") pair.after = record;
    else pair.before ??= record;
    pairs.set(record.arg, pair);
  }
  return [...pairs.values()].sort((a, b) => a.arg - b.arg);
}

export type Change = "changed" | "same" | "unknown" | "written" | "read";

/** Only hashes decide: they are over all bytes, stored or not. */
export function changeOf({ before, after }: ArgumentPair): Change {
  if (!before || !after) {
    const role = (before ?? after)?.role;
    return role === "inout" ? "unknown" : before ? "read" : "written";
  }
  if (before.hash === null || after.hash === null) return "unknown";
  return before.hash === after.hash ? "same" : "changed";
}
