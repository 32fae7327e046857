// SPDX-License-Identifier: Apache-2.0
// Beside the picture: what is selected, the path between two tasks, races, the legend.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { formatBytes, formatNs, plural } from "../format.js";
import { EDGE_KINDS, type RunModel } from "../model.js";
import { linkTo, note } from "../route.js";
import { ErrorLine, Facts as FactList, Loading, Note, Panel, Segmented, Swatch } from "../widgets.js";
import type { Legend } from "./colours.js";
import { type Facts, kernelName, scopeName } from "./facts.js";
import type { Paths } from "./paths.js";
import type { Race, Races } from "./races.js";
import { KIND_MASK_OTHER, type Scene, type SceneNode } from "./scene.js";
import { CLEARED, type GraphState, type Parameters, selectionParameters } from "./state.js";
import { kindsText, timeText } from "./words.js";

/** Goes to another picture of the same run. */
export type GoTo = (parameters: Parameters) => void;

export function TaskPanel(props: { model: RunModel; facts: Facts; task: number; parameters: Record<string, string>; goTo: GoTo }) {
  const { model, facts, task, parameters, goTo } = props;
  const id = model.idText(task);
  const run = model.key;
  const scope = scopeName(facts, task);
  const edges = facts.edges;
  const { from } = parameters;
  return (
    <Panel title={`Task ${id}`}>
      <FactList
        rows={[
          ["Kernel", kernelName(facts, task)],
          ["Time", Number.isNaN(facts.time[task]) ? "not known" : formatNs(facts.time[task])],
          ["Begins at", formatNs(model.beginOf(task))],
          ["Core", facts.core[task] >= 0 ? model.cores[facts.core[task]].name : facts.core[task] === -2 ? "several" : "not known"],
          ["Waits for", edges ? plural(edges.waitsFor(task).length, "task") : "not known"],
          ["Waited by", edges ? plural(edges.waitedBy(task).length, "task") : "not known"],
          scope !== "" && ["Scope", scope],
        ]}
      />
      <p class="graph-actions">
        <a class="button primary" href={linkTo("task", { run, task: id })}>
          Task
        </a>
        <a class="button" href={linkTo("timeline", { run, task: id })}>
          Timeline
        </a>
        <button type="button" class="button" onClick={() => goTo({ ...CLEARED, show: "near", task: id })}>
          Neighbours
        </button>
        {from === undefined || from === id ? (
          <button type="button" class="button" aria-pressed={from === id} onClick={() => note({ from: from === id ? undefined : id, to: undefined })}>
            Path from here
          </button>
        ) : (
          <button type="button" class="button" onClick={() => goTo({ ...CLEARED, from, to: id, task: id })}>
            Path from {from} to here
          </button>
        )}
      </p>
    </Panel>
  );
}

export function GroupPanel(props: { model: RunModel; node: SceneNode; onOpen: (node: SceneNode) => void }) {
  const { node, model } = props;
  const title = node.kind === "outside" ? `Outside: ${node.label}` : node.part ? `Tasks ${node.label}` : node.label;
  return (
    <Panel title={title}>
      <FactList
        rows={[
          ["Tasks", node.tasks.toLocaleString("en")],
          ["Time", timeText(node)],
          node.kernel !== null && ["Kernel", node.kernel],
          node.scope !== null && ["Scope", node.scope || "not known"],
          node.inside > 0 && ["Inside", plural(node.inside, "edge")],
        ]}
      />
      <p class="graph-actions">
        <button type="button" class="button primary" onClick={() => props.onOpen(node)}>
          Open
        </button>
        {(node.kernel ?? node.scope) && (
          <a class="button" href={linkTo("timeline", { run: model.key, find: node.kernel ?? node.scope ?? "" })}>
            Timeline
          </a>
        )}
      </p>
    </Panel>
  );
}

function timeOf(facts: Facts, path: readonly number[]): string {
  const sum = path.reduce((all, task) => all + facts.time[task], 0);
  return Number.isNaN(sum) ? "times not all known" : `${formatNs(sum)} of tasks`;
}

export function PathPanel(props: { model: RunModel; facts: Facts; paths: Paths; from: string; to: string; mark: GraphState["mark"]; goTo: GoTo }) {
  const { facts, paths, model } = props;
  const [first, second] = paths.isTurned ? [props.to, props.from] : [props.from, props.to];
  const isFound = paths.shortest.length > 0;
  return (
    <Panel title={`Path between ${props.from} and ${props.to}`}>
      {isFound ? (
        <>
          <p>
            {paths.cycle
              ? "The edges between these tasks form a cycle: no order of the tasks agrees with all of them. "
              : `Task ${first} comes before task ${second}. `}
            {plural(paths.between, "task")} lie on the paths between them, both included.
          </p>
          <FactList
            rows={[
              ["Shortest", `${plural(paths.shortest.length - 1, "step")}, ${timeOf(facts, paths.shortest)}`],
              ["Longest", paths.cycle ? "there is none: the edges form a cycle" : `${plural(paths.longest.length - 1, "step")}, ${timeOf(facts, paths.longest)}`],
            ]}
          />
          {!paths.cycle && (
            <Segmented
              label="The path that is drawn strongly"
              value={props.mark}
              choices={[
                { value: "shortest", text: "Shortest" },
                { value: "longest", text: "Longest" },
              ]}
              onChange={(mark) => note({ mark: mark === "shortest" ? undefined : mark })}
            />
          )}
          <PathSteps model={model} facts={facts} path={props.mark === "longest" && !paths.cycle ? paths.longest : paths.shortest} />
        </>
      ) : (
        <p>
          <strong>No path.</strong>{" "}
          {facts.edges
            ? "The edges do not order these tasks: they may run at the same time, or in any order."
            : "The edges of this run are not known, so nothing can be said about their order."}
        </p>
      )}
      <p class="graph-actions">
        <button type="button" class="button" onClick={() => props.goTo(CLEARED)}>
          Leave the path
        </button>
      </p>
    </Panel>
  );
}

const MOST_STEPS = 40;

function PathSteps({ model, facts, path }: { model: RunModel; facts: Facts; path: readonly number[] }) {
  return (
    <ol class="graph-steps">
      {path.slice(0, MOST_STEPS).map((task) => (
        <li key={task}>
          <a href={linkTo("task", { run: model.key, task: model.idText(task) })}>{model.idText(task)}</a> {kernelName(facts, task)}{" "}
          <span class="faint">{formatNs(facts.time[task])}</span>
        </li>
      ))}
      {path.length > MOST_STEPS && <li class="faint">{path.length - MOST_STEPS} more</li>}
    </ol>
  );
}

function RaceLine({ race, model, goTo }: { race: Race; model: RunModel; goTo: GoTo }) {
  const name = ({ id, task, kernel }: Race["first"]) => `${task >= 0 ? model.idText(task) : id} ${kernel}`;
  const canShow = race.first.task >= 0 && race.second.task >= 0;
  return (
    <li>
      {name(race.first)} and {name(race.second)}: {race.bytes === null ? "some bytes" : formatBytes(race.bytes)} shared
      {race.pairs > 1 && `, and ${plural(race.pairs - 1, "more pair")} like it`}{" "}
      {canShow && (
        <button
          type="button"
          class="button"
          onClick={() => goTo({ ...CLEARED, races: "1", from: model.idText(race.first.task), to: model.idText(race.second.task) })}
        >
          Show
        </button>
      )}
    </li>
  );
}

export function RacesPanel(props: { races: Races | null; error: string; isWorking: boolean; model: RunModel; goTo: GoTo }) {
  const { races } = props;
  return (
    <Panel title="Missing edges">
      {props.isWorking && <Loading>Looking for races</Loading>}
      {props.error && <ErrorLine>{props.error}</ErrorLine>}
      {races && races.races.length === 0 && (
        <p>
          {races.result === "not known" ? `Not known: ${races.reason}` : races.isProof ? "There is none: all tasks that share bytes are in order." : `No race: ${races.result}.`}
        </p>
      )}
      {races && races.races.length > 0 && (
        <ul class="graph-races">
          {races.races.slice(0, 50).map((race, i) => (
            <RaceLine key={i} race={race} model={props.model} goTo={props.goTo} />
          ))}
        </ul>
      )}
      {races && races.races.length > 50 && <Note>{plural(races.races.length - 50, "more group")} in the view Questions.</Note>}
      {races?.leftOut.map((text) => <Note key={text}>{text}</Note>)}
      {races && races.races.length > 0 && (
        <p>
          <a href={linkTo("questions", { run: props.model.key, verb: "find", what: "race", ask: "1" })}>What to add to the code</a>
        </p>
      )}
    </Panel>
  );
}

export function LegendPanel({ legend, scene, hasRaces }: { legend: Legend; scene: Scene; hasRaces: boolean }) {
  const [isAll, setAll] = useState(false);
  const entries = isAll ? legend.entries : legend.entries.slice(0, 12);
  const kinds = new Set<number>();
  for (const edge of scene.edges) {
    const single = EDGE_KINDS.findIndex((_, kind) => edge.kinds === 1 << kind);
    kinds.add(single < 0 ? KIND_MASK_OTHER : single);
  }
  const lines: ComponentChildren[] = [...kinds].sort().map((kind) => {
    const name = kind === KIND_MASK_OTHER ? "several" : EDGE_KINDS[kind];
    return (
      <li key={name}>
        <svg class="graph-sample" width="34" height="8" aria-hidden="true">
          <path class={`graph-edge ${name}`} d="M1 4H33" stroke-width="2" />
        </svg>
        {kind === KIND_MASK_OTHER ? "several kinds, or not known" : kindsText(1 << kind)}
      </li>
    );
  });
  return (
    <Panel title={legend.title}>
      {legend.ramp && (
        <p class="graph-ramp">
          {legend.ramp.from}
          <span style={{ background: `linear-gradient(to right, ${legend.ramp.stops.join(", ")})` }} />
          {legend.ramp.to}
        </p>
      )}
      <ul class="graph-legend">
        {entries.map(({ colour, text }) => (
          <li key={text}>
            <Swatch colour={colour}>{text}</Swatch>
          </li>
        ))}
        {legend.blank.length > 0 && (
          <li>
            <span class="graph-blank" aria-hidden="true" />
            {legend.blank.join(", ")}
          </li>
        )}
        {lines}
        {hasRaces && (
          <li>
            <svg class="graph-sample" width="34" height="8" aria-hidden="true">
              <path class="graph-race" d="M1 4H33" />
            </svg>
            missing edge
          </li>
        )}
      </ul>
      {legend.entries.length > entries.length && (
        <button type="button" class="button quiet" onClick={() => setAll(true)}>
          {legend.entries.length - entries.length} more
        </button>
      )}
    </Panel>
  );
}

/** Two ids, typed. */
export function PathForm({ model, parameters, goTo }: { model: RunModel; parameters: Record<string, string>; goTo: GoTo }) {
  const [from, setFrom] = useState(parameters.from ?? parameters.task ?? "");
  const [to, setTo] = useState(parameters.to ?? "");
  const [error, setError] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    const missing = [from, to].find((id) => model.find(id) < 0);
    setError(missing === undefined ? "" : missing ? `There is no task ${missing}.` : "Both tasks must be given.");
    if (missing === undefined) goTo({ ...CLEARED, ...selectionParameters({}), from: model.idText(model.find(from)), to: model.idText(model.find(to)) });
  };
  return (
    <form class="graph-path-form" onSubmit={submit}>
      <label>
        from task <input type="text" size={7} value={from} onInput={(event) => setFrom(event.currentTarget.value)} />
      </label>
      <label>
        to <input type="text" size={7} value={to} onInput={(event) => setTo(event.currentTarget.value)} />
      </label>
      <button type="submit" class="button">
        Show path
      </button>
      {error && <ErrorLine>{error}</ErrorLine>}
    </form>
  );
}

