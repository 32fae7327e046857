// SPDX-License-Identifier: Apache-2.0
// The view Graph: which task waited for which. graph/state.ts has what the address says about it.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RunInfo } from "../api.js";
import { useDiffJob } from "../diff/job.js";
import type { Report } from "../diff/report.js";
import { plural } from "../format.js";
import { type Verdicts, readVerdicts } from "../graph/blame.js";
import { COLOURINGS, type Colouring, paintNodes } from "../graph/colours.js";
import type { MissingEdge } from "../graph/drawing.js";
import type { Facts } from "../graph/facts.js";
import "../graph/graph.css";
import { type Level, MOST_TASKS } from "../graph/grouping.js";
import { GroupPanel, LegendPanel, PathForm, PathPanel, RacesPanel, TaskPanel } from "../graph/panel.js";
import { Picture } from "../graph/picture.js";
import { type Races, readRaces } from "../graph/races.js";
import type { SceneNode } from "../graph/scene.js";
import { isAll, stepsTo } from "../graph/selection.js";
import { CLEARED, type GraphState, type Parameters, readState, selectionParameters } from "../graph/state.js";
import { SceneTable } from "../graph/table.js";
import { type Shown, useFacts, useShown } from "../graph/use.js";
import { useEdges, useModel, useThemeChange } from "../hooks.js";
import type { RunModel } from "../model.js";
import { registerKernels, themeTokens } from "../palette.js";
import { outcomeOf, useQuestion } from "../questions/job.js";
import { go, linkTo, note } from "../route.js";
import { EmptyState, ErrorLine, Loading, Note, Segmented } from "../widgets.js";
import type { View, ViewProps } from "./view.js";

function Graph({ route, run, generation }: ViewProps) {
  const model = useModel(run?.key, generation);
  const edges = useEdges(model.value);
  // The edges of a large run take a while: until then its kernels are shown.
  const isLate = useLate(edges.busy);
  const isReady = model.value !== null && (!edges.busy || isLate);
  const facts = useFacts(model.value, edges.value, isReady);
  const drawn = useRef<{ model: RunModel; facts: Facts; edgesNote: string } | null>(null);
  if (!run) return <Loading>Reading the tasks</Loading>;
  // A run that has grown is read again; until then its last picture stays.
  const last = drawn.current?.model.key === run.key ? drawn.current : null;
  const keep = (what: string) => (last ? <Drawn parameters={route.parameters} run={run} {...last} /> : <Loading>{what}</Loading>);
  if (model.error && !last) return <EmptyState title="This run has no graph">{model.error}</EmptyState>;
  if (!model.value) return keep("Reading the tasks");
  if (edges.busy && !isLate) return keep("Reading the edges");
  if (!facts) return keep("Counting tasks");
  if (facts.tasks === 0) return <EmptyState title="This run has no tasks">There is nothing to draw.</EmptyState>;
  const edgesNote = edges.busy ? "The edges are being read; this shows the tasks alone." : edges.error && `The edges are not known: ${edges.error}`;
  drawn.current = { model: model.value, facts, edgesNote };
  return <Drawn parameters={route.parameters} run={run} {...drawn.current} />;
}

const LATE_MS = 400;

/** True if something has been busy for a while. */
function useLate(isBusy: boolean): boolean {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (!isBusy) {
      setLate(false);
      return undefined;
    }
    const timer = setTimeout(() => setLate(true), LATE_MS);
    return () => clearTimeout(timer);
  }, [isBusy]);
  return isLate && isBusy;
}

interface DrawnProps {
  parameters: Record<string, string>;
  run: RunInfo;
  model: RunModel;
  facts: Facts;
  edgesNote: string; // why there are none; ""
}

/** Which picture the address means. */
function pictureOf(state: GraphState, facts: Facts, task: number, from: number, to: number): Shown["what"] {
  if (from >= 0 && to >= 0) return "path";
  if (task < 0 || state.show === "groups") return "groups";
  return state.show === "near" || (isAll(state.selection) && facts.tasks > MOST_TASKS) ? "near" : "groups";
}

/** The races of the run, if they are wanted. */
function useRaces(model: RunModel, isWanted: boolean) {
  const asked = useQuestion(isWanted ? { verb: "find", what: "race", run: model.key, options: {} } : null, isWanted, model.generation);
  const outcome = outcomeOf(asked);
  const races = useMemo<Races | null>(() => outcome.answer && readRaces(outcome.answer, (id) => model.find(id)), [outcome.answer, model]);
  return { races: isWanted ? races : null, error: outcome.error, isWorking: outcome.isWorking };
}

function useVerdicts(model: RunModel, other: string | undefined): { verdicts: Verdicts | null; error: string; isWorking: boolean } {
  const { job, error } = useDiffJob(other === undefined ? undefined : model.key, other);
  const answer = job?.answer ?? null;
  const verdicts = useMemo(() => answer && readVerdicts(answer as unknown as Report, (id) => model.find(id)), [answer, model]);
  const failed = job && job.state !== "working" && !job.answer ? job.error || job.text : "";
  return { verdicts, error: error || failed, isWorking: other !== undefined && !error && (!job || job.state === "working") };
}

function missingEdges(races: Races | null, shown: Shown): MissingEdge[] {
  return (races?.races ?? []).flatMap(({ first, second }) => {
    const from = first.task < 0 ? -1 : shown.scene.nodeOf(first.task);
    const to = second.task < 0 ? -1 : shown.scene.nodeOf(second.task);
    if (from < 0 || to < 0) return [];
    return [{ from, to, title: `A race: ${first.kernel} and ${second.kernel} share bytes, and nothing orders them` }];
  });
}

/** The edges of the path that is drawn strongly, and of the selected task in other pictures. */
function strongEdges(shown: Shown, mark: GraphState["mark"], selected: number): Set<string> {
  const strong = new Set<string>();
  if (shown.paths) {
    const path = mark === "longest" && !shown.paths.cycle ? shown.paths.longest : shown.paths.shortest;
    for (let i = 1; i < path.length; i++) strong.add(`${shown.scene.nodeOf(path[i - 1])} ${shown.scene.nodeOf(path[i])}`);
  } else if (selected >= 0) {
    for (const { from, to } of shown.scene.edges) if (from === selected || to === selected) strong.add(`${from} ${to}`);
  }
  return strong;
}

const LEVEL_TEXTS: Record<Level, string> = {
  tasks: "Tasks",
  both: "Scope and kernel",
  scope: "Scope",
  kernel: "Kernel",
  parts: "Order",
};

function Drawn({ parameters, run, model, facts, edgesNote }: DrawnProps) {
  const theme = useThemeChange();
  const state = useMemo(() => readState(parameters), [parameters]);
  const idOf = (text: string | undefined) => (text === undefined ? -1 : model.find(text));
  const [task, from, to] = [idOf(parameters.task), idOf(parameters.from), idOf(parameters.to)];
  const what = pictureOf(state, facts, task, from, to);
  const { value: shown, busy } = useShown(facts, model, { state, task, from, to, what });
  const { races, error: racesError, isWorking: racesWorking } = useRaces(model, state.hasRaces);
  const verdict = useVerdicts(model, parameters.other);
  useMemo(() => registerKernels(facts.kernels), [facts]);

  const goTo = (change: Parameters) => go("graph", { ...parameters, ...change });
  const open = (node: SceneNode) => {
    if (node.kind === "task") goTo({ ...CLEARED, show: "near", task: node.label });
    else if (node.kind === "outside") goTo({ ...CLEARED, ...selectionParameters(node.kernel === null ? {} : { kernel: node.kernel }), task: undefined });
    else if (node.key !== "others") {
      const { scope, kernel } = state.selection;
      const inner = { scope: node.scope ?? scope, kernel: node.kernel ?? kernel, part: node.part ?? undefined };
      goTo({ ...CLEARED, ...selectionParameters(inner), task: undefined });
    }
  };
  const select = (node: SceneNode) => note(node.kind === "task" ? { task: node.label, node: undefined, show: what === "near" ? "near" : parameters.show } : { node: node.key });
  const out = () => {
    const grouped = shown?.grouped;
    const steps = stepsTo(state.selection);
    if (what === "path") goTo(CLEARED);
    else if (what === "near") goTo({ ...CLEARED, show: "groups" });
    else if (grouped && grouped.levels.indexOf(grouped.level) + 1 < grouped.levels.length)
      goTo({ by: grouped.levels[grouped.levels.indexOf(grouped.level) + 1], node: undefined });
    else if (steps.length > 1) goTo({ ...CLEARED, ...selectionParameters(steps[steps.length - 2].selection) });
  };

  const scene = shown?.scene;
  const painted = useMemo(
    () => scene && paintNodes(scene, state.colouring, { model, verdicts: verdict.verdicts, tokens: themeTokens() }),
    [scene, state.colouring, model, verdict.verdicts, theme],
  );
  const place = shown && task >= 0 ? shown.scene.nodeOf(task) : -1;
  const selectedNode = scene?.nodes.find((node) => node.key === parameters.node);
  const selectedTask = place >= 0 && scene?.nodes[place].kind === "task" ? place : -1;
  const selected = selectedNode?.key ?? (place >= 0 ? (scene?.nodes[place].key ?? null) : null);
  const strong = useMemo(() => (shown ? strongEdges(shown, state.mark, selectedTask) : new Set<string>()), [shown, state.mark, selectedTask]);
  const missing = useMemo(() => (shown ? missingEdges(races, shown) : []), [races, shown]);

  if (!shown || !scene || !painted) return <Loading>Drawing the graph</Loading>;
  const notes = [...(facts.edges?.notes ?? []), ...scene.notes, ...(verdict.verdicts?.notes ?? [])];
  if (edgesNote) notes.unshift(edgesNote);
  if (run.live) notes.unshift("The run goes on: this is what is recorded so far.");
  if (scene.nodes.length === 0) notes.push("No task of this run is of this scope and this kernel.");
  if (parameters.task !== undefined && task < 0) notes.push(`There is no task ${parameters.task} in this run.`);
  return (
    <div class="graph" aria-busy={busy}>
      <div class="graph-top">
        <Crumbs state={state} shown={shown} model={model} task={task} parameters={parameters} facts={facts} />
        <Tools state={state} shown={shown} parameters={parameters} run={run} verdict={verdict} />
      </div>
      <div class="graph-middle">
        <Picture
          scene={scene}
          colours={painted.nodes}
          selected={selected}
          onPath={strong}
          missing={missing}
          onSelect={select}
          onOpen={open}
          onOut={out}
          label={`Graph: ${plural(scene.nodes.length, "node")} and ${plural(scene.edges.length, "edge")}. Arrow keys follow edges, Enter opens.`}
        />
        <aside class="graph-side" aria-label="About the graph">
          {verdict.error && <ErrorLine>{verdict.error}</ErrorLine>}
          {verdict.isWorking && <Loading>Comparing with {parameters.other}</Loading>}
          {notes.map((text) => (
            <Note key={text}>{text}</Note>
          ))}
          {shown.paths && (
            <PathPanel model={model} facts={facts} paths={shown.paths} from={parameters.from} to={parameters.to} mark={state.mark} goTo={goTo} />
          )}
          {selectedNode && selectedNode.kind !== "task" && <GroupPanel model={model} node={selectedNode} onOpen={open} />}
          {!selectedNode && task >= 0 && <TaskPanel model={model} facts={facts} task={task} parameters={parameters} goTo={goTo} />}
          {state.hasRaces && <RacesPanel races={races} error={racesError} isWorking={racesWorking} model={model} goTo={goTo} />}
          <LegendPanel legend={painted.legend} scene={scene} hasRaces={missing.length > 0} />
          <details class="graph-more">
            <summary>Path between two tasks</summary>
            <PathForm key={`${parameters.from} ${parameters.to} ${parameters.task}`} model={model} parameters={parameters} goTo={goTo} />
          </details>
          <details class="graph-more">
            <summary>The picture as a table</summary>
            <SceneTable scene={scene} colours={painted.nodes} run={model.key} onOpen={open} />
          </details>
        </aside>
      </div>
    </div>
  );
}

/** Where this picture lies among all tasks. */
function Crumbs(props: { state: GraphState; shown: Shown; model: RunModel; task: number; parameters: Record<string, string>; facts: Facts }) {
  const { state, shown, parameters } = props;
  const steps = stepsTo(state.selection);
  const last =
    shown.what === "near"
      ? `around task ${props.model.idText(shown.centre)}`
      : shown.what === "path"
        ? `path ${parameters.from} – ${parameters.to}`
        : null;
  const link = (selection: (typeof steps)[0]["selection"]) =>
    linkTo("graph", { ...parameters, ...CLEARED, ...selectionParameters(selection), show: "groups" });
  return (
    <nav class="graph-crumbs" aria-label="Which tasks">
      <ol>
        {steps.map(({ text, selection }, i) => (
          <li key={text}>
            {i + 1 < steps.length || last ? <a href={link(selection)}>{text}</a> : <span aria-current="location">{text}</span>}
          </li>
        ))}
        {last && (
          <li>
            <span aria-current="location">{last}</span>
          </li>
        )}
      </ol>
      <span class="faint">
        {shown.what === "groups" ? `${plural(shown.grouped?.members ?? 0, "task")}` : `${plural(shown.scene.nodes.length, "task")} shown`}
        {props.facts.edges ? `, ${plural(props.facts.edges.count, "edge")} in all` : ""}
      </span>
    </nav>
  );
}

function Tools(props: {
  state: GraphState;
  shown: Shown;
  parameters: Record<string, string>;
  run: RunInfo;
  verdict: { verdicts: Verdicts | null };
}) {
  const { state, shown, parameters } = props;
  const grouped = shown.grouped;
  const needsOther = (colouring: Colouring) => (colouring === "blame" || colouring === "error") && parameters.other === undefined;
  return (
    <div class="toolbar" role="group" aria-label="Graph">
      {grouped && grouped.levels.length > 1 && (
        <Segmented
          label="Show by"
          value={grouped.level}
          choices={grouped.levels.map((level) => ({ value: level, text: LEVEL_TEXTS[level] }))}
          onChange={(by) => note({ by, node: undefined })}
        />
      )}
      {shown.what === "near" && (
        <>
          <label>
            steps
            <select value={String(state.depth)} onChange={(event) => note({ depth: event.currentTarget.value })}>
              {[1, 2, 3, 4, 5, 6].map((depth) => (
                <option key={depth} value={String(depth)}>
                  {depth}
                </option>
              ))}
            </select>
          </label>
          <Segmented
            label="Direction"
            value={state.direction}
            choices={[
              { value: "before", text: "Before" },
              { value: "both", text: "Both" },
              { value: "after", text: "After" },
            ]}
            onChange={(dir) => note({ dir: dir === "both" ? undefined : dir })}
          />
        </>
      )}
      <label>
        colour
        <select value={state.colouring} onChange={(event) => note({ colour: event.currentTarget.value === "kernel" ? undefined : event.currentTarget.value })}>
          {COLOURINGS.map((colouring) => (
            <option key={colouring} value={colouring} disabled={needsOther(colouring)}>
              {colouring === "error" ? "error size" : colouring}
              {needsOther(colouring) ? " (compare first)" : ""}
            </option>
          ))}
        </select>
      </label>
      <button type="button" class="button" aria-pressed={state.hasRaces} onClick={() => note({ races: state.hasRaces ? undefined : "1" })}>
        Races
      </button>
    </div>
  );
}

export const graphView: View = {
  name: "graph",
  title: "Graph",
  key: "g",
  needsRun: true,
  keys: [
    ["↑ ↓ ← →", "follow edges, from node to node"],
    ["Shift arrows", "move the picture"],
    ["+ -", "zoom; beyond the end: open, or go out"],
    ["0", "show all"],
    ["Enter", "open"],
    ["Space", "select"],
    ["Backspace", "go out"],
  ],
  component: Graph,
};
