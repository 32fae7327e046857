// SPDX-License-Identifier: Apache-2.0
// The strip of a run that goes on: how far it is, what its cores do, and why nothing finishes.
import { useEffect, useState } from "preact/hooks";
import { type RunInfo, ask } from "./api.js";
import { formatBytes, formatCount, formatSeconds, plural, shellWord } from "./format.js";
import type { Live, LiveAnswer } from "./live.js";
import { idText, parseId } from "./model.js";
import { linkTo } from "./route.js";
import { Badge, Command, ErrorLine, Progress } from "./widgets.js";

const MOST_STEPS = 30; // of a chain of waits
const QUIET_SECONDS = 2; // without a finished task: offer the explanation

export function LiveStrip({ run, live }: { run: RunInfo; live: Live }) {
  const [why, setWhy] = useState(false);
  const answer = live.answer;
  if (live.ended) return null;
  const tasks = answer?.tasks;
  const share = tasks && tasks.total ? tasks.finished / tasks.total : null;
  const idle = answer?.idle_seconds ?? 0;
  const lost = answer?.recorder ? answer.recorder.lost.full + answer.recorder.lost.gave_up : 0;
  return (
    <section class="strip live" aria-label="The run goes on">
      <div class="live-line">
        <Badge tone="accent">{answer?.phase ?? "live"}</Badge>
        <Progress label="Tasks finished" value={answer ? share : null} />
        {tasks && (
          <span>
            {formatCount(tasks.finished)} of {tasks.total === null ? `${formatCount(tasks.submitted)} submitted` : formatCount(tasks.total)}
          </span>
        )}
        {live.rate !== null && <span>{formatCount(Math.round(live.rate))}/s</span>}
        <span>{formatSeconds(answer?.elapsed)}</span>
        {answer?.recorder && <span>{formatCount(answer.recorder.records)} records, {formatBytes(answer.recorder.bytes_written)}</span>}
        {lost > 0 && <Badge tone="warn">{formatCount(lost)} lost</Badge>}
        {idle >= QUIET_SECONDS && (
          <Badge tone="warn">
            nothing finished for {formatSeconds(idle)}
            {answer?.hang_seconds ? ` of ${formatSeconds(answer.hang_seconds)}` : ""}
          </Badge>
        )}
        <button type="button" class="button" aria-expanded={why} onClick={() => setWhy(!why)}>
          {why ? "Hide explanation" : "Why does it wait?"}
        </button>
      </div>
      {live.error && <ErrorLine>{live.error}</ErrorLine>}
      {answer && <LiveDetails answer={answer} run={run.key} />}
      {why && <Explanation run={run.key} path={run.path} />}
    </section>
  );
}

const taskText = (id: string) => {
  const number = parseId(id);
  return number === null ? id : idText(number);
};

function TaskLink({ run, id }: { run: string; id: string }) {
  return <a href={linkTo("task", { run, task: taskText(id) })}>{taskText(id)}</a>;
}

function LiveDetails({ answer, run }: { answer: LiveAnswer; run: string }) {
  const cores = answer.cores ?? [];
  const busy = cores.filter((core) => core.task !== null).length;
  const shown = cores.slice(0, 96);
  return (
    <details class="live-details">
      <summary>
        {busy} of {cores.length} cores busy
        {answer.waiting !== undefined && `, ${plural(answer.waiting, "task waits", "tasks wait")}`}
        {answer.orchestrator?.waits_for ? `, the orchestrator waits for ${answer.orchestrator.waits_for}` : ""}
      </summary>
      <ul class="live-cores" aria-label="Cores">
        {shown.map((core) => (
          <li key={core.core} class={core.task === null ? "idle" : "busy"}>
            <span class="faint">
              {core.core} {core.kind}
            </span>{" "}
            {core.task === null ? (
              "idle"
            ) : (
              <>
                <TaskLink run={run} id={core.task} /> {core.kernel}
              </>
            )}
          </li>
        ))}
      </ul>
      {cores.length > shown.length && <p class="faint">and {cores.length - shown.length} more cores</p>}
      {!!answer.rings?.length && !answer.rings_old && (
        <ul class="live-rings" aria-label="Rings">
          {answer.rings.map((ring, number) => (
            <li key={number}>
              <span class="faint">ring {number}</span> {formatCount(ring.task_window_used)} of {formatCount(ring.task_window)} slots,{" "}
              {formatBytes(ring.heap_used)} of {formatBytes(ring.heap)} heap
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}

interface ExplainAnswer {
  root?: { kind?: string; text?: string | null };
  chain?: unknown[];
  cores?: unknown[];
  also?: unknown[];
  not_known?: unknown[];
}

const objectOf = (value: unknown): Record<string, unknown> =>
  value !== null && typeof value === "object" ? (value as Record<string, unknown>) : {};

/** A step of the chain, with a link to its task. */
function Step({ run, step }: { run: string; step: unknown }) {
  const { text, task_id: id } = objectOf(step);
  return (
    <li>
      {typeof text === "string" ? text : String(step)} {typeof id === "string" && <TaskLink run={run} id={id} />}
    </li>
  );
}

/** Where the code of a core is, if the run could find out: "hangs_spin, kernels.c:16". */
function siteOf(core: unknown): string {
  const { core: number, kernel, site } = objectOf(core);
  const { file, line, function: name } = objectOf(site);
  if (typeof file !== "string") return "";
  const where = `${file}${typeof line === "number" ? `:${line}` : ""}`;
  return `core ${String(number)} (${String(kernel ?? "?")}) is at ${typeof name === "string" ? `${name}, ` : ""}${where}`;
}

/** Asks the run why nothing finishes, every two seconds; the run goes on. */
function Explanation({ run, path }: { run: string; path: string }) {
  const [state, setState] = useState<{ answer: ExplainAnswer | null; error: string }>({ answer: null, error: "" });
  useEffect(() => {
    let timer = 0;
    let gone = false;
    const load = async () => {
      try {
        const answer = await ask<ExplainAnswer>("explain", { run });
        if (!gone) setState({ answer, error: "" });
      } catch (error) {
        if (!gone) setState({ answer: null, error: error instanceof Error ? error.message : String(error) });
      }
      if (!gone) timer = window.setTimeout(load, 2000);
    };
    void load();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [run]);
  const { answer, error } = state;
  if (error) return <ErrorLine>{error}</ErrorLine>;
  if (!answer) return <p class="loading">Asking the run…</p>;
  return (
    <div class="explanation" aria-live="polite">
      <p>
        <strong>{answer.root?.text ?? "Nothing keeps the run from going on."}</strong>
      </p>
      {!!answer.chain?.length && (
        <ol>
          {answer.chain.slice(0, MOST_STEPS).map((step, index) => (
            <Step key={index} run={run} step={step} />
          ))}
        </ol>
      )}
      {(answer.chain?.length ?? 0) > MOST_STEPS && <p class="faint">and {(answer.chain?.length ?? 0) - MOST_STEPS} more steps</p>}
      {[...(answer.cores ?? []).map(siteOf), ...(answer.also ?? []).map(String)].filter(Boolean).map((text) => (
        <p key={text}>{text}</p>
      ))}
      {!!answer.not_known?.length && <p class="faint">Not known: {answer.not_known.map(String).join("; ")}</p>}
      <Command text={`taskglass explain ${shellWord(path)}`} />
    </div>
  );
}
