// SPDX-License-Identifier: Apache-2.0
// The runs that are served: those that go on first. Two of them can be chosen and compared.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type RunEntry, isStatic } from "../api.js";
import { formatAgo, formatBytes, formatCount, formatDate, formatSeconds, plural } from "../format.js";
import { isTyping } from "../hooks.js";
import { go, linkTo, note } from "../route.js";
import { isLiveState, resultOf } from "../shell-run.js";
import { Badge, EmptyState, Progress, Table, type TableColumn } from "../widgets.js";
import "./runs.css";
import type { View, ViewProps } from "./view.js";

/** True if every word of `filter` is in some text of the run. */
export function matchesFilter(run: RunEntry, filter: string): boolean {
  const ranks = run.ranks ? plural(run.ranks, "rank") : null;
  const text = [run.name, run.workload, run.case, run.platform, run.runtime, run.state, run.status, ranks]
    .filter((part) => part !== null)
    .join("\n")
    .toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** A run opens where it is understood best: one of several ranks where all are seen, a failure where it is explained, all
 * others on the timeline. */
export function addressOf(run: RunEntry): { view: string; parameters: Record<string, string> } {
  if (run.ranks !== null && run.ranks !== undefined) return { view: "ranks", parameters: { run: run.key } };
  const failed = run.status !== null && run.status !== "OK" && !isLiveState(run.state);
  return failed
    ? { view: "questions", parameters: { run: run.key, verb: "explain" } }
    : { view: "timeline", parameters: { run: run.key } };
}

function Finished({ run }: { run: RunEntry }) {
  if (!isLiveState(run.state) || run.tasks === null || run.finished === null) return <>{formatCount(run.tasks)}</>;
  return (
    <span class="runs-progress">
      <Progress label={`Tasks finished of ${run.name}`} value={run.tasks ? run.finished / run.tasks : null} />
      {formatCount(run.finished)} of {formatCount(run.tasks)}
    </span>
  );
}

/** Two texts, one below the other. */
function Pair({ first, second }: { first: string | null; second: string | null }) {
  return (
    <>
      {first ?? <span class="faint">not known</span>}
      <span class="runs-second">{second}</span>
    </>
  );
}

function columnsOf(chosen: readonly string[], choose: (key: string) => void): TableColumn<RunEntry>[] {
  return [
    {
      name: "Compare",
      cell: (run) => (
        <input
          type="checkbox"
          aria-label={`Compare ${run.name}`}
          checked={chosen.includes(run.key)}
          onChange={() => choose(run.key)}
        />
      ),
      class: "runs-check",
    },
    {
      name: "Run",
      cell: (run) => {
        const address = addressOf(run);
        return (
          <>
            <a class="runs-name" href={linkTo(address.view, address.parameters)} title={run.path}>
              {run.name}
            </a>
            <span class="runs-what">{[run.workload, run.case, run.platform, run.runtime].filter(Boolean).join(" · ")}</span>
            {run.ranks !== null && run.ranks !== undefined && <Badge>{plural(run.ranks, "rank")}</Badge>}
          </>
        );
      },
      sort: (run) => run.name,
      class: "runs-run",
    },
    {
      name: "Result",
      cell: (run) => <Badge tone={resultOf(run).tone}>{resultOf(run).text}</Badge>,
      sort: (run) => resultOf(run).text,
    },
    {
      name: "Workload",
      cell: (run) => <Pair first={run.workload} second={run.case} />,
      sort: (run) => run.workload && `${run.workload} ${run.case ?? ""}`,
      class: "runs-pair",
    },
    {
      name: "Platform",
      title: "Platform and runtime",
      cell: (run) => <Pair first={run.platform} second={run.runtime} />,
      sort: (run) => run.platform && `${run.platform} ${run.runtime ?? ""}`,
      class: "runs-pair",
    },
    { name: "Tasks", cell: (run) => <Finished run={run} />, sort: (run) => run.tasks, number: true, class: "runs-more" },
    {
      name: "Records",
      cell: (run) => (run.recorded === false ? <span class="faint">not recorded</span> : formatCount(run.records)),
      sort: (run) => run.records,
      number: true,
      class: "runs-more",
    },
    {
      name: "Lost",
      title: "Records that the recorder counted as lost",
      cell: (run) => (run.lost ? <Badge tone="warn">{formatCount(run.lost)}</Badge> : formatCount(run.lost)),
      sort: (run) => run.lost,
      number: true,
      class: "runs-more",
    },
    { name: "Size", cell: (run) => formatBytes(run.bytes), sort: (run) => run.bytes, number: true, class: "runs-more" },
    { name: "Took", cell: (run) => formatSeconds(run.seconds), sort: (run) => run.seconds, number: true, class: "runs-more" },
    {
      name: "Began",
      cell: (run) => <time title={formatDate(run.began)}>{formatAgo(run.began)}</time>,
      sort: (run) => run.began,
      number: true,
    },
  ];
}

/** Keys of the list: j and k move the focus from name to name, x chooses for the comparison. */
function useListKeys(list: { current: HTMLElement | null }, search: { current: HTMLInputElement | null }, compare: () => void): void {
  const latest = useRef(compare);
  latest.current = compare;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTyping(event) && !(event.target instanceof HTMLInputElement && event.target.type === "checkbox")) return;
      const names = [...(list.current?.querySelectorAll<HTMLElement>(".runs-name") ?? [])];
      const row = document.activeElement?.closest("tr");
      const at = names.findIndex((name) => name.closest("tr") === row);
      if (event.key === "/") search.current?.focus();
      else if (event.key === "j" || event.key === "ArrowDown") names[Math.min(names.length - 1, at + 1)]?.focus();
      else if (event.key === "k" || event.key === "ArrowUp") names[Math.max(0, at - 1)]?.focus();
      else if (event.key === "x") row?.querySelector<HTMLInputElement>("input[type=checkbox]")?.click();
      else if (event.key === "c") latest.current();
      else return;
      event.preventDefault();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);
}

function RunsList({ runs, route }: ViewProps) {
  const filter = route.parameters.find ?? "";
  const [chosen, setChosen] = useState<string[]>([]);
  const list = useRef<HTMLDivElement>(null);
  const search = useRef<HTMLInputElement>(null);
  // The third one takes the place of the first.
  const choose = (key: string) =>
    setChosen((old) => (old.includes(key) ? old.filter((one) => one !== key) : [...old, key].slice(-2)));
  const compare = () => chosen.length === 2 && go("diff", { run: chosen[0], other: chosen[1] });
  useListKeys(list, search, compare);
  const shown = useMemo(() => runs.runs.filter((run) => matchesFilter(run, filter)), [runs, filter]);
  const columns = useMemo(() => columnsOf(chosen, choose), [chosen]);
  const live = runs.runs.filter((run) => isLiveState(run.state)).length;

  if (!runs.runs.length)
    return (
      <EmptyState title="There are no runs yet">
        <p>
          Nothing under <code>{runs.root}</code> is a run. Record one, and it appears here:
        </p>
        <p>
          <code>taskglass run vector_add --dump-tensor</code>
        </p>
      </EmptyState>
    );
  return (
    <div class="runs" ref={list}>
      <div class="toolbar" role="group" aria-label="Runs">
        <input
          ref={search}
          type="search"
          aria-label="Filter runs"
          placeholder="Filter: name, workload, result…"
          value={filter}
          onInput={(event) => note({ find: event.currentTarget.value })}
          onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
        />
        <span class="faint" role="status">
          {filter ? `${formatCount(shown.length)} of ${plural(runs.runs.length, "run")}` : plural(runs.runs.length, "run")}
          {live > 0 && `, ${live} of them running`}
        </span>
        <span class="spread" />
        <button type="button" class={`button ${chosen.length === 2 ? "primary" : ""}`} disabled={chosen.length !== 2} onClick={compare}>
          {chosen.length === 2 ? "Compare the two" : chosen.length === 1 ? "Choose one more to compare" : "Choose two to compare"}
        </button>
      </div>
      <Table
        label="Runs"
        columns={columns}
        rows={shown}
        rowKey={(run) => run.key}
        rowClass={(run) => (chosen.includes(run.key) ? "selected" : "")}
        onRow={(run) => {
          const address = addressOf(run);
          go(address.view, address.parameters);
        }}
        empty="No run matches the filter."
      />
      <p class="note">
        {runs.unread > 0 && `${plural(runs.unread, "directory", "directories")} could not be read. `}
        {isStatic ? "This page holds what it shows; it has no server." : `From ${runs.root}, looked at again every few seconds.`}
      </p>
    </div>
  );
}

export const runsView: View = {
  name: "runs",
  title: "Runs",
  key: "l",
  needsRun: false,
  keys: [
    ["/", "filter"],
    ["j k", "next, previous run"],
    ["Enter", "open the run"],
    ["x", "choose the run for a comparison"],
    ["c", "compare the two that are chosen"],
  ],
  component: RunsList,
};
