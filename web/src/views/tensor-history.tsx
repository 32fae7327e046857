// SPDX-License-Identifier: Apache-2.0
// Other records of the same memory: of the same task, and of the tasks next to it in the graph.
import { useEffect, useMemo } from "preact/hooks";
import { type RunInfo, type TaskInfo, type TaskRecord, type TensorInfo, ask } from "../api.js";
import { isTyping, useAsk, useLoaded } from "../hooks.js";
import { go, linkTo } from "../route.js";
import { Badge, Note, Panel } from "../widgets.js";
import { recordTitle, stageText } from "./record-words.js";

/** Neighbours that are asked for their records; more would take long, and few people read so many. */
const NEIGHBOURS = 12;

/** Records at one address, in the order in which they were taken. */
export function sameMemory(info: TaskRecord, records: readonly TaskRecord[]): TaskRecord[] {
  const found = new Map<number, TaskRecord>();
  for (const record of records)
    if (record.index === info.index || (record.kind === "tensor" && record.data_ptr === info.data_ptr && record.data_ptr !== null)) found.set(record.index, record);
  return [...found.values()].sort((a, b) => (a.time_ns ?? Infinity) - (b.time_ns ?? Infinity) || a.index - b.index);
}

async function recordsOfTasks(run: string, tasks: readonly string[], signal: AbortSignal): Promise<TaskRecord[]> {
  const answers = await Promise.allSettled(tasks.map((task) => ask<TaskInfo>("task", { run, task }, signal)));
  return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value.records : []));
}

export function History({ run, info }: { run: RunInfo; info: TensorInfo }) {
  const task = useAsk<TaskInfo>("task", info.task === null ? null : { run: run.key, task: info.task });
  const near = useMemo(() => {
    const ids = [...(task.value?.waits_for ?? []), ...(task.value?.waited_by ?? [])].map((neighbour) => neighbour.id);
    return [...new Set(ids)];
  }, [task.value]);
  const key = near.slice(0, NEIGHBOURS).join(" ");
  const others = useLoaded<TaskRecord[]>((signal) => (key && info.kind === "tensor" ? recordsOfTasks(run.key, key.split(" "), signal) : null), [key]);
  const chain = useMemo(() => sameMemory(info, [info, ...(task.value?.records ?? []), ...(others.value ?? [])]), [info, task.value, others.value]);
  const at = chain.findIndex((record) => record.index === info.index);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const next = event.key === "[" ? chain[at - 1] : event.key === "]" ? chain[at + 1] : undefined;
      if (next && !isTyping(event)) go("tensor", { run: run.key, record: next.index });
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [chain, at]);
  if (info.task === null || !task.value) return null;
  const rest = task.value.records.filter((record) => !chain.some((link) => link.index === record.index));
  return (
    <div class="tensor-history">
      {info.kind === "tensor" && (
        <Panel title="The same memory" level={3} actions={<Steps run={run.key} before={chain[at - 1]} after={chain[at + 1]} />}>
          <ol class="chain">
            {chain.map((record) => (
              <li key={record.index}>
                <RecordLink run={run.key} record={record} isHere={record.index === info.index} />
              </li>
            ))}
          </ol>
          <Note>
            Records at address <span class="mono">{info.data_ptr}</span> of this task and of the tasks next to it in the graph
            {near.length > NEIGHBOURS ? `, of which ${NEIGHBOURS} of ${near.length} were looked at` : ""}.
          </Note>
        </Panel>
      )}
      {rest.length > 0 && (
        <Panel title={`Other arguments of task ${info.task}`} level={3}>
          <ul class="chain">
            {rest.map((record) => (
              <li key={record.index}>
                <RecordLink run={run.key} record={record} isHere={false} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </div>
  );
}

function Steps({ run, before, after }: { run: string; before: TaskRecord | undefined; after: TaskRecord | undefined }) {
  const step = (record: TaskRecord | undefined, text: string) =>
    record ? (
      <a class="button" href={linkTo("tensor", { run, record: record.index })}>
        {text}
      </a>
    ) : null;
  return (
    <>
      {step(before, "‹ Previous")}
      {step(after, "Next ›")}
    </>
  );
}

function RecordLink({ run, record, isHere }: { run: string; record: TaskRecord; isHere: boolean }) {
  return (
    <a class="record-link" href={linkTo("tensor", { run, record: record.index })} aria-current={isHere ? "page" : undefined}>
      <span>
        task {record.task} {record.kernels.join("+")}
      </span>
      <span class="faint">
        {stageText(record.stage)}, {recordTitle(record)}
      </span>
      {record.kind === "scalar" ? <span class="mono">{record.value}</span> : record.partial && <Badge tone="bad">partial</Badge>}
    </a>
  );
}
