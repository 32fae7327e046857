// SPDX-License-Identifier: Apache-2.0
// The answer of `taskglass path`: where the time went, and what would make the run faster.
import { formatCount, formatNs, formatShare, plural } from "../format.js";
import { categoryColour } from "../palette.js";
import { linkTo } from "../route.js";
import { Note, Swatch, Table } from "../widgets.js";
import { type Json, numberOf, objectOf, objectsOf, textOf } from "./json.js";
import { GraphLink, TaskLink, idOf } from "./links.js";
import { LeftOut, NotKnown, Result } from "./parts.js";

const SPENT: Record<string, string> = {
  run: "a task ran",
  busy: "ready, but every core for the task was busy",
  latency: "ready, and a core for the task was idle",
  handover: "from an end or a submission until ready",
  orchestrator: "the task was not submitted yet",
  room: "the orchestrator waited for room or a value",
  comm: "a call waited for another rank",
  unknown: "the file does not say",
};

const CHANGES: Record<string, string> = {
  unlimited_cores_no_waiting: "unlimited cores, no waiting",
  no_waiting: "these cores, no waiting",
  unlimited_cores: "unlimited cores",
  no_latency: "no scheduling latency",
  no_orchestrator: "an orchestrator that takes no time",
};

interface Row {
  number: number;
  is: Json;
}

const rowsOf = (value: unknown) => objectsOf(value).map((is, number): Row => ({ number, is }));
const ns = (value: unknown) => formatNs(numberOf(value));

function timeColumn(name: string, key: string) {
  return { name, cell: ({ is }: Row) => ns(is[key]), sort: ({ is }: Row) => (Number.isNaN(numberOf(is[key])) ? null : numberOf(is[key])), number: true };
}

function Spent({ spent, span }: { spent: Json; span: number }) {
  const parts = Object.entries(spent)
    .map(([name, value], i) => ({ name, time: numberOf(value), colour: categoryColour(i) }))
    .filter(({ time }) => time > 0);
  return (
    <>
      <div class="spent-bar" role="img" aria-label={parts.map(({ name, time }) => `${name} ${formatShare(time / span)}`).join(", ")}>
        {parts.map(({ name, time, colour }) => (
          <span key={name} style={{ flexGrow: time, background: colour }} title={`${name}: ${formatNs(time)}`} />
        ))}
      </div>
      <ul class="spent-list">
        {parts.map(({ name, time, colour }) => (
          <li key={name}>
            <Swatch colour={colour}>
              <strong>{name}</strong>
            </Swatch>{" "}
            {formatNs(time)}, {formatShare(time / span)}: <span class="faint">{SPENT[name] ?? name}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function TaskTable({ run, label, rows }: { run: string; label: string; rows: Row[] }) {
  return (
    <Table<Row>
      label={label}
      rows={rows}
      rowKey={(row) => row.number}
      most={20}
      columns={[
        { name: "Task", cell: ({ is }) => <TaskLink run={run} id={idOf(is.task_id)} kernel={textOf(is.kernel)} /> },
        { name: "Core", cell: ({ is }) => formatCount(numberOf(is.core)), number: true },
        { name: "Ran", cell: ({ is }) => formatNs(numberOf(is.end_ns) - numberOf(is.begin_ns)), sort: ({ is }) => numberOf(is.end_ns) - numberOf(is.begin_ns), number: true },
        timeColumn("Waited, cores busy", "busy_ns"),
        timeColumn("Waited, core idle", "latency_ns"),
        { name: "Scope", class: "answer-wide", cell: ({ is }) => textOf(is.scope) || "–" },
        { name: "Graph", cell: ({ is }) => <GraphLink run={run} id={idOf(is.task_id)} /> },
      ]}
    />
  );
}

/** What half or none of a kernel's time would gain: two rows of the document for each kernel. */
function gainOf(gains: readonly Json[], kernel: string, percent: number): string {
  const found = gains.find((gain) => textOf(gain.kernel) === kernel && numberOf(gain.percent) === percent);
  return found ? ns(found.gained_ns) : "–";
}

export function PathAnswer({ run, answer }: { run: string; answer: Json }) {
  const path = objectOf(answer.path);
  const waiting = objectOf(answer.waiting);
  const span = numberOf(objectOf(answer.span).ns);
  const gains = objectsOf(answer.gains);
  const noPath = textOf(answer.path_unknown);
  const noWaits = textOf(answer.wait_unknown);
  if (textOf(answer.result) === "not known" || Number.isNaN(span))
    return (
      <>
        <NotKnown answer={answer} />
        <LeftOut answer={answer} />
      </>
    );
  const changes = gains.filter((gain) => textOf(gain.change) !== "kernel").map((is, number): Row => ({ number, is }));
  return (
    <>
      <Result tone={noPath ? "warn" : "accent"} word={formatNs(span)}>
        {noPath ? `The critical path is not known: ${noPath}` : `${plural(numberOf(path.tasks), "task")} on the critical path, from the last end back to the start.`}{" "}
        <a href={linkTo("timeline", { run, path: "1" })}>Show it in the timeline</a>
      </Result>
      {!noPath && (
        <>
          <h3>Where the time went</h3>
          <Spent spent={objectOf(path.spent_ns)} span={span} />
          <h3>The critical path</h3>
          <TaskTable run={run} label="The critical path" rows={rowsOf(path.steps)} />
        </>
      )}
      <h3>What would be gained</h3>
      <Table<Row>
        label="What would be gained"
        rows={changes}
        rowKey={(row) => row.number}
        empty="Not known."
        columns={[
          { name: "With", cell: ({ is }) => CHANGES[textOf(is.change)] ?? textOf(is.change) },
          timeColumn("Span", "span_ns"),
          timeColumn("Gained", "gained_ns"),
          { name: "Share", cell: ({ is }) => formatShare(numberOf(is.gained_ns) / span), number: true },
          { name: "That is", cell: ({ is }) => (textOf(is.is) === "bound" ? "a lower bound" : "an estimate") },
        ]}
      />
      <h3>Kernels</h3>
      <Table<Row>
        label="Kernels"
        rows={rowsOf(answer.kernels)}
        rowKey={(row) => row.number}
        columns={[
          { name: "Kernel", cell: ({ is }) => textOf(is.kernel), sort: ({ is }) => textOf(is.kernel) },
          { name: "Tasks", cell: ({ is }) => formatCount(numberOf(is.tasks)), sort: ({ is }) => numberOf(is.tasks), number: true },
          timeColumn("Ran", "run_ns"),
          timeColumn("Waited", "wait_ns"),
          { name: "On the path", cell: ({ is }) => formatCount(numberOf(is.path_tasks)), sort: ({ is }) => numberOf(is.path_tasks), number: true },
          timeColumn("Ran there", "path_run_ns"),
          { name: "Gain at half", cell: ({ is }) => gainOf(gains, textOf(is.kernel), 50), number: true },
          { name: "Without it", cell: ({ is }) => gainOf(gains, textOf(is.kernel), 0), number: true },
        ]}
      />
      <h3>Ready but not running</h3>
      {noWaits ? (
        <Note>Not known: {noWaits}</Note>
      ) : (
        <>
          <p>
            {ns(waiting.ns)} in all, {plural(numberOf(waiting.tasks), "task")}: {ns(waiting.busy_ns)} while every core that could run them was busy,{" "}
            {ns(waiting.latency_ns)} while one was idle.
          </p>
          <TaskTable run={run} label="Tasks that waited longest" rows={rowsOf(waiting.longest)} />
        </>
      )}
      <h3>Idle cores</h3>
      <Table<Row>
        label="Idle cores"
        rows={rowsOf(answer.cores)}
        rowKey={(row) => row.number}
        columns={[
          { name: "Core", cell: ({ is }) => textOf(is.name) },
          timeColumn("Ran", "run_ns"),
          timeColumn("Idle", "idle_ns"),
          timeColumn("Nothing ready", "nothing_ns"),
          timeColumn("Nothing for it", "other_ns"),
          timeColumn("Latency", "latency_ns"),
        ]}
      />
      <LeftOut answer={answer} />
    </>
  );
}
