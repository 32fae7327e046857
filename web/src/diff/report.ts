// SPDX-License-Identifier: Apache-2.0
// The document of `taskglass diff --json` (taskglass-diff(1)), and the words that the page has for it.
import { formatCount, plural } from "../format.js";
import { idText, parseId } from "../model.js";

/** A number, or the text that stands for it: "nan", "inf", or digits beyond 2^53. */
export type Value = number | string | boolean | null;

export interface Mismatch {
  at: number[] | null;
  a: Value;
  b: Value;
}

export interface Extreme extends Mismatch {
  value: number | string | null;
}

export interface PairValues {
  elements: number;
  cut: boolean;
  mismatches: number;
  share: number | null;
  max_abs: Extreme | null;
  max_rel: Extreme | null;
  max_ulp: Extreme | null;
  cosine: number | null;
  sqnr_db: number | null;
  nan: [number, number];
  inf: [number, number];
  special_mismatches: number;
  first: Mismatch[];
}

export interface DiffPair {
  task_a: string | null;
  task_b: string | null;
  record_a: number | null;
  record_b: number | null;
  kernel: string[];
  stage: string;
  role: string;
  arg_index: number;
  kind: string;
  dtype: string;
  shape: number[];
  kind_b?: string;
  dtype_b?: string;
  shape_b?: number[];
  verdict: string;
  reason: string;
  atol?: number;
  rtol?: number;
  noise_floor?: number | null;
  values?: PairValues;
}

interface Both {
  task_a: string | null;
  task_b: string | null;
  kernel: string;
}

export interface Step extends Both {
  max_ulp: number | string | null;
  error: number | null;
  beyond: boolean;
}

export interface Given {
  value?: Value;
  tensor?: string | null;
  written_by?: string | null;
  written_as?: number;
  elements?: [number, number];
  shape?: number[];
  strides?: number[];
}

export interface Suspect extends Both {
  guilt: string;
  other: (Both & { ordered_in_a: boolean; ordered_in_b: boolean }) | null;
  record_a: number | null;
  record_b: number | null;
  arg_index: number | null;
  given_a: Given | null;
  given_b: Given | null;
  depth: number;
  error: number | null;
  max_ulp: number | string | null;
  left_tolerance: (Both & { stage: string; arg_index: number; record_a: number | null; record_b: number | null }) | null;
  path_length: number;
  path: Step[];
}

export interface DiffEdge {
  before_a: string;
  before_b: string;
  after_a: string;
  after_b: string;
  race: boolean;
}

export interface Report {
  result: string;
  reason: string | null;
  pairs?: DiffPair[];
  matched_by?: string;
  noise_runs?: number;
  tasks?: {
    matched: number;
    only_a: { task_id: string; kernel: string }[];
    only_b: { task_id: string; kernel: string }[];
    renamed: { task_a: string; task_b: string; kernel_a: string; kernel_b: string }[];
    fused: { in: string; part: string; kernel: string; task_a: string; task_b: string }[];
  };
  counts?: Record<string, number>;
  reads?: Record<string, number>;
  gaps?: string[];
  stopped?: boolean;
  deps_error?: string | null;
  edges?: { compared: boolean; reason: string | null; only_a?: DiffEdge[]; only_b?: DiffEdge[] };
  blame?: { graph: string; wrong: number; inherited: number; unknown: string | null; suspects: Suspect[] } | null;
}

// --- names ----------------------------------------------------------------------------------------

/** The id as the page writes it: "12", "1:12"; "" if there is none. */
export function taskId(hex: string | null): string {
  const id = hex === null ? null : parseId(hex);
  return id === null ? "" : idText(id);
}

/** "task 3 step", "task 3 step (B: 4)", "task 4 step of B", "the orchestration". */
export function taskName(task: { task_a: string | null; task_b: string | null; kernel: string | string[] }): string {
  const kernel = typeof task.kernel === "string" ? task.kernel : task.kernel.join("+");
  const [a, b] = [taskId(task.task_a), taskId(task.task_b)];
  if (!a && !b) return "the orchestration";
  if (!a) return `task ${b} ${kernel} of B`.replace("  ", " ");
  return `task ${a} ${kernel}${b && b !== a ? ` (B: ${b})` : ""}`.trim();
}

/** The name of a pair in an address: its records, "12-14". */
export function pairKey(pair: { record_a: number | null; record_b: number | null }): string {
  return `${pair.record_a ?? ""}-${pair.record_b ?? ""}`;
}

/** The pair of a step: what the task wrote, if that differs, else anything of it that does. */
export function pairOfTask(pairs: readonly DiffPair[], task: { task_a: string | null; task_b: string | null }): DiffPair | undefined {
  const own = pairs.filter((pair) => pair.verdict !== "same" && pair.task_a === task.task_a && pair.task_b === task.task_b);
  return own.find((pair) => pair.stage === "after_completion") ?? own[0];
}

/** A suspect whose own argument is within the tolerance is in no pair of the report; its records can be shown all the same. */
export function pairOfSuspect(pairs: readonly DiffPair[], suspect: Suspect): DiffPair | undefined {
  const found = pairs.find((pair) => pairKey(pair) === pairKey(suspect));
  if (found || suspect.record_a === null || suspect.record_b === null) return found;
  const { task_a, task_b, record_a, record_b, kernel } = suspect;
  const unlisted = { stage: "", role: "", kind: "", dtype: "", shape: [], verdict: "close", reason: "tolerance" };
  return { task_a, task_b, record_a, record_b, kernel: [kernel], arg_index: suspect.arg_index ?? 0, ...unlisted };
}

// --- sentences ------------------------------------------------------------------------------------

const GUILT: Record<string, string> = {
  introduced: "introduced it: its inputs agree bit for bit, but its outputs do not",
  unordered: "did not wait for",
  scalar: "was given another scalar",
  view: "was given another part of the same tensor",
  rewired: "was given another tensor",
  given: "received it from outside: a tensor that no task wrote has other content",
  extra: "ran only in A, and what it wrote is part of the difference",
  missing: "ran only in B, and what it wrote is missing in A",
  changed: "read memory that changed after every task that wrote it left it equal",
  unclear: "may have introduced it: not all that it read and wrote is known",
};

export function guiltText(suspect: Suspect, noiseRuns = 0): string {
  const text =
    suspect.guilt === "introduced" && noiseRuns > 0
      ? "introduced it: its inputs differ no more than good runs do, but its outputs do"
      : (GUILT[suspect.guilt] ?? suspect.guilt);
  return suspect.other ? `${text} ${taskName(suspect.other)}, and both use the same bytes` : text;
}

const GRAPHS: Record<string, string> = {
  deps_a: "edges from the deps.json of A",
  deps_b: "edges from the deps.json of B",
  memory_a: "no deps.json; edges from the memory that tasks of A wrote and read",
  memory_b: "no deps.json; edges from the memory that tasks of B wrote and read",
};

export function graphText(graph: string): string {
  return GRAPHS[graph] ?? "neither deps.json nor addresses: no edges, each task judged by its own arguments";
}

const MATCHED: Record<string, string> = {
  id: "by their ids",
  dataflow: "by the data that they read and write",
  position: "by position",
  alignment: "by position, aligned so that the fewest are left over",
};

/** "74 pairs of 20 tasks, matched by their ids: 52 the same, 22 differ." */
export function resultSentence(report: Report): string {
  const { counts, tasks } = report;
  if (!counts || !tasks) return report.reason ?? "There is nothing to compare.";
  const words: [string, string][] = [
    ["same", "the same"],
    ["close", "within the tolerance"],
    ["differs", "differ"],
    ["unknown", "not known"],
  ];
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const parts = words.filter(([verdict]) => counts[verdict]).map(([verdict, text]) => `${formatCount(counts[verdict])} ${text}`);
  return `${plural(total, "argument")} of ${plural(tasks.matched, "task")}, matched ${MATCHED[report.matched_by ?? ""] ?? "somehow"}${parts.length ? `: ${parts.join(", ")}` : ""}.`;
}

/** The meanings of the words in include/taskglass/analysis.h (TG_REASON_MAP). */
const REASONS: Record<string, string> = {
  hash: "equal hashes",
  bytes: "equal bytes",
  metadata: "all that was recorded of it is equal",
  noise: "no further apart than good runs are",
  tolerance: "within the tolerance",
  place: "equal, but written to another part of a tensor of the case",
  values: "values beyond the tolerance",
  dtype: "different dtypes",
  shape: "different shapes",
  kind: "a tensor in one, a scalar in the other",
  bits: "different bits of a scalar whose type is unknown",
  integer_hash: "different hashes of integers, which must be equal",
  other_hash: "different hashes, and no payload to show by how much",
  not_stored: "neither hashes nor payloads in both recordings",
  no_value: "a scalar whose value is unknown in one recording or both",
  not_hashed: "an argument of the orchestration that was recorded without a hash",
  cut: "the stored parts are equal",
  unfinished: "the task had not finished",
  only_a: "recorded in A only",
  only_b: "recorded in B only",
  not_compared: "not compared",
};

export function reasonText(reason: string): string {
  return REASONS[reason] ?? reason;
}

/** A relative error for people. */
export function errorText(error: number | null): string {
  if (error === null) return "–";
  return error === 0 ? "0" : error < 1e-3 || error >= 1e4 ? error.toExponential(1).replace("e+", "e") : String(Number(error.toPrecision(3)));
}

/** A share in per cent. One that is not 0 does not read 0. */
export function shareText(share: number | null): string {
  if (share === null) return "not known";
  const percent = 100 * share;
  return percent > 0 && percent < 1e-4 ? "< 0.0001 %" : `${Number(percent.toPrecision(3))} %`;
}

export function ulpText(ulp: number | string | null): string {
  return ulp === null ? "" : `${typeof ulp === "number" ? formatCount(ulp) : ulp} ulp`;
}

export function valueText(value: Value): string {
  return value === null ? "–" : String(value);
}

/** What a suspect was given on one side. */
export function givenText(given: Given | null): string {
  if (!given) return "nothing";
  if (given.value !== undefined) return valueText(given.value);
  const words: string[] = [];
  if (given.tensor) words.push(`tensor '${given.tensor}'`);
  if (given.written_by) words.push(`output ${given.written_as ?? "?"} of task ${taskId(given.written_by)}`);
  if (given.elements) words.push(`elements ${given.elements[0]} to ${given.elements[1]}`);
  if (given.shape) words.push(`shape (${given.shape.join(", ")})`);
  return words.join(", ") || "memory that no recorded task wrote";
}

export const TELLS_WHAT_WAS_GIVEN = ["scalar", "view", "rewired", "given"];

// --- the list of pairs ----------------------------------------------------------------------------

/** Numbers of a report may be texts. NaN: not known, and then it is not finite or was not compared. */
function size(value: number | string | null | undefined): number {
  return value === null || value === undefined ? NaN : Number(value);
}

export const PAIR_ORDERS = ["run", "relative", "absolute", "ulp", "mismatches"] as const;
export type PairOrder = (typeof PAIR_ORDERS)[number];

export function pairSize(pair: DiffPair, order: PairOrder): number {
  const values = pair.values;
  switch (order) {
    case "relative":
      return size(values?.max_rel?.value);
    case "absolute":
      return size(values?.max_abs?.value);
    case "ulp":
      return size(values?.max_ulp?.value);
    default:
      return size(values?.mismatches);
  }
}

/** Sorted by size, the largest first; pairs without one are last. "run": as the report has them. */
export function sortPairs(pairs: readonly DiffPair[], order: PairOrder): DiffPair[] {
  if (order === "run") return [...pairs];
  const key = (pair: DiffPair) => {
    const value = pairSize(pair, order);
    return Number.isNaN(value) ? -1 : value;
  };
  return pairs
    .map((pair, index) => ({ pair, index, key: key(pair) }))
    .sort((a, b) => (a.key === b.key ? a.index - b.index : b.key - a.key))
    .map((entry) => entry.pair);
}

/** Pairs with every word of the filter in their task, kernel, stage, role, argument, type or reason. */
export function filterPairs(pairs: readonly DiffPair[], text: string): DiffPair[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...pairs];
  return pairs.filter((pair) => {
    const hay = `${taskName(pair)} ${pair.stage} ${pair.role} arg ${pair.arg_index} ${pair.dtype} ${pair.verdict} ${pair.reason}`.toLowerCase();
    return words.every((word) => hay.includes(word));
  });
}

// --- the path -------------------------------------------------------------------------------------

export interface ShownStep {
  step: Step;
  place: number; // in the path
  leaves: boolean; // here the error leaves the tolerance
  hidden: number; // steps that are left out before this one
}

const WHOLE = 10;

function largestGrowth(path: readonly Step[]): number {
  let at = -1;
  let most = 1;
  for (let i = 1; i < path.length; i++) {
    const growth = (path[i].error ?? NaN) / (path[i - 1].error ?? NaN);
    if (growth > most) {
      most = growth;
      at = i;
    }
  }
  return at;
}

/** A long path is shown by its ends and by the steps where the error leaves the tolerance or grows most. `left`: steps
 * in the middle that the report does not have. */
export function shownSteps(path: readonly Step[], pathLength: number, all: boolean): ShownStep[] {
  const growth = largestGrowth(path);
  const missing = pathLength - path.length;
  const cut = missing > 0 ? path.length / 2 : -1; // the report leaves out the middle
  const shown: ShownStep[] = [];
  let hidden = 0;
  path.forEach((step, i) => {
    if (i === cut) hidden += missing;
    const leaves = step.beyond && i > 0 && !path[i - 1].beyond;
    const isEnd = i < 3 || i >= path.length - 2;
    if (!all && path.length > WHOLE && !isEnd && !leaves && i !== growth) {
      hidden++;
      return;
    }
    shown.push({ step, place: i < cut || cut < 0 ? i : i + missing, leaves, hidden });
    hidden = 0;
  });
  return shown;
}

/** The length of a bar for an error, 0 to 1, on a logarithmic scale over the errors of the path. */
export function errorBar({ error, beyond }: Step, path: readonly Step[]): number {
  if (error === null) return beyond ? 1 : 0; // not finite, or not known
  if (!(error > 0)) return 0;
  const errors = path.map((step) => step.error ?? 0).filter((value) => value > 0);
  const high = Math.log10(Math.max(...errors, error));
  const low = Math.min(Math.log10(Math.min(...errors, error)), high - 1);
  return 0.08 + (0.92 * (Math.log10(error) - low)) / (high - low);
}
