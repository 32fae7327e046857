// SPDX-License-Identifier: Apache-2.0
// Cores and time: what ran where and when, why it did not run earlier, and what the length of the run depends on.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { asSentence } from "../format.js";
import { useEdges, useModel, useThemeChange } from "../hooks.js";
import type { RunModel } from "../model.js";
import { go, note } from "../route.js";
import { type Arrows, arrowsAround } from "../timeline/arrows.js";
import { Board } from "../timeline/board.js";
import { COLOUR_CHOICES, type ColourBy, type EdgeTracks, TimelineData } from "../timeline/data.js";
import { describeMeasurement, describeRun, describeTask, measure } from "../timeline/describe.js";
import { Details } from "../timeline/details.js";
import { type KeyActions, attachKeys, attachPointer } from "../timeline/input.js";
import { type CriticalPath, askPath } from "../timeline/path.js";
import { type Measured, makeScene } from "../timeline/scene.js";
import { searchTasks } from "../timeline/search.js";
import { PathSummary } from "../timeline/summary.js";
import { Tip, type Tipped } from "../timeline/tip.js";
import { Legend, Toolbar } from "../timeline/toolbar.js";
import "../timeline/timeline.css";
import { EmptyState, ErrorLine, Loading } from "../widgets.js";
import type { View, ViewProps } from "./view.js";

const wantsMotion = () => !matchMedia("(prefers-reduced-motion: reduce)").matches;

function Timeline(props: ViewProps) {
  const { run, generation } = props;
  const model = useModel(run?.key, generation);
  if (model.error && !model.value) return <EmptyState title="There is no timeline">{model.error}</EmptyState>;
  if (!model.value || !run) return <Loading>Loading the timeline</Loading>;
  if (!model.value.parts)
    return (
      <EmptyState title={run.live ? "No task has run yet" : "No task has times"}>
        {run.has.times || "The recording has no task with a begin."}
      </EmptyState>
    );
  return <Loaded {...props} key={run.key} model={model.value} />;
}

/** The tracks above the cores, made when the edges are there. */
function useEdgeTracks(data: TimelineData): { tracks: EdgeTracks | null; error: string } {
  const edges = useEdges(data.model);
  const [made, setMade] = useState<{ of: TimelineData; tracks: EdgeTracks } | null>(null);
  useEffect(() => {
    let gone = false;
    if (edges.value)
      void data.makeEdgeTracks(edges.value, () => gone).then((tracks) => {
        if (tracks && !gone) setMade({ of: data, tracks });
      });
    return () => {
      gone = true;
    };
  }, [data, edges.value]);
  return { tracks: made?.of === data ? made.tracks : null, error: edges.error };
}

/** The critical path, asked for when it is wanted. */
function usePath(model: RunModel, wanted: boolean): { path: CriticalPath | null; state: string } {
  const [found, setFound] = useState<{ of: RunModel; path: CriticalPath | null; state: string } | null>(null);
  useEffect(() => {
    if (!wanted) return undefined;
    const abort = new AbortController();
    setFound({ of: model, path: null, state: "working" });
    askPath(model, abort.signal).then(
      (path) => setFound({ of: model, path, state: "" }),
      (error) => !abort.signal.aborted && setFound({ of: model, path: null, state: error instanceof Error ? error.message : String(error) }),
    );
    return () => abort.abort();
  }, [model, wanted]);
  return wanted && found?.of === model ? found : { path: null, state: "" };
}

function Loaded({ route, run, model }: ViewProps & { model: RunModel }) {
  const { parameters } = route;
  const canvas = useRef<HTMLCanvasElement>(null);
  const searchField = useRef<HTMLInputElement>(null);
  const board = useRef<Board | null>(null);
  const noted = useRef("");
  const tip = useRef<(tip: Tipped) => void>(() => {});
  const [measured, setMeasured] = useState<Measured | null>(null);
  const [follow, setFollow] = useState(true);
  const theme = useThemeChange();

  const colour = COLOUR_CHOICES.find((choice) => choice === parameters.colour) ?? "kernel";
  const depth = /^[0-5]$/.test(parameters.depth ?? "") ? Number(parameters.depth) : 1;
  const find = parameters.find ?? "";
  const data = useMemo(() => new TimelineData(model), [model]);
  const keys = useMemo(() => data.makeKeys(colour), [data, colour]);
  const { tracks, error: edgesError } = useEdgeTracks(data);
  const selected = parameters.task === undefined ? -1 : model.find(parameters.task);
  const hasEdges = tracks !== null;
  const arrows = useMemo<Arrows | null>(
    () => (model.edges && selected >= 0 && depth > 0 ? arrowsAround(model.edges, selected, depth) : null),
    [model, hasEdges, selected, depth],
  );
  const matches = useMemo(() => searchTasks(model, find), [model, hasEdges, find]);
  const matchIndex = useMemo(() => (matches && selected >= 0 ? matches.tasks.indexOf(selected) : -1), [matches, selected]);
  const { path, state: pathState } = usePath(model, parameters.path !== undefined);

  const select = (task: number) => note({ task: task < 0 ? undefined : model.idText(task) });
  const step = (direction: -1 | 1) => {
    if (!matches?.tasks.length) return;
    const count = matches.tasks.length;
    const next = matchIndex < 0 ? (direction > 0 ? 0 : count - 1) : (matchIndex + direction + count) % count;
    select(matches.tasks[next]);
  };
  const zoom = (action: "in" | "out" | "all") => {
    const camera = board.current?.scene.camera;
    if (!camera) return;
    const { from, to } = camera.target;
    if (action === "all") camera.showAll();
    else camera.zoom(action === "in" ? 0.6 : 1 / 0.6, (from + to) / 2);
    board.current?.moved();
  };
  const mark = () => {
    const camera = board.current?.scene.camera;
    if (!camera) return;
    const begin = selected >= 0 ? model.beginOf(selected) : NaN;
    const end = selected >= 0 ? model.endOf(selected) : NaN;
    if (begin <= end) setMeasured({ from: begin, to: end });
    else setMeasured({ from: Math.max(0, camera.target.from), to: Math.min(model.span, camera.target.to) });
  };
  const actions: KeyActions = {
    "/": () => searchField.current?.focus(),
    n: () => step(1),
    p: () => step(-1),
    f: () => selected >= 0 && board.current?.reveal(selected, true),
    m: mark,
    r: () => note({ waits: parameters.waits === undefined && !edgesError ? "1" : undefined }),
    c: () => note({ path: parameters.path === undefined ? "1" : undefined }),
    Enter: () => selected >= 0 && go("task", { run: model.key, task: model.idText(selected) }),
    Escape: () => {
      if (measured) setMeasured(null);
      else if (selected >= 0) select(-1);
      else if (find) note({ find: undefined });
    },
  };
  const latest = useRef({ actions, select, edges: model.edges });
  latest.current = { actions, select, edges: model.edges };

  // The board lives as long as the canvas; a run that has grown only gives it a new scene.
  useEffect(() => {
    if (!canvas.current) return undefined;
    const made = new Board(canvas.current, makeScene(data, keys, wantsMotion()), {
      onSelect: (task) => latest.current.select(task),
      onHover: (part, x, y) => tip.current({ part, x, y }),
      onMeasure: setMeasured,
      onScope: (scope) => note({ find: latest.current.edges?.scopes[scope] }),
      onMove: (from, to) => {
        const whole = made.scene.camera.isWhole;
        if (to < made.scene.camera.span) setFollow(false);
        noted.current = whole ? "" : `${Math.round(from)}-${Math.round(to)}`;
        note({ from: whole ? undefined : Math.round(from), to: whole ? undefined : Math.round(to) });
      },
    });
    board.current = made;
    const resize = new ResizeObserver(() => made.redraw());
    resize.observe(canvas.current);
    const detach = [attachPointer(made), attachKeys(() => board.current, () => latest.current.actions)];
    return () => {
      resize.disconnect();
      for (const undo of detach) undo();
      made.destroy();
      board.current = null;
    };
  }, []);

  // The stretch of time that the address names, unless the board itself has written it there.
  useEffect(() => {
    const [from, to] = [Number(parameters.from ?? NaN), Number(parameters.to ?? NaN)];
    const wanted = from < to ? `${from}-${to}` : "";
    if (!board.current || wanted === noted.current) return;
    noted.current = wanted;
    if (wanted) board.current.scene.camera.show(from, to, true);
    else board.current.scene.camera.showAll(true);
    board.current.redraw();
  }, [parameters.from, parameters.to]);

  useEffect(() => {
    const now = board.current;
    if (!now) return;
    const isNew = now.scene.data !== data;
    now.scene = { ...now.scene, data, keys, tracks, selected, arrows, matches, path, measured, waits: parameters.waits !== undefined };
    if (tracks?.submissions.length) now.scene.camera.setOrigin(tracks.submissions[0]);
    if (isNew) {
      now.scene.hovered = -1;
      now.scene.camera.grow(model.span, follow && !!run?.live);
    }
    now.redraw();
  }, [data, keys, tracks, selected, arrows, matches, path, measured, parameters.waits]);
  useEffect(() => {
    if (selected >= 0) board.current?.reveal(selected);
  }, [selected]);
  useEffect(() => board.current?.themeChanged(), [theme]);

  const measurement = measured && measure(data, measured);
  return (
    <div class="timeline">
      <Toolbar
        find={find}
        matches={matches}
        matchIndex={matchIndex}
        colour={colour}
        depth={depth}
        waits={parameters.waits !== undefined}
        waitsWhy={edgesError || (tracks && !tracks.ready ? "Of no task is it known that it was ready before it began" : "")}
        path={parameters.path !== undefined}
        pathState={pathState}
        live={!!run?.live}
        follow={follow}
        searchField={searchField}
        onFind={(text) => note({ find: text })}
        onMatch={step}
        onColour={(value: ColourBy) => note({ colour: value === "kernel" ? undefined : value })}
        onDepth={(value) => note({ depth: value === 1 ? undefined : value })}
        onWaits={(value) => note({ waits: value ? "1" : undefined })}
        onPath={(value) => note({ path: value ? "1" : undefined })}
        onFollow={(value) => {
          setFollow(value);
          if (value) board.current?.scene.camera.grow(model.span, true);
          board.current?.redraw();
        }}
        onZoom={zoom}
      />
      {parameters.path !== undefined && pathState !== "" && pathState !== "working" && <ErrorLine>{pathState}</ErrorLine>}
      {parameters.task !== undefined && selected < 0 && <ErrorLine>There is no task {parameters.task} in this run.</ErrorLine>}
      <div class="timeline-body">
        <div class="timeline-plot">
          <canvas
            ref={canvas}
            tabIndex={0}
            role="application"
            aria-label="Timeline: cores and time"
            aria-describedby="timeline-summary"
            aria-roledescription="timeline"
          />
          <Tip data={data} show={tip} />
        </div>
        {selected >= 0 && (
          <Details data={data} path={run?.path ?? model.key} task={selected} arrows={arrows} edgesError={edgesError} onSelect={select} onClose={() => select(-1)} />
        )}
      </div>
      <footer class="timeline-foot">
        <Legend model={model} keys={keys} onFind={(text) => note({ find: text })} />
        {path && <PathSummary path={path} />}
        <p class="timeline-measure" role="status">
          {measurement ? describeMeasurement(measurement) : ""}
        </p>
        <p id="timeline-summary" class="note">
          {describeRun(data)} {data.untimed > 0 && `${data.untimed} kernels have no times. `}
          {model.source !== "recording" && `The times are from the ${model.source}. `}
          {model.notes.map(asSentence).join(" ")}
        </p>
      </footer>
      <p class="off-screen" aria-live="polite">
        {selected >= 0 ? describeTask(data, selected) : ""}
      </p>
    </div>
  );
}

export const timelineView: View = {
  name: "timeline",
  title: "Timeline",
  key: "t",
  needsRun: true,
  keys: [
    ["w s", "zoom in, out (also + and -)"],
    ["a d", "move left, right (also the arrows)"],
    ["↑ ↓", "scroll the cores"],
    ["0", "the whole run"],
    ["f", "zoom to the selected task"],
    [". ,", "next, previous task of the core"],
    ["] [", "task on the core below, above"],
    ["Enter", "open the selected task"],
    ["/", "search"],
    ["n p", "next, previous match"],
    ["m", "measure the selected task, or what is in sight"],
    ["r", "show how long tasks were ready"],
    ["c", "critical path"],
    ["Shift+drag", "measure a stretch of time"],
    ["Ctrl+wheel", "zoom at the pointer"],
  ],
  component: Timeline,
};
