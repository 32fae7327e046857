// SPDX-License-Identifier: Apache-2.0
// What is drawn: nodes and edges, before they have places.

export const KIND_MASK_OTHER = 16; // an edge whose kind is not known

export interface SceneNode {
  key: string; // stays the same while the picture changes
  kind: "task" | "group" | "outside"; // outside: what the selection depends on, and what depends on it
  task: number; // of a task; -1
  label: string;
  kernel: string | null; // null: several
  scope: string | null;
  part: readonly [number, number] | null; // of the tasks that are selected, a group by order
  tasks: number;
  time: number; // sum of the known times
  untimed: number; // tasks whose time is not known
  core: number; // NO_CORE, SEVERAL_CORES
  inside: number; // edges within the group
  hidden: number; // neighbours that are not drawn
}

export interface SceneEdge {
  from: number; // index of a node
  to: number;
  count: number;
  kinds: number; // bits: 1 << kind, KIND_MASK_OTHER
}

export interface Scene {
  nodes: SceneNode[];
  edges: SceneEdge[];
  /** The node that a task belongs to; -1: none. */
  nodeOf: (task: number) => number;
  /** What is left out, as sentences. */
  notes: string[];
}

export function kindBit(kind: number): number {
  return kind < 4 ? 1 << kind : KIND_MASK_OTHER;
}

/** Collects edges, one for each pair of nodes. */
export class EdgeCounter {
  private readonly byPair = new Map<number, SceneEdge>();

  constructor(private readonly nodes: number) {}

  add(from: number, to: number, kind: number): void {
    const pair = from * this.nodes + to;
    const edge = this.byPair.get(pair);
    if (edge) {
      edge.count++;
      edge.kinds |= kindBit(kind);
    } else {
      this.byPair.set(pair, { from, to, count: 1, kinds: kindBit(kind) });
    }
  }

  list(): SceneEdge[] {
    return [...this.byPair.values()];
  }
}
