// SPDX-License-Identifier: Apache-2.0
// When a task was submitted, was ready, began and ended, and what it waited for between these.
import type { RunInfo, TaskInfo } from "../api.js";
import { formatNs } from "../format.js";
import { BEGAN_BEFORE, ENDED_LATER, type Edges, type RunModel } from "../model.js";
import { linkTo } from "../route.js";
import { Note, Panel } from "../widgets.js";

export interface WaitTimes {
  submitted: number | null;
  ready: number | null; // all that it waited for had ended
  last: { id: string; kernel: string } | null; // what ended last of it
  begin: number | null;
  end: number | null;
  /** `begin` is when it had begun at the latest; `end` is when it had not ended yet. */
  beganBefore?: boolean;
  endedLater?: boolean;
}

const known = (time: number) => (Number.isFinite(time) ? time : null);

/** `isBuiltBefore`: the host built the graph before the run began, so every task had been submitted at 0. */
export function waitTimes(info: TaskInfo, model: RunModel | null, edges: Edges | null, isBuiltBefore: boolean): WaitTimes {
  const times: WaitTimes = { submitted: info.submitted_ns, ready: null, last: null, begin: info.begin_ns, end: info.end_ns, beganBefore: (info.flags & BEGAN_BEFORE) !== 0, endedLater: (info.flags & ENDED_LATER) !== 0 };
  const task = model ? model.find(info.id) : -1;
  if (!model || !edges || task < 0) return times;
  const isKnown = isBuiltBefore || times.submitted !== null;
  times.ready = isKnown ? known(model.readyOf(task)) : null;
  let latest = -Infinity;
  for (const before of edges.waitsFor(task)) {
    const end = model.endOf(before);
    if (end > latest) {
      latest = end;
      times.last = { id: model.idText(before), kernel: model.kernelOf(before) };
    }
  }
  if (times.submitted !== null && latest <= times.submitted) times.last = null;
  return times;
}

interface Phase {
  name: string;
  from: number;
  to: number;
}

/** The phases whose ends are known, in order; a bound is no end. A ready time behind the begin is one of a clock that is not exact. */
export function phasesOf(times: WaitTimes): Phase[] {
  const { submitted, begin, end } = times;
  const ready = times.ready !== null && begin !== null ? Math.min(times.ready, begin) : times.ready;
  const phases: Phase[] = [];
  const add = (name: string, from: number | null, to: number | null) => {
    if (from !== null && to !== null && to >= from) phases.push({ name, from, to });
  };
  add("waits", submitted, ready);
  if (times.beganBefore) return phases;
  if (ready === null) add("unknown", submitted, begin);
  else add("ready", ready, begin);
  if (!times.endedLater) add("runs", begin, end);
  return phases;
}

const PHASE_TEXT: Record<string, string> = { waits: "waits for others", unknown: "waits for others or for a core", ready: "ready, waits for a core", runs: "runs" };

export function Waits(props: { info: TaskInfo; model: RunModel | null; edges: Edges | null; run: RunInfo }) {
  const isBuiltBefore = props.run.run_json?.runtime === "host_build_graph";
  const times = waitTimes(props.info, props.model, props.edges, isBuiltBefore);
  const phases = phasesOf(times);
  const rows: [string, number | null, string?][] = [
    ["Submitted", times.submitted],
    ["Ready", times.ready],
    ["Began", times.begin, times.beganBefore ? " or before" : ""],
    ["Ended", times.end, times.endedLater ? " or later" : ""],
  ];
  return (
    <Panel title="Waits">
      {phases.some((phase) => phase.to > phase.from) && <Bar phases={phases} />}
      <dl class="facts">
        {rows.map(([name, time, bound]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {time === null ? (name === "Submitted" && isBuiltBefore ? "before the run began" : "not known") : `${formatNs(time)}${bound ?? ""}`}
              {name === "Ready" && times.last && (
                <span class="in-text">
                  , when <a href={linkTo("task", { run: props.run.key, task: times.last.id })}>task {times.last.id}</a> {times.last.kernel} had ended
                </span>
              )}
            </dd>
          </div>
        ))}
      </dl>
      {times.ready === null && <Note>When it was ready follows from the graph and from when it was submitted; one of these is not known.</Note>}
    </Panel>
  );
}

function Bar({ phases }: { phases: Phase[] }) {
  const from = phases[0].from;
  const span = Math.max(phases[phases.length - 1].to - from, 1);
  const text = phases.map((phase) => `${PHASE_TEXT[phase.name]} ${formatNs(phase.to - phase.from)}`).join(", ");
  return (
    <figure class="waits">
      <svg viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label={text}>
        {phases.map((phase) => (
          <rect key={phase.name} class={`phase-${phase.name}`} x={(1000 * (phase.from - from)) / span} width={Math.max((1000 * (phase.to - phase.from)) / span, 2)} y={0} height={10}>
            <title>{`${PHASE_TEXT[phase.name]}: ${formatNs(phase.to - phase.from)}`}</title>
          </rect>
        ))}
      </svg>
      <figcaption>
        {phases.map((phase) => (
          <span key={phase.name} class="phase">
            <i class={`phase-${phase.name}`} aria-hidden="true" />
            {PHASE_TEXT[phase.name]} <b>{formatNs(phase.to - phase.from)}</b>
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
