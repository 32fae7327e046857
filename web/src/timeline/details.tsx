// SPDX-License-Identifier: Apache-2.0
// What is known about the selected task, with links to the views that show more of it.
import type { TaskInfo } from "../api.js";
import { UNKNOWN_TEXT, formatLength, formatNs, plural, shellWord } from "../format.js";
import { useAsk } from "../hooks.js";
import { BEGAN_BEFORE, EDGE_KINDS, ENDED_LATER, UNFINISHED } from "../model.js";
import { kernelColour } from "../palette.js";
import { linkTo } from "../route.js";
import { Command, Facts, Note, Swatch } from "../widgets.js";
import type { Arrows } from "./arrows.js";
import type { TimelineData } from "./data.js";

const MOST_NEIGHBOURS = 8;
const MOST_TENSORS = 12;

interface Props {
  data: TimelineData;
  path: string; // of the run, for command lines
  task: number;
  arrows: Arrows | null;
  edgesError: string;
  onSelect: (task: number) => void;
  onClose: () => void;
}

export function Details({ data, path, task, arrows, edgesError, onSelect, onClose }: Props) {
  const { model } = data;
  const { edges } = model;
  const id = model.idText(task);
  const run = model.key;
  const begin = model.beginOf(task);
  const ready = model.readyOf(task);
  const flags = model.flagsOf(task);
  const isUnfinished = (flags & UNFINISHED) !== 0;
  const beganBefore = (flags & BEGAN_BEFORE) !== 0;
  const endedLater = (flags & ENDED_LATER) !== 0;
  const kernel = model.kernelOf(task);
  return (
    <section class="details" aria-label={`Task ${id}`}>
      <header>
        <h2>Task {id}</h2>
        <button type="button" class="button quiet" title="Undo the selection (Esc)" onClick={onClose}>
          Close
        </button>
      </header>
      <p class="details-kernel">
        <Swatch colour={kernelColour(model.kernels[model.partKernel[model.firstPart[task]]] ?? kernel)}>{kernel}</Swatch>
      </p>
      <nav class="details-links" aria-label={`Views of task ${id}`}>
        <a class="button" href={linkTo("task", { run, task: id })}>
          Task
        </a>
        <a class="button" href={linkTo("graph", { run, task: id })}>
          Graph
        </a>
      </nav>
      <Facts
        rows={[
          ["Core", partsOf(data, task).map((part) => model.cores[model.partCore[part]]?.name ?? "?").join(", ") || UNKNOWN_TEXT],
          ["Ran", isUnfinished ? "had not ended" : formatLength(model.endOf(task) - begin, beganBefore || endedLater)],
          ["Begin", `${formatNs(begin)}${beganBefore ? " or before" : ""}`],
          ["End", isUnfinished ? UNKNOWN_TEXT : `${formatNs(model.endOf(task))}${endedLater ? " or later" : ""}`],
          edges && ["Submitted", formatNs(edges.submitted[task])],
          edges && ["Ready", formatNs(ready)],
          edges && ["Waited", Number.isNaN(ready) ? UNKNOWN_TEXT : `${beganBefore ? "at most " : ""}${formatNs(Math.max(0, begin - ready))} while ready`],
          edges && ["Scope", edges.scopes[edges.scope[task]] || UNKNOWN_TEXT],
          edges && ["Line", edges.lines[edges.line[task]] || UNKNOWN_TEXT],
        ]}
      />
      {edges ? (
        <>
          <Neighbours title="Waited for" tasks={edges.waitsFor(task)} kinds={kindsOf(data, task)} data={data} onSelect={onSelect} />
          <Neighbours title="Waited by" tasks={edges.waitedBy(task)} data={data} onSelect={onSelect} />
        </>
      ) : (
        <Note>{edgesError ? `Dependencies are not known: ${edgesError}` : "Loading dependencies…"}</Note>
      )}
      {arrows?.isCut && <Note>Not all arrows are drawn: there are more than can be told apart.</Note>}
      <Tensors run={run} task={id} />
      <h3>The same in a terminal</h3>
      <Command text={`taskglass view ${shellWord(path)} --task ${id}`} />
    </section>
  );
}

function partsOf({ model }: TimelineData, task: number): number[] {
  if (task >= model.timed) return [];
  return Array.from({ length: model.firstPart[task + 1] - model.firstPart[task] }, (_, i) => model.firstPart[task] + i);
}

function kindsOf({ model }: TimelineData, task: number): string[] {
  const { edges } = model;
  return edges ? Array.from(edges.kind.subarray(edges.first[task], edges.first[task + 1]), (kind) => EDGE_KINDS[kind] ?? "?") : [];
}

function Neighbours(props: { title: string; tasks: Uint32Array; kinds?: string[]; data: TimelineData; onSelect: (task: number) => void }) {
  const { model } = props.data;
  return (
    <>
      <h3>
        {props.title} {plural(props.tasks.length, "task")}
      </h3>
      {props.tasks.length > 0 && (
        <ul class="details-tasks">
          {Array.from(props.tasks.subarray(0, MOST_NEIGHBOURS), (task, index) => (
            <li key={index}>
              <button type="button" class="link" onClick={() => props.onSelect(task)}>
                {model.idText(task)}
              </button>{" "}
              {model.kernelOf(task)} {props.kinds && <span class="faint">{props.kinds[index]}</span>}
            </li>
          ))}
          {props.tasks.length > MOST_NEIGHBOURS && <li class="faint">and {plural(props.tasks.length - MOST_NEIGHBOURS, "other task", "others")}</li>}
        </ul>
      )}
    </>
  );
}

/** The tensors of the task, as far as they were recorded. */
function Tensors({ run, task }: { run: string; task: string }) {
  const info = useAsk<TaskInfo>("task", { run, task });
  if (!info.value) return info.error ? <Note>{info.error}</Note> : null;
  const tensors = info.value.records.filter((record) => record.kind === "tensor");
  return (
    <>
      <h3>{plural(tensors.length, "record")} of tensors</h3>
      {tensors.length > 0 && (
        <ul class="details-tasks">
          {tensors.slice(0, MOST_TENSORS).map((record) => (
            <li key={record.index}>
              <a href={linkTo("tensor", { run, task, record: record.index })}>
                {record.stage} {record.role} {record.arg}
              </a>{" "}
              <span class="faint">
                {record.dtype} [{record.shape.join(", ")}] {record.name}
              </span>
            </li>
          ))}
          {tensors.length > MOST_TENSORS && <li class="faint">and {tensors.length - MOST_TENSORS} more, in the view of the task</li>}
        </ul>
      )}
    </>
  );
}
