// SPDX-License-Identifier: Apache-2.0
// The layers of a graph: edges lead from one layer to a later one (the method of Sugiyama).
//
//   1  edges that close a cycle are turned
//   2  a node's layer is one behind the last of its predecessors'
//   3  an edge that skips layers gets a bend in each of them
//   4  each layer is sorted by where the neighbours are, some times up and down; the order with fewest crossings stays
//   5  within its layer each node goes as near to its neighbours as the order allows (isotonic regression)
//
// Time is bounded: bends are limited, and the number of rounds is fixed.

export interface Link {
  from: number;
  to: number;
}

const MOST_BENDS = 1500;
const SORT_ROUNDS = 10;
const PLACE_ROUNDS = 10;

/** 1 for links that close a cycle, in the order in which a search from the first nodes meets them. */
export function turnedLinks(nodes: number, links: readonly Link[]): Uint8Array {
  const turned = new Uint8Array(links.length);
  const first: number[][] = Array.from({ length: nodes }, () => []);
  links.forEach((link, i) => first[link.from].push(i));
  const state = new Uint8Array(nodes); // 1: on the way; 2: done
  const next = new Uint32Array(nodes);
  for (let root = 0; root < nodes; root++) {
    if (state[root]) continue;
    const stack = [root];
    state[root] = 1;
    while (stack.length) {
      const node = stack[stack.length - 1];
      if (next[node] === first[node].length) {
        state[node] = 2;
        stack.pop();
        continue;
      }
      const index = first[node][next[node]++];
      const to = links[index].to;
      if (state[to] === 1) turned[index] = 1;
      else if (state[to] === 0) {
        state[to] = 1;
        stack.push(to);
      }
    }
  }
  return turned;
}

/** The layer of each node, from 0. `links` have no cycle. */
export function layersOf(nodes: number, links: readonly Link[]): Uint32Array {
  const layer = new Uint32Array(nodes);
  const waits = new Uint32Array(nodes);
  const after: number[][] = Array.from({ length: nodes }, () => []);
  for (const { from, to } of links) {
    after[from].push(to);
    waits[to]++;
  }
  const isSource = Array.from(waits, (count) => count === 0);
  const ready: number[] = [];
  for (let node = 0; node < nodes; node++) if (isSource[node]) ready.push(node);
  for (let i = 0; i < ready.length; i++)
    for (const to of after[ready[i]]) {
      layer[to] = Math.max(layer[to], layer[ready[i]] + 1);
      if (--waits[to] === 0) ready.push(to);
    }
  // A node without predecessors stands directly before its first successor.
  for (let node = 0; node < nodes; node++)
    if (isSource[node] && after[node].length) layer[node] = Math.min(...after[node].map((to) => layer[to])) - 1;
  return layer;
}

/** A connected graph in layers. "Cells" are its nodes, and behind those the bends of edges. */
export class Layers {
  readonly layer: number[][] = []; // cells of each layer, in their order
  readonly before: number[][] = []; // by cell: neighbours in the layer before
  readonly after: number[][] = [];
  readonly layerOf: number[] = [];
  readonly isSameAsBefore: boolean[] = []; // by layer: it is a further row of the one before
  readonly chains: number[][] = []; // by link of the part: its cells from the first layer to the last; empty: none

  /** `most`: nodes in a row; Infinity: it is not folded. */
  constructor(
    readonly nodes: number,
    links: readonly Link[],
    readonly most: number,
  ) {
    const layers = this.fold(layersOf(nodes, links));
    for (let node = 0; node < nodes; node++) this.addCell(layers[node]);
    const spans = links.map((link, i) => ({ link, i, span: layers[link.to] - layers[link.from] }));
    let bends = 0;
    for (let i = 0; i < links.length; i++) this.chains.push([]);
    for (const { link, i, span } of spans.sort((a, b) => a.span - b.span)) {
      // Bends would take more room in folded layers than the nodes do: these links are drawn straight.
      if (span > 1 && (most < Infinity || bends + span - 1 > MOST_BENDS)) continue;
      bends += span - 1;
      const chain = [link.from];
      for (let step = 1; step < span; step++) chain.push(this.addCell(layers[link.from] + step));
      chain.push(link.to);
      for (let k = 1; k < chain.length; k++) {
        this.after[chain[k - 1]].push(chain[k]);
        this.before[chain[k]].push(chain[k - 1]);
      }
      this.chains[i] = chain;
    }
  }

  /** Layers with more nodes than a row takes become several, in the order of the nodes. */
  private fold(layers: Uint32Array): Uint32Array {
    const count: number[] = [];
    for (const layer of layers) count[layer] = (count[layer] ?? 0) + 1;
    const first: number[] = [];
    for (const inLayer of count) {
      first.push(this.isSameAsBefore.length);
      const rows = Math.ceil(inLayer / this.most) || 1;
      for (let row = 0; row < rows; row++) this.isSameAsBefore.push(row > 0);
    }
    const seen = new Uint32Array(count.length);
    return layers.map((layer) => first[layer] + Math.floor(seen[layer]++ / this.most));
  }

  private addCell(layer: number): number {
    const cell = this.layerOf.length;
    while (this.layer.length <= layer) this.layer.push([]);
    this.layer[layer].push(cell);
    this.layerOf.push(layer);
    this.before.push([]);
    this.after.push([]);
    return cell;
  }

  /** Edges that cross between neighbouring layers. `place`: of each cell in its layer. */
  private crossings(place: Uint32Array): number {
    let count = 0;
    for (let l = 1; l < this.layer.length; l++) {
      const ends: number[] = [];
      for (const cell of this.layer[l - 1]) {
        const from = ends.length;
        for (const to of this.after[cell]) ends.push(place[to]);
        if (ends.length - from > 1) ends.push(...ends.splice(from).sort((a, b) => a - b));
      }
      count += inversions(ends, this.layer[l].length);
    }
    return count;
  }

  sort(): void {
    const place = new Uint32Array(this.layerOf.length);
    for (const layer of this.layer) layer.forEach((cell, i) => (place[cell] = i));
    let best = this.layer.map((layer) => layer.slice());
    let fewest = this.crossings(place);
    for (let round = 0; round < SORT_ROUNDS && fewest > 0; round++) {
      const isDown = round % 2 === 0;
      for (let k = 1; k < this.layer.length; k++) {
        const l = isDown ? k : this.layer.length - 1 - k;
        this.sortLayer(l, isDown ? this.before : this.after, place);
      }
      const crossings = this.crossings(place);
      if (crossings < fewest) {
        fewest = crossings;
        best = this.layer.map((layer) => layer.slice());
      }
    }
    best.forEach((layer, l) => (this.layer[l] = layer));
  }

  private sortLayer(l: number, neighbours: number[][], place: Uint32Array): void {
    const mean = (cell: number) => {
      const list = neighbours[cell];
      if (list.length === 0) return place[cell];
      let sum = 0;
      for (const one of list) sum += place[one];
      return sum / list.length;
    };
    const keyed = this.layer[l].map((cell) => ({ cell, key: mean(cell), old: place[cell] }));
    keyed.sort((a, b) => a.key - b.key || a.old - b.old);
    this.layer[l] = keyed.map(({ cell }) => cell);
    this.layer[l].forEach((cell, i) => (place[cell] = i));
  }

  /** Where each cell lies within its layer; `room` of a cell is what it takes. */
  placeCells(room: (cell: number) => number): Float64Array {
    const at = new Float64Array(this.layerOf.length);
    for (const layer of this.layer) {
      let end = 0;
      for (const cell of layer) {
        at[cell] = end + room(cell) / 2;
        end += room(cell);
      }
    }
    for (let round = 0; round < PLACE_ROUNDS; round++)
      for (let k = 0; k < this.layer.length; k++) {
        const l = round % 2 === 0 ? k : this.layer.length - 1 - k;
        // First each layer follows the one before it, then the one behind it; in the end both count.
        const isEnd = round >= PLACE_ROUNDS - 2;
        this.placeLayer(this.layer[l], at, room, isEnd || round % 2 === 0, isEnd || round % 2 === 1);
      }
    if (this.most < Infinity) this.centreLayers(at, room);
    let least = Infinity;
    for (const [cell, middle] of at.entries()) least = Math.min(least, middle - room(cell) / 2);
    return at.map((middle) => middle - least);
  }

  private centreLayers(at: Float64Array, room: (cell: number) => number): void {
    for (const layer of this.layer) {
      const width = layer.reduce((sum, cell) => sum + room(cell), 0);
      let end = -width / 2;
      for (const cell of layer) {
        at[cell] = end + room(cell) / 2;
        end += room(cell);
      }
    }
  }

  private placeLayer(layer: number[], at: Float64Array, room: (cell: number) => number, isDown: boolean, isUp: boolean): void {
    const offset: number[] = [];
    const wanted: number[] = [];
    const weight: number[] = [];
    let sum = 0;
    layer.forEach((cell, i) => {
      if (i > 0) sum += (room(layer[i - 1]) + room(cell)) / 2;
      offset.push(sum);
      let total = 0;
      let heavy = 0;
      for (const list of [isDown ? this.before[cell] : [], isUp ? this.after[cell] : []])
        for (const one of list) {
          // Two bends in a row: keep long edges straight.
          const w = one >= this.nodes && cell >= this.nodes ? 8 : one >= this.nodes || cell >= this.nodes ? 2 : 1;
          total += w * at[one];
          heavy += w;
        }
      wanted.push((heavy > 0 ? total / heavy : at[cell]) - sum);
      weight.push(heavy > 0 ? heavy : 0.1);
    });
    isotonic(wanted, weight).forEach((value, i) => (at[layer[i]] = value + offset[i]));
  }
}

/** Pairs that are out of order, by a tree of sums. */
function inversions(list: readonly number[], size: number): number {
  const tree = new Uint32Array(size + 1);
  let count = 0;
  for (let i = list.length - 1; i >= 0; i--) {
    for (let k = list[i]; k > 0; k -= k & -k) count += tree[k];
    for (let k = list[i] + 1; k <= size; k += k & -k) tree[k]++;
  }
  return count;
}

/** The rising numbers that are nearest to `wanted` (pool adjacent violators). */
export function isotonic(wanted: readonly number[], weight: readonly number[]): number[] {
  const pools: { value: number; weight: number; count: number }[] = [];
  wanted.forEach((value, i) => {
    let pool = { value, weight: weight[i], count: 1 };
    while (pools.length && pools[pools.length - 1].value > pool.value) {
      const last = pools.pop() as typeof pool;
      const sum = last.weight + pool.weight;
      pool = { value: (last.value * last.weight + pool.value * pool.weight) / sum, weight: sum, count: last.count + pool.count };
    }
    pools.push(pool);
  });
  return pools.flatMap((pool) => Array<number>(pool.count).fill(pool.value));
}
