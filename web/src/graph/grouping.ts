// SPDX-License-Identifier: Apache-2.0
// A picture of many tasks: groups by scope and kernel, or parts in the order of submission where all tasks are alike.
import { type Facts, NO_CORE, SEVERAL_CORES, kernelName, scopeName } from "./facts.js";
import { EdgeCounter, type Scene, type SceneNode } from "./scene.js";
import { type Selection, isAll, membersOf } from "./selection.js";
import { STEPS, type Work } from "./slices.js";

export type Level = "tasks" | "both" | "scope" | "kernel" | "parts";

export const MOST_TASKS = 300; // drawn one by one
export const MOST_GROUPS = 120;
export const MOST_OUTSIDE = 12;

export interface Grouped extends Scene {
  level: Level;
  levels: Level[]; // that this selection can be shown at, the finest first
  members: number;
}

const NONE = 0xffffffff;
const MANY = 1 << 22;

/** How tasks are put together at a level: a number for each task of the selection. */
function numbering(facts: Facts, level: Level): (task: number, place: number) => number {
  const scopes = facts.scopes.length + 1;
  const kernels = facts.kernels.length + 1;
  const scopeOf = (task: number) => Math.min(facts.scope[task], scopes - 1);
  const kernelOf = (task: number) => Math.min(facts.kernel[task], kernels - 1);
  if (level === "both") return (task) => scopeOf(task) * kernels + kernelOf(task);
  if (level === "scope") return scopeOf;
  if (level === "kernel") return kernelOf;
  return (_, place) => place;
}

/** The size of parts, a power of ten, of which there are a hundred at most. */
export function partSize(members: number): number {
  let size = 10;
  while (members / size > 100) size *= 10;
  return size;
}

/** How many groups each level would have, up to MANY. */
function* countGroups(facts: Facts, members: Uint32Array, level: Level): Work<number> {
  const of = numbering(facts, level);
  const seen = new Set<number>();
  for (let place = 0; place < members.length; place++) {
    if (place % STEPS === 0) yield;
    seen.add(of(members[place], place));
    if (seen.size >= MANY) break;
  }
  return seen.size;
}

/** The levels at which a selection can be shown, the finest first. */
function* levelsOf(facts: Facts, selection: Selection, members: Uint32Array): Work<Level[]> {
  const candidates: Level[] = [];
  if (selection.scope === undefined && selection.kernel === undefined) candidates.push("both");
  if (selection.kernel === undefined) candidates.push("kernel");
  if (selection.scope === undefined) candidates.push("scope");
  const count = new Map<Level, number>();
  for (const level of candidates) count.set(level, yield* countGroups(facts, members, level));
  const groups = (level: Level) => count.get(level) ?? 0;
  // One scope says nothing about its tasks, and one kernel neither; a level with the groups of a finer one is the same.
  const several = candidates
    .filter((level) => groups(level) > 1)
    .filter((level) => level !== "both" || (groups("scope") > 1 && groups("kernel") > 1))
    .sort((a, b) => groups(b) - groups(a));
  const different = several.filter((level, i) => i === 0 || groups(level) < groups(several[i - 1]));
  const levels: Level[] = members.length <= MOST_TASKS ? ["tasks"] : [];
  levels.push(...different.filter((level) => groups(level) <= MOST_GROUPS));
  if (levels.length === 0) levels.push(different[different.length - 1] ?? (isAll(selection) ? "kernel" : "parts"));
  return levels;
}

interface Partition {
  nodes: SceneNode[];
  of: Uint32Array; // by task: its node; NONE
  notes: string[];
}

function emptyNode(key: string, label: string): SceneNode {
  return {
    key,
    kind: "group",
    task: -1,
    label,
    kernel: null,
    scope: null,
    part: null,
    tasks: 0,
    time: 0,
    untimed: 0,
    core: NO_CORE,
    inside: 0,
    hidden: 0,
  };
}

/** Counts a task into a node. */
export function addTask(facts: Facts, node: SceneNode, task: number): void {
  const time = facts.time[task];
  const core = facts.core[task];
  if (Number.isNaN(time)) node.untimed++;
  else node.time += time;
  if (node.tasks === 0 || node.core === NO_CORE) node.core = core;
  else if (core !== NO_CORE && core !== node.core) node.core = SEVERAL_CORES;
  node.tasks++;
}

export function taskNode(facts: Facts, task: number, idText: (task: number) => string): SceneNode {
  const node = emptyNode(`t${task}`, kernelName(facts, task));
  addTask(facts, node, task);
  return { ...node, kind: "task", task, label: idText(task), kernel: kernelName(facts, task), scope: scopeName(facts, task) };
}

/** The last part of a path: "orchestrate.c:61". */
export function shortSite(site: string): string {
  return site.slice(site.lastIndexOf("/") + 1) || "scope not known";
}

function groupNode(facts: Facts, level: Level, task: number): SceneNode {
  const kernel = level === "scope" ? null : kernelName(facts, task);
  const scope = level === "kernel" ? null : scopeName(facts, task);
  const node = emptyNode(`g${level}|${scope ?? ""}|${kernel ?? ""}`, kernel ?? shortSite(scope ?? ""));
  return { ...node, kernel, scope };
}

/** Keeps the largest groups; the others become one. */
function limitGroups(parts: Partition, members: Uint32Array): void {
  if (parts.nodes.length <= MOST_GROUPS) return;
  const bySize = parts.nodes.map((_, i) => i).sort((a, b) => parts.nodes[b].tasks - parts.nodes[a].tasks);
  const kept = bySize.slice(0, MOST_GROUPS - 1).sort((a, b) => a - b);
  const others = emptyNode("others", `${parts.nodes.length - kept.length} other groups`);
  const renumbered = new Uint32Array(parts.nodes.length).fill(kept.length);
  kept.forEach((old, i) => {
    renumbered[old] = i;
  });
  for (const [i, node] of parts.nodes.entries()) {
    if (renumbered[i] !== kept.length) continue;
    others.tasks += node.tasks;
    others.time += node.time;
    others.untimed += node.untimed;
    others.core = SEVERAL_CORES;
  }
  for (const task of members) parts.of[task] = renumbered[parts.of[task]];
  parts.notes.push(`${parts.nodes.length} groups are too many for a picture: the ${kept.length} largest are shown, the others are one node.`);
  parts.nodes = [...kept.map((i) => parts.nodes[i]), others];
}

function* partition(
  facts: Facts,
  members: Uint32Array,
  level: Level,
  base: number,
  idText: (task: number) => string,
): Work<Partition> {
  const parts: Partition = { nodes: [], of: new Uint32Array(facts.tasks).fill(NONE), notes: [] };
  const size = partSize(members.length);
  const of = level === "parts" ? (_: number, place: number) => Math.floor(place / size) : numbering(facts, level);
  const nodeOf = new Map<number, number>();
  for (let place = 0; place < members.length; place++) {
    if (place % STEPS === 0) yield;
    const task = members[place];
    const number = of(task, place);
    let index = nodeOf.get(number);
    if (index === undefined) {
      index = parts.nodes.length;
      nodeOf.set(number, index);
      parts.nodes.push(level === "tasks" ? { ...taskNode(facts, task, idText), ...EMPTY_SUMS } : groupNode(facts, level, task));
      if (level === "parts") asPart(parts.nodes[index], base + place, base + Math.min(place + size, members.length) - 1);
    }
    parts.of[task] = index;
    addTask(facts, parts.nodes[index], task);
  }
  if (level !== "tasks") limitGroups(parts, members);
  return parts;
}

const EMPTY_SUMS = { tasks: 0, time: 0, untimed: 0, core: NO_CORE };

function asPart(node: SceneNode, first: number, last: number): void {
  node.key = `p${first}-${last}`;
  node.label = `${first.toLocaleString("en")} to ${last.toLocaleString("en")}`;
  node.part = [first, last];
}

/** The kernels outside of the selection that have edges with it, those with most edges first. */
function* outsideOf(facts: Facts, parts: Partition): Work<Map<number, number>> {
  const edges = facts.edges;
  const count = new Map<number, number>();
  if (!edges) return count;
  for (let task = 0; task < facts.tasks; task++) {
    if (task % STEPS === 0) yield;
    for (let e = edges.first[task]; e < edges.first[task + 1]; e++) {
      const before = edges.before[e];
      const isIn = parts.of[task] !== NONE;
      if (isIn === (parts.of[before] !== NONE)) continue;
      const kernel = facts.kernel[isIn ? before : task];
      count.set(kernel, (count.get(kernel) ?? 0) + 1);
    }
  }
  const largest = [...count.entries()].sort((a, b) => b[1] - a[1]);
  return new Map(largest.map(([kernel], i) => [kernel, Math.min(i, MOST_OUTSIDE - 1)]));
}

function addOutside(facts: Facts, parts: Partition, places: Map<number, number>): void {
  const count = Math.min(places.size, MOST_OUTSIDE);
  for (let i = 0; i < count; i++) {
    const kernels = [...places.entries()].filter(([, place]) => place === i).map(([kernel]) => facts.kernels[kernel] ?? "?");
    const isOne = kernels.length === 1;
    const node = emptyNode(`o${isOne ? kernels[0] : "*"}`, isOne ? kernels[0] : `${kernels.length} other kernels`);
    parts.nodes.push({ ...node, kind: "outside", kernel: isOne ? kernels[0] : null });
  }
}

function* countEdges(facts: Facts, parts: Partition, outside: Map<number, number>, inner: number): Work<Scene> {
  const counter = new EdgeCounter(parts.nodes.length);
  const edges = facts.edges;
  const counted = new Uint8Array(facts.tasks);
  const nodeOf = (task: number): number => {
    const node = parts.of[task];
    return node === NONE ? inner + (outside.get(facts.kernel[task]) ?? 0) : node;
  };
  const meet = (node: number, task: number) => {
    if (node < inner || counted[task]) return;
    counted[task] = 1;
    addTask(facts, parts.nodes[node], task);
  };
  for (let task = 0; edges && task < facts.tasks; task++) {
    if (task % STEPS === 0) yield;
    for (let e = edges.first[task]; e < edges.first[task + 1]; e++) {
      const before = edges.before[e];
      if (parts.of[task] === NONE && parts.of[before] === NONE) continue;
      const from = nodeOf(before);
      const to = nodeOf(task);
      meet(from, before);
      meet(to, task);
      if (from === to) parts.nodes[from].inside++;
      else counter.add(from, to, edges.kind[e]);
    }
  }
  const placeOf = (task: number) => (parts.of[task] === NONE ? -1 : parts.of[task]);
  return { nodes: parts.nodes, edges: counter.list(), nodeOf: placeOf, notes: parts.notes };
}

/** The picture of a selection. `wanted`: the level, if the selection can be shown at it; else the finest. */
export function* groupTasks(
  facts: Facts,
  selection: Selection,
  wanted: Level | undefined,
  idText: (task: number) => string,
): Work<Grouped> {
  const members = yield* membersOf(facts, selection);
  const levels = yield* levelsOf(facts, selection, members);
  const level = wanted && levels.includes(wanted) ? wanted : levels[0];
  const parts = yield* partition(facts, members, level, selection.part?.[0] ?? 0, idText);
  const inner = parts.nodes.length;
  const outside = isAll(selection) ? new Map<number, number>() : yield* outsideOf(facts, parts);
  addOutside(facts, parts, outside);
  const scene = yield* countEdges(facts, parts, outside, inner);
  return { ...scene, level, levels, members: members.length };
}
