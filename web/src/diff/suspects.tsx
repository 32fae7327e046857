// SPDX-License-Identifier: Apache-2.0
// Who is to blame: the suspects, and the way of an error over the graph.
import { useState } from "preact/hooks";
import { formatCount, plural } from "../format.js";
import { linkTo } from "../route.js";
import { Badge, Note, Panel } from "../widgets.js";
import {
  type DiffPair,
  type Report,
  type Suspect,
  TELLS_WHAT_WAS_GIVEN,
  errorBar,
  errorText,
  givenText,
  graphText,
  guiltText,
  pairKey,
  pairOfSuspect,
  pairOfTask,
  shownSteps,
  taskId,
  taskName,
  ulpText,
} from "./report.js";

export interface Runs {
  a: string;
  b: string;
}

const FIRST = 5;

export function Suspects({ report, runs, chosen }: { report: Report; runs: Runs; chosen: number }) {
  const [all, setAll] = useState(false);
  const blame = report.blame;
  if (!blame || (blame.suspects.length === 0 && blame.wrong === 0 && !blame.unknown)) return null;
  const shown = all ? blame.suspects : blame.suspects.slice(0, Math.max(FIRST, chosen + 1));
  return (
    <Panel title="Suspects" actions={<span class="faint">{plural(blame.suspects.length, "task")}</span>}>
      {blame.suspects.length === 0 && <p>It is not known which task began it{blame.unknown ? `: ${blame.unknown}` : "."}</p>}
      <ol class="suspects">
        {shown.map((suspect, i) => (
          <li key={i}>
            <a class="suspect" href={suspectLink(runs, suspect, i)} aria-current={i === chosen ? "true" : undefined}>
              <span class="suspect-name">
                {taskName(suspect)} <Badge tone="bad">{suspect.guilt}</Badge>
              </span>
              <span>{guiltText(suspect, report.noise_runs)}</span>
              <span class="faint">
                {suspect.error === null ? "error not finite, or not known" : `relative error ${errorText(suspect.error)}`}
                {suspect.max_ulp !== null && `, ${ulpText(suspect.max_ulp)}`}
                {suspect.path_length > 1 && `, reached ${plural(suspect.path_length - 1, "task")} on the way to a result`}
              </span>
            </a>
          </li>
        ))}
      </ol>
      {shown.length < blame.suspects.length && (
        <button type="button" class="button" onClick={() => setAll(true)}>
          Show all {formatCount(blame.suspects.length)}
        </button>
      )}
      <Note>
        {plural(blame.wrong, "task")} with outputs beyond the tolerance, {formatCount(blame.inherited)} of them inherited; {graphText(blame.graph)}.
      </Note>
    </Panel>
  );
}

function suspectLink(runs: Runs, suspect: Suspect, place: number): string {
  return linkTo("diff", { run: runs.a, other: runs.b, suspect: place, pair: pairKey(suspect) });
}

/** What the suspect was given on each side, where that is the difference. */
export function GivenParts({ suspect }: { suspect: Suspect }) {
  if (!TELLS_WHAT_WAS_GIVEN.includes(suspect.guilt)) return null;
  return (
    <dl class="facts given">
      <div>
        <dt>A was given</dt>
        <dd>{givenText(suspect.given_a)}</dd>
      </div>
      <div>
        <dt>B was given</dt>
        <dd>{givenText(suspect.given_b)}</dd>
      </div>
    </dl>
  );
}

// --- the path -------------------------------------------------------------------------------------

export function Path(props: { suspect: Suspect; place: number; pairs: readonly DiffPair[]; runs: Runs; here: DiffPair | undefined }) {
  const { suspect, place, pairs, runs, here } = props;
  const [all, setAll] = useState(false);
  if (suspect.path.length < 2) return null;
  const steps = shownSteps(suspect.path, suspect.path_length, all);
  const hidden = steps.reduce((sum, step) => sum + step.hidden, 0);
  const graph = linkTo("graph", { run: runs.a, other: runs.b, colour: "blame", task: taskId(suspect.task_a) });
  return (
    <Panel
      title="How the error spread"
      level={3}
      actions={
        <a class="button" href={graph}>
          Show in the graph
        </a>
      }
    >
      <ol class="path">
        {steps.map(({ step, place: at, leaves, hidden: before }) => {
          const pair = at === 0 ? pairOfSuspect(pairs, suspect) : pairOfTask(pairs, step);
          const isHere = !!here && here.task_a === step.task_a && here.task_b === step.task_b;
          return (
            <li key={at}>
              {before > 0 && <p class="path-hidden faint">… {plural(before, "task")} …</p>}
              <div class={`path-step ${isHere ? "here" : ""}`}>
                {pair ? (
                  <a href={linkTo("diff", { run: runs.a, other: runs.b, suspect: place, pair: pairKey(pair) })} aria-current={isHere ? "true" : undefined}>
                    {taskName(step)}
                  </a>
                ) : (
                  <span>{taskName(step)}</span>
                )}
                <ErrorBar share={errorBar(step, suspect.path)} isBeyond={step.beyond} />
                <span class="path-error mono">
                  {errorText(step.error)}
                  {step.max_ulp !== null && <span class="faint"> {ulpText(step.max_ulp)}</span>}
                </span>
                {leaves && <Badge tone="bad">leaves the tolerance</Badge>}
              </div>
            </li>
          );
        })}
      </ol>
      {(hidden > 0 || all) && suspect.path.length > steps.length - hidden && (
        <button type="button" class="button" onClick={() => setAll(!all)}>
          {all ? "Show less" : `Show all ${formatCount(suspect.path.length)}`}
        </button>
      )}
      <Note>Relative errors, bars on a logarithmic scale. A pale bar is within the tolerance.</Note>
    </Panel>
  );
}

function ErrorBar({ share, isBeyond }: { share: number; isBeyond: boolean }) {
  return (
    <svg class={`error-bar ${isBeyond ? "beyond" : ""}`} viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect x={0} y={0} height={6} width={100 * Math.min(Math.max(share, 0), 1)} />
    </svg>
  );
}
