// SPDX-License-Identifier: Apache-2.0
// Two runs, compared: what differs, who began it, and the numbers side by side. In the address:
//
//   run, other         A, and B, which is trusted; also `a` and `b`
//   suspect, pair      what is shown: a place in the list of suspects, and the two records, "12-14"
//   element, mode      the selected element, in row-major order; abs, rel or ulp
//   rows, cols, at, numbers   as in the tensor's address
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { RunEntry, Runs as RunList } from "../api.js";
import { Detail } from "../diff/detail.js";
import { type DiffJob, useDiffJob } from "../diff/job.js";
import { Pairs } from "../diff/pairs.js";
import { type DiffPair, type Report, pairKey, pairOfSuspect, resultSentence, taskId } from "../diff/report.js";
import { GivenParts, Path, Suspects } from "../diff/suspects.js";
import { formatAgo, formatCount, formatSeconds, plural } from "../format.js";
import { go, linkTo } from "../route.js";
import { Badge, Command, EmptyState, ErrorLine, Loading, Note, Panel, type Tone } from "../widgets.js";
import "./diff.css";
import type { View, ViewProps } from "./view.js";

/** The runs that the address names: `run` and `other`, or `a` and `b`. */
function chosenRuns(parameters: Record<string, string>, runs: RunList): { a: string | undefined; b: string | undefined } {
  const a = parameters.a ?? parameters.run ?? runs.compare?.a;
  const b = parameters.b ?? parameters.other ?? (a === runs.compare?.a ? runs.compare?.b : undefined);
  return { a, b };
}

function Diff({ route, runs }: ViewProps) {
  const { a, b } = chosenRuns(route.parameters, runs);
  const job = useDiffJob(a, b);
  const report = job.job?.state === "done" || job.job?.answer ? ((job.job?.answer ?? null) as Report | null) : null;
  return (
    <div class="diff">
      <Choose runs={runs} a={a} b={b} command={report ? (job.job?.command ?? "") : ""} />
      {a && b ? (
        <>
          {!report && <JobState job={job} />}
          {report && a && b && <Result report={report} a={a} b={b} parameters={route.parameters} />}
        </>
      ) : (
        <EmptyState title="Choose two runs">A is the one you doubt, and B is the one you trust: errors are relative to its values.</EmptyState>
      )}
    </div>
  );
}

function runText(run: RunEntry): string {
  return `${run.name}${run.status && run.status !== "OK" ? ` (${run.status})` : ""}, ${formatAgo(run.began)}`;
}

function Choose({ runs, a, b, command }: { runs: RunList; a: string | undefined; b: string | undefined; command: string }) {
  const select = (label: string, value: string | undefined, change: (key: string) => void) => (
    <label class="choose-run">
      {label}
      <select value={value ?? ""} onChange={(event) => change(event.currentTarget.value)}>
        <option value="">choose a run</option>
        {runs.runs.map((run) => (
          <option key={run.key} value={run.key}>
            {runText(run)}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <div class="toolbar choose" role="group" aria-label="Runs to compare">
      {select("A", a, (key) => go("diff", { run: key, other: b }))}
      <button type="button" class="button" title="Swap A and B" disabled={!a || !b} onClick={() => go("diff", { run: b, other: a })}>
        ⇄<span class="off-screen"> Swap A and B</span>
      </button>
      {select("B, trusted", b, (key) => go("diff", { run: a, other: key }))}
      <span class="spread" />
      {command && <Command text={command} label="The command of this comparison" />}
    </div>
  );
}

// --- the job --------------------------------------------------------------------------------------

function JobState({ job }: { job: DiffJob }) {
  if (job.error) return <ErrorLine>{job.error}</ErrorLine>;
  if (!job.job) return <Loading>Starting the comparison</Loading>;
  const { state, seconds, error, text, command } = job.job;
  return (
    <Panel title={state === "working" ? "Comparing" : state === "stopped" ? "The comparison was stopped" : "The comparison failed"}>
      <div class="job">
        {state === "working" ? (
          <div class="toolbar">
            <progress class="progress" aria-label="Comparing" />
            <span role="status">{formatSeconds(seconds)}</span>
            <button type="button" class="button" onClick={job.cancel}>
              Cancel
            </button>
          </div>
        ) : (
          <>
            <ErrorLine>{error || text || "It printed no reason."}</ErrorLine>
            <button type="button" class="button" onClick={job.again}>
              Try again
            </button>
          </>
        )}
        <Command text={command} />
      </div>
    </Panel>
  );
}

// --- the result -----------------------------------------------------------------------------------

const TONES: Record<string, Tone> = { equal: "good", differs: "bad", incomplete: "warn", "not known": "warn" };

function Result({ report, a, b, parameters }: { report: Report; a: string; b: string; parameters: Record<string, string> }) {
  const runs = useMemo(() => ({ a, b }), [a, b]);
  const pairs = report.pairs ?? [];
  const suspects = report.blame?.suspects ?? [];
  const { pair, suspect } = useMemo(() => choose(report, parameters.pair, parameters.suspect), [report, parameters.pair, parameters.suspect]);
  const accused = suspects[suspect];
  const main = useRef<HTMLDivElement>(null);
  const shown = useRef(parameters.pair);
  useEffect(() => {
    // In one column, what was chosen is below what was clicked.
    if (shown.current !== parameters.pair && matchMedia("(max-width: 1000px)").matches) main.current?.scrollIntoView({ block: "start" });
    shown.current = parameters.pair;
  }, [parameters.pair]);
  return (
    <>
      <section class={`verdict ${TONES[report.result] ?? "plain"}`} aria-label="Result">
        <p class="verdict-word">{report.result.toUpperCase()}</p>
        <div class="verdict-words">
          <p>{resultSentence(report)}</p>
          {report.counts && report.reason && <p>{report.reason}</p>}
          <Shortcomings report={report} />
        </div>
      </section>
      <div class="diff-grid">
        <div class="diff-side">
          <Suspects report={report} runs={runs} chosen={suspect} />
          <Pairs pairs={pairs} runs={runs} chosen={pair ? pairKey(pair) : ""} />
          <Differences report={report} runs={runs} />
        </div>
        <div class="diff-main" ref={main}>
          {accused && pairKey(accused) === (pair ? pairKey(pair) : "") && <GivenParts suspect={accused} />}
          {pair ? (
            <Detail pair={pair} runs={runs} parameters={parameters} />
          ) : (
            <EmptyState title={pairs.length ? "Choose a differing argument" : report.result === "equal" ? "Nothing differs" : "No argument differs"} />
          )}
          {accused && <Path suspect={accused} place={suspect} pairs={pairs} runs={runs} here={pair} />}
        </div>
      </div>
    </>
  );
}

/** What the address chooses; without it the first suspect and the argument that shows it. */
function choose(report: Report, pairText: string | undefined, suspectText: string | undefined): { pair: DiffPair | undefined; suspect: number } {
  const pairs = report.pairs ?? [];
  const suspects = report.blame?.suspects ?? [];
  const byKey = (key: string) => {
    const accused = suspects.find((candidate) => pairKey(candidate) === key);
    return pairs.find((pair) => pairKey(pair) === key) ?? (accused && pairOfSuspect(pairs, accused));
  };
  let suspect = suspectText !== undefined && /^\d{1,9}$/.test(suspectText) ? Number(suspectText) : -1;
  if (pairText !== undefined) {
    if (suspect < 0) suspect = suspects.findIndex((candidate) => pairKey(candidate) === pairText);
    return { pair: byKey(pairText), suspect };
  }
  if (suspect < 0) suspect = suspects.length ? 0 : -1;
  const accused = suspects[suspect];
  return { pair: (accused && byKey(pairKey(accused))) ?? pairs[0], suspect };
}

/** Everything that makes the comparison less than complete. */
function Shortcomings({ report }: { report: Report }) {
  const lines = [...(report.gaps ?? [])];
  if (report.counts?.unknown) lines.push(`${plural(report.counts.unknown, "argument")} could not be decided: a side lacks it, its values or its hash`);
  if (report.stopped) lines.push("it stopped at the first difference");
  if (report.deps_error) lines.push(`deps.json: ${report.deps_error}`);
  if (lines.length === 0) return null;
  return (
    <ul class="gaps">
      {lines.map((line) => (
        <li key={line}>
          <Badge tone="warn">incomplete</Badge> {line}
        </li>
      ))}
    </ul>
  );
}

/** Tasks and edges that only one side has. */
function Differences({ report, runs }: { report: Report; runs: { a: string; b: string } }) {
  const tasks = report.tasks;
  const edges = report.edges;
  if (!tasks) return null;
  const onlyA = edges?.only_a ?? [];
  const onlyB = edges?.only_b ?? [];
  const races = [...onlyA, ...onlyB].filter((edge) => edge.race).length;
  const nothing = tasks.only_a.length + tasks.only_b.length + tasks.renamed.length + tasks.fused.length + onlyA.length + onlyB.length === 0;
  if (nothing) return null;
  const list = (title: string, run: string, entries: readonly { task_id: string; kernel: string }[]) =>
    entries.length > 0 && (
      <details>
        <summary>
          {plural(entries.length, "task")} {title}
        </summary>
        <ul>
          {entries.slice(0, 200).map((entry) => (
            <li key={entry.task_id}>
              <a href={linkTo("task", { run, task: taskId(entry.task_id) })}>{taskId(entry.task_id)}</a> {entry.kernel}
            </li>
          ))}
        </ul>
        {entries.length > 200 && <Note>And {formatCount(entries.length - 200)} more.</Note>}
      </details>
    );
  return (
    <Panel title="Tasks and edges">
      <div class="differences">
        {list("only in A", runs.a, tasks.only_a)}
        {list("only in B", runs.b, tasks.only_b)}
        {tasks.renamed.length > 0 && <p>{plural(tasks.renamed.length, "task")} with another name of the kernel</p>}
        {tasks.fused.length > 0 && <p>{plural(tasks.fused.length, "task")} are parts of fused tasks of the other side</p>}
        {edges?.compared === false && edges.reason && <Note>Edges were not compared: {edges.reason}</Note>}
        {onlyA.length > 0 && <p>{plural(onlyA.length, "edge")} only in A</p>}
        {onlyB.length > 0 && <p>{plural(onlyB.length, "edge")} only in B</p>}
        {races > 0 && (
          <p>
            <Badge tone="bad">race</Badge> {plural(races, "pair")} of tasks use the same bytes and nothing orders them on the side without the edge
          </p>
        )}
      </div>
    </Panel>
  );
}

export const diffView: View = {
  name: "diff",
  title: "Diff",
  key: "d",
  needsRun: false,
  keys: [
    ["j k", "next and previous differing argument"],
    ["← ↑ → ↓", "move the pictures, or the selected element"],
    ["+ -", "zoom all three"],
    ["0", "show all"],
  ],
  component: Diff,
};
