// SPDX-License-Identifier: Apache-2.0
// What the address says about the graph:
//
//   scope, kernel, part     which tasks: all, those of a scope, of a kernel, or the tasks "100-199" of those
//   by                      how they are put together: tasks, both, scope, kernel
//   show=near task depth dir   the neighbourhood of a task; show=groups: not the neighbourhood, although a task is selected
//   from, to, mark          the path between two tasks, and which one is drawn strongly
//   task, node              what is selected: a task, or a node that is none
//   colour, races, other    colours, missing edges, the run to compare with
import { COLOURINGS, type Colouring } from "./colours.js";
import type { Level } from "./grouping.js";
import type { Direction } from "./near.js";
import { type Selection, parsePart, partText } from "./selection.js";

export type Parameters = Record<string, string | number | undefined>;

export interface GraphState {
  selection: Selection;
  by: Level | undefined;
  show: "near" | "groups" | undefined;
  depth: number;
  direction: Direction;
  colouring: Colouring;
  hasRaces: boolean;
  mark: "shortest" | "longest";
}

function oneOf<T extends string>(choices: readonly T[], text: string | undefined): T | undefined {
  return choices.find((choice) => choice === text);
}

export function readState(parameters: Record<string, string>): GraphState {
  const { scope, kernel } = parameters;
  const depth = /^[1-6]$/.test(parameters.depth ?? "") ? Number(parameters.depth) : 2;
  return {
    selection: { scope, kernel, part: parsePart(parameters.part) },
    by: oneOf(["tasks", "both", "scope", "kernel"] as const, parameters.by),
    show: oneOf(["near", "groups"] as const, parameters.show),
    depth,
    direction: oneOf(["before", "after", "both"] as const, parameters.dir) ?? "both",
    colouring: oneOf(COLOURINGS, parameters.colour) ?? "kernel",
    hasRaces: parameters.races === "1",
    mark: parameters.mark === "longest" ? "longest" : "shortest",
  };
}

/** The parameters of a selection: those that it does not have are cleared. */
export function selectionParameters(selection: Selection): Parameters {
  return { scope: selection.scope, kernel: selection.kernel, part: partText(selection.part) };
}

/** What leads away from a path, a neighbourhood or a selected node. */
export const CLEARED: Parameters = { by: undefined, show: undefined, from: undefined, to: undefined, node: undefined, mark: undefined };
