// SPDX-License-Identifier: Apache-2.0
// One task: what it was given, what it made of it, when it ran and what it waited for.
import { useMemo, useState } from "preact/hooks";
import type { Neighbour, RunInfo, TaskInfo, TaskRecord } from "../api.js";
import { formatCount, formatNs, plural, shellWord } from "../format.js";
import { useAsk, useEdges, useModel } from "../hooks.js";
import { idText, parseId } from "../model.js";
import { kernelColour } from "../palette.js";
import { go, linkTo } from "../route.js";
import { Badge, Command, CopyButton, EmptyState, ErrorLine, Facts, Loading, Note, Panel, Swatch } from "../widgets.js";
import { RecordBadges } from "./record-words.js";
import { type ArgumentPair, changeOf, pairArguments } from "./task-arguments.js";
import { Waits } from "./task-waits.js";
import "./task.css";
import { Thumbnail } from "./thumbnail.js";
import type { View, ViewProps } from "./view.js";

function Task({ route, run, generation }: ViewProps) {
  const id = usualId(route.parameters.task ?? "");
  if (!run) return null;
  return id ? <OneTask key={`${run.key} ${id}`} run={run} id={id} generation={generation} /> : <Choose run={run} />;
}

/** "0:12" and "0xc" are 12: a page without a server knows tasks by this notation only. */
function usualId(text: string): string {
  const id = parseId(text);
  return id === null ? text : idText(id);
}

function Choose({ run }: { run: RunInfo }) {
  const [text, setText] = useState("");
  return (
    <EmptyState title="Which task?">
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim()) go("task", { run: run.key, task: text.trim() });
        }}
      >
        <label>
          Task <input type="text" value={text} placeholder="12 or 1:12" onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <button type="submit" class="button primary">
          Show
        </button>
      </form>
      <p>
        Or choose one in the <a href={linkTo("timeline", { run: run.key })}>timeline</a> or the <a href={linkTo("graph", { run: run.key })}>graph</a>.
      </p>
    </EmptyState>
  );
}

function OneTask({ run, id, generation }: { run: RunInfo; id: string; generation: number }) {
  const task = useAsk<TaskInfo>("task", { run: run.key, task: id }, generation);
  const model = useModel(run.key, generation);
  const edges = useEdges(model.value);
  if (task.error) return <ErrorLine>{task.error}</ErrorLine>;
  if (!task.value) return <Loading>Reading the task</Loading>;
  const info = task.value;
  const tensors = info.records.filter((record) => record.kind !== "scalar");
  const path = shellWord(run.path);
  return (
    <div class="task">
      <Head run={run} info={info} />
      <div class="task-columns">
        <Tensors run={run.key} records={tensors} total={info.records.length} />
        <div>
          <Waits info={info} model={model.value} edges={edges.value} run={run} />
          <Neighbours run={run.key} info={info} />
          <Scalars records={info.records} />
          <Panel title="Continue in a terminal">
            <div class="task-commands">
              <Command text={`taskglass replay ${path} --task ${info.id} --repeat 10`} label="Run the task again" />
              <Command text={`taskglass view ${path} --task ${info.id}`} label="Show its records" />
            </div>
          </Panel>
        </div>
      </div>
    </div>
  );
}

function Head({ run, info }: { run: RunInfo; info: TaskInfo }) {
  const notEnded = (info.flags & 1) !== 0 || (info.begin_ns !== null && info.end_ns === null);
  return (
    <header class="task-head">
      <h2>
        Task {info.id}{" "}
        {info.kernels.map((kernel, i) => (
          <Swatch key={i} colour={kernelColour(kernel)}>
            {kernel || "kernel not known"}
          </Swatch>
        ))}
        {notEnded && <Badge tone="bad">it had not ended</Badge>}
        {info.begin_ns === null && <Badge tone="warn">no times recorded</Badge>}
      </h2>
      <div class="toolbar">
        <CopyButton text={info.id} label="Copy id" title={`${info.id} (${info.hex})`} />
        <a class="button" href={linkTo("timeline", { run: run.key, task: info.id })}>
          In the timeline
        </a>
        <a class="button" href={linkTo("graph", { run: run.key, task: info.id })}>
          In the graph
        </a>
      </div>
      <Facts
        rows={[
          ["Submitted at", info.line ? <Site text={info.line} /> : "not known"],
          info.scope ? ["Scope", <Site text={info.scope} />] : null,
          ["Core", info.core === null ? "not known" : String(info.core)],
          ["Id", <span class="mono">{info.hex}</span>],
        ]}
      />
    </header>
  );
}

/** A place in the source, to paste into an editor. */
function Site({ text }: { text: string }) {
  return (
    <span class="site">
      <code>{text}</code> <CopyButton text={text} class="quiet small" title={`Copy ${text}`} />
    </span>
  );
}

function Scalars({ records }: { records: readonly TaskRecord[] }) {
  const scalars = records.filter((record) => record.kind === "scalar" && record.stage !== "after_completion");
  if (scalars.length === 0) return null;
  return (
    <Panel title="Scalars">
      <dl class="facts">
        {scalars.map((record) => (
          <div key={record.index}>
            <dt>
              arg {record.arg} <span class="mono">{record.dtype}</span>
            </dt>
            <dd class="mono">{record.value ?? "not known"}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

// --- neighbours -----------------------------------------------------------------------------------

function Neighbours({ run, info }: { run: string; info: TaskInfo }) {
  return (
    <Panel title="Neighbours">
      {info.edges_error && <Note>{info.edges_error}</Note>}
      <div class="neighbours">
        <NeighbourList title="Waits for" run={run} list={info.waits_for} total={info.n_waits_for} />
        <NeighbourList title="Waited for by" run={run} list={info.waited_by} total={info.n_waited_by} />
      </div>
    </Panel>
  );
}

function NeighbourList({ title, run, list, total }: { title: string; run: string; list: readonly Neighbour[]; total: number | null }) {
  return (
    <section aria-label={title}>
      <h3>
        {title} <span class="faint">{total === null ? "not known" : formatCount(total)}</span>
      </h3>
      <ul>
        {list.map((neighbour, i) => (
          <li key={i}>
            <a href={linkTo("task", { run, task: neighbour.id })}>{neighbour.id}</a>{" "}
            <Swatch colour={kernelColour(neighbour.kernel)}>{neighbour.kernel}</Swatch> {neighbour.kind && <span class="faint">{neighbour.kind}</span>}
          </li>
        ))}
      </ul>
      {total !== null && total > list.length && <Note>{formatCount(total - list.length)} more are not listed.</Note>}
    </section>
  );
}

// --- before and after -----------------------------------------------------------------------------

function Tensors({ run, records, total }: { run: string; records: readonly TaskRecord[]; total: number }) {
  const pairs = useMemo(() => pairArguments(records), [records]);
  const changed = pairs.filter((pair) => changeOf(pair) === "changed").length;
  return (
    <Panel title="Tensors, before and after" actions={changed > 0 && <span class="faint">{plural(changed, "tensor")} changed</span>}>
      {pairs.length === 0 && <Note>The recording has no tensor of this task.</Note>}
      {pairs.length > 0 && (
        <ul class="arguments">
          {pairs.map((pair) => (
            <Argument key={pair.arg} run={run} pair={pair} />
          ))}
        </ul>
      )}
      {total >= 64 && <Note>At most 64 records are shown here; the list of records has all of them.</Note>}
    </Panel>
  );
}

const CHANGES = {
  changed: { tone: "accent", text: "changed", title: "The hashes before and after differ" },
  same: { tone: "plain", text: "unchanged", title: "The hashes before and after are equal" },
  unknown: { tone: "warn", text: "not known if it changed", title: "One of the records or its hash is missing" },
  written: { tone: "accent", text: "written", title: "An output: only what it was after the task is recorded" },
  read: { tone: "plain", text: "read", title: "Only what it was before the task is recorded" },
} as const;

function Argument({ run, pair }: { run: string; pair: ArgumentPair }) {
  const record = (pair.after ?? pair.before) as TaskRecord;
  const change = CHANGES[changeOf(pair)];
  return (
    <li class="argument">
      <div class="argument-words">
        <p>
          <b>arg {pair.arg}</b> {record.role}{" "}
          <Badge tone={change.tone} title={change.title}>
            {change.text}
            {pair.before && pair.after?.partial ? " so far" : ""}
          </Badge>
        </p>
        {record.name && <p class="mono">{record.name}</p>}
        <p class="mono faint">
          {record.dtype} ({record.shape.join(", ")}){record.contiguous ? "" : " strided"}
        </p>
        <p>
          <RecordBadges record={record} />
        </p>
      </div>
      <Side run={run} title="before" record={pair.before} isExpected={record.role !== "output"} />
      <Side run={run} title="after" record={pair.after} isExpected={record.role !== "input"} />
    </li>
  );
}

/** `isExpected`: a task reads or writes this, so that it says something if there is no record. */
function Side({ run, title, record, isExpected }: { run: string; title: string; record: TaskRecord | null; isExpected: boolean }) {
  if (!record && !isExpected) return null;
  return (
    <figure class={`argument-side ${title}`}>
      {record ? <Thumbnail run={run} record={record} /> : <span class="thumbnail none">not recorded</span>}
      <figcaption>
        <span>{title}</span>
        {record?.hash && (
          <span class="mono faint" title={`hash ${record.hash}`}>
            {record.hash.replace(/^0x/, "").slice(0, 8)}
          </span>
        )}
        {record?.time_ns !== null && record?.time_ns !== undefined && <span class="faint">{formatNs(record.time_ns)}</span>}
      </figcaption>
    </figure>
  );
}

export const taskView: View = {
  name: "task",
  title: "Task",
  key: "k",
  needsRun: true,
  component: Task,
};
