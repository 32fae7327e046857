// SPDX-License-Identifier: Apache-2.0
// What a comparison with another run says about the tasks of this one.
import type { Report } from "../diff/report.js";

export type BlameWord = "guilty" | "path" | "wrong" | "only" | "silent";

export interface Verdicts {
  /** Tasks about which the comparison says something. */
  word: Map<number, BlameWord>;
  /** The largest absolute error of what a task wrote or read; Infinity: it is not finite. */
  error: Map<number, number>;
  notes: string[];
}

const RANK: Record<BlameWord, number> = { guilty: 0, path: 1, wrong: 2, only: 3, silent: 4 };

export function worse(a: BlameWord, b: BlameWord): BlameWord {
  return RANK[a] <= RANK[b] ? a : b;
}

/** `find`: the task of this run with an id of the report; -1. This run is A. */
export function readVerdicts(report: Report, find: (id: string) => number): Verdicts {
  const verdicts: Verdicts = { word: new Map(), error: new Map(), notes: [] };
  const say = (id: string | null, word: BlameWord) => {
    const task = id === null ? -1 : find(id);
    if (task >= 0) verdicts.word.set(task, worse(word, verdicts.word.get(task) ?? "silent"));
  };
  for (const pair of report.pairs ?? []) {
    if (pair.verdict === "differs") say(pair.task_a, "wrong");
    const task = pair.task_a === null ? -1 : find(pair.task_a);
    const value = pair.values?.max_abs?.value;
    if (task < 0 || value === undefined || value === null) continue;
    const error = Number.isFinite(Number(value)) ? Math.abs(Number(value)) : Infinity;
    verdicts.error.set(task, Math.max(error, verdicts.error.get(task) ?? 0));
  }
  for (const task of report.tasks?.only_a ?? []) say(task.task_id, "only");
  for (const suspect of report.blame?.suspects ?? []) {
    say(suspect.task_a, "guilty");
    if (suspect.other) say(suspect.other.task_a, "guilty");
    for (const step of suspect.path) say(step.task_a, "path");
    if (suspect.path_length > suspect.path.length)
      verdicts.notes.push(`A path has ${suspect.path_length} steps, of which ${suspect.path.length} are known here.`);
  }
  const { counts, pairs } = report;
  if (counts && pairs && (counts.differs ?? 0) > pairs.filter((pair) => pair.verdict === "differs").length)
    verdicts.notes.push("There are more differences than the answer lists: a task without a colour may differ too.");
  return verdicts;
}
