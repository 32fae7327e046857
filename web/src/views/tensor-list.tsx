// SPDX-License-Identifier: Apache-2.0
// The records of a run, to choose a tensor from.
import { useEffect, useState } from "preact/hooks";
import { type RunInfo, type TaskRecord, ask } from "../api.js";
import { formatBytes, formatCount } from "../format.js";
import { useAsk } from "../hooks.js";
import { linkTo, note } from "../route.js";
import { EmptyState, ErrorLine, Loading, Table, type TableColumn } from "../widgets.js";
import { RecordBadges, recordTitle, stageText } from "./record-words.js";

interface RecordsAnswer {
  total: number;
  next: number | null;
  records: TaskRecord[];
}

const PAGE = 100;

function columnsOf(run: string): TableColumn<TaskRecord>[] {
  return [
    { name: "Record", cell: (record) => <a href={linkTo("tensor", { run, record: record.index })}>{record.index}</a>, sort: (record) => record.index, number: true },
    {
      name: "Task",
      cell: (record) => (record.task === null ? "orchestration" : <a href={linkTo("task", { run, task: record.task })}>{record.task}</a>),
      sort: (record) => record.task,
    },
    { name: "Kernel", cell: (record) => record.kernels.join("+"), sort: (record) => record.kernels.join("+") },
    { name: "Stage", cell: (record) => stageText(record.stage), sort: (record) => record.stage },
    { name: "Argument", cell: (record) => recordTitle(record), sort: (record) => recordTitle(record) },
    { name: "Type", cell: (record) => <span class="mono">{record.dtype}</span>, sort: (record) => record.dtype },
    {
      name: "Shape",
      cell: (record) => <span class="mono">{record.kind === "scalar" ? (record.value ?? "") : `(${record.shape.join(", ")})`}</span>,
      sort: (record) => record.bytes,
    },
    { name: "Stored", cell: (record) => formatBytes(record.stored), sort: (record) => record.stored, number: true },
    { name: "Notes", cell: (record) => <RecordBadges record={record} /> },
  ];
}

export function RecordList({ run, generation, task }: { run: RunInfo; generation: number; task: string | undefined }) {
  const [wanted, setWanted] = useState(task ?? "");
  const first = useAsk<RecordsAnswer>("records", { run: run.key, first: 0, count: PAGE, task }, generation);
  const [more, setMore] = useState<RecordsAnswer | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    setMore(null);
    setError("");
  }, [first.value]);
  if (!first.value) return first.error ? <ErrorLine>{first.error}</ErrorLine> : <Loading>Reading the records</Loading>;
  const records = more ? more.records : first.value.records;
  const next = (more ?? first.value).next;
  const load = async () => {
    try {
      const page = await ask<RecordsAnswer>("records", { run: run.key, first: next ?? 0, count: PAGE, task });
      setMore({ ...page, records: [...records, ...page.records] });
    } catch (cause) {
      setError(cause instanceof Error ? cause.message : String(cause));
    }
  };
  return (
    <div class="record-list">
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          note({ task: wanted.trim() || undefined });
        }}
      >
        <label>
          Task
          <input type="text" value={wanted} placeholder="12 or 1:12" onInput={(event) => setWanted(event.currentTarget.value)} />
        </label>
        <button type="submit" class="button">
          Show its records
        </button>
        <span class="spread" />
        <span class="faint">{formatCount(first.value.total)} records in the recording</span>
      </form>
      {records.length === 0 ? (
        <EmptyState title="No such record" />
      ) : (
        <Table label="Records" columns={columnsOf(run.key)} rows={records} rowKey={(record) => record.index} most={records.length} onRow={(record) => (location.hash = linkTo("tensor", { run: run.key, record: record.index }))} />
      )}
      {error && <ErrorLine>{error}</ErrorLine>}
      {next !== null && (
        <button type="button" class="button" onClick={load}>
          Show more
        </button>
      )}
    </div>
  );
}
