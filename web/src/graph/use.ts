// SPDX-License-Identifier: Apache-2.0
// The graph's long work as state of the view: facts, the scene, races.
import { useEffect, useState } from "preact/hooks";
import type { Edges, RunModel } from "../model.js";
import { type Facts, readFacts } from "./facts.js";
import { type Grouped, groupTasks } from "./grouping.js";
import { MOST_NEAR, findNear, sceneOfTasks } from "./near.js";
import { type Paths, findPaths } from "./paths.js";
import type { Scene } from "./scene.js";
import { inSlices, type Work } from "./slices.js";
import type { GraphState } from "./state.js";

/** The result of long work; the old one stays until the new one is there. */
export function useWork<T>(make: () => Work<T> | null, keys: readonly unknown[]): { value: T | null; busy: boolean } {
  const [state, setState] = useState<{ value: T | null; busy: boolean }>({ value: null, busy: true });
  useEffect(() => {
    const work = make();
    if (!work) {
      setState({ value: null, busy: false });
      return undefined;
    }
    const abort = new AbortController();
    setState((old) => ({ value: old.value, busy: true }));
    inSlices(work, abort.signal).then(
      (value) => !abort.signal.aborted && setState({ value, busy: false }),
      (error: unknown) => {
        if (!abort.signal.aborted) throw error;
      },
    );
    return () => abort.abort();
  }, keys);
  return state;
}

export function useFacts(model: RunModel | null, edges: Edges | null, isReady: boolean): Facts | null {
  const { value } = useWork<{ model: RunModel; facts: Facts }>(
    () => {
      if (!model || !isReady) return null;
      return (function* () {
        return { model, facts: yield* readFacts(model, edges) };
      })();
    },
    [model, edges, isReady],
  );
  return value && value.model === model ? value.facts : null;
}

/** What is drawn. */
export interface Shown {
  what: "groups" | "near" | "path";
  scene: Scene;
  grouped: Grouped | null;
  paths: Paths | null;
  centre: number; // the task in the middle of a neighbourhood; -1
}

export interface Wanted {
  state: GraphState;
  task: number; // that is selected; -1
  from: number; // of a path; -1
  to: number;
  what: Shown["what"];
}

const PATH_END = 60; // tasks at each end of a long path that are drawn

function* showPath(facts: Facts, from: number, to: number, idText: (task: number) => string): Work<Shown> {
  const paths = facts.edges
    ? yield* findPaths(facts.edges, facts.tasks, from, to)
    : { shortest: [], longest: [], between: 0, isTurned: false, cycle: false };
  const tasks = new Set<number>();
  let isCut = false;
  for (const path of [paths.shortest, paths.longest]) {
    const ends = path.length > 2 * PATH_END ? [...path.slice(0, PATH_END), ...path.slice(-PATH_END)] : path;
    isCut ||= ends.length < path.length;
    for (const task of ends) tasks.add(task);
  }
  if (tasks.size === 0)
    for (const end of [from, to]) for (const near of (yield* findNear(facts, end, 1, "both")).tasks.slice(0, 20)) tasks.add(near);
  const scene = sceneOfTasks(facts, [...tasks], idText);
  if (isCut) scene.notes.push(`A path is too long for a picture: its first and last ${PATH_END} tasks are shown.`);
  return { what: "path", scene, grouped: null, paths, centre: -1 };
}

function* showNear(facts: Facts, wanted: Wanted, idText: (task: number) => string): Work<Shown> {
  const near = yield* findNear(facts, wanted.task, wanted.state.depth, wanted.state.direction);
  const scene = sceneOfTasks(facts, near.tasks, idText);
  if (near.found > near.tasks.length) {
    const all = `${near.isComplete ? "" : "more than "}${near.found.toLocaleString("en")}`;
    scene.notes.push(`The ${MOST_NEAR} nearest of ${all} tasks are shown.`);
  }
  return { what: "near", scene, grouped: null, paths: null, centre: wanted.task };
}

function* showGroups(facts: Facts, wanted: Wanted, idText: (task: number) => string): Work<Shown> {
  const grouped = yield* groupTasks(facts, wanted.state.selection, wanted.state.by, idText);
  return { what: "groups", scene: grouped, grouped, paths: null, centre: -1 };
}

export function useShown(facts: Facts | null, model: RunModel | null, wanted: Wanted): { value: Shown | null; busy: boolean } {
  const { state, what } = wanted;
  const { scope, kernel, part } = state.selection;
  const idText = (task: number) => model?.idText(task) ?? "";
  return useWork<Shown>(
    () => {
      if (!facts || !model) return null;
      if (what === "path") return showPath(facts, wanted.from, wanted.to, idText);
      return what === "near" ? showNear(facts, wanted, idText) : showGroups(facts, wanted, idText);
    },
    // What is selected changes the picture only where it is the middle of it.
    what === "path"
      ? [facts, what, wanted.from, wanted.to]
      : what === "near"
        ? [facts, what, wanted.task, state.depth, state.direction]
        : [facts, what, scope, kernel, part?.[0], part?.[1], state.by],
  );
}
