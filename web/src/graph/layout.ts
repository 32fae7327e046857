// SPDX-License-Identifier: Apache-2.0
// Places the nodes of a graph in the plane: each connected part in layers (layers.ts), the parts side by side. A part that
// would be far too flat (a thousand tasks that wait for one) is folded: a layer takes several rows.
import { Layers, type Link, turnedLinks } from "./layers.js";

export interface Size {
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

export interface Layout {
  /** Middle of each node. */
  places: Point[];
  /** The way of each link, from node to node; the ends are on the nodes' borders. */
  ways: Point[][];
  width: number;
  height: number;
  isSideways: boolean; // layers are columns
}

const NODE_GAP = 18;
const LAYER_GAP = 44;
const PART_GAP = 34;
const FOLD_GAP = 14; // between the rows of one layer
const FLAT = 6; // a part that is so many times flatter than the window is folded,
const FEW = 30; // unless its layers have few nodes: links into a further row pass behind the nodes of the first
const BEND = 10; // room for an edge that passes

/** A connected part of the graph. */
interface Part {
  nodes: number[]; // of the whole graph
  links: number[]; // indices of links
}

/** The parts that no link connects. */
function partsOf(nodes: number, links: readonly Link[]): Part[] {
  const leader = Uint32Array.from({ length: nodes }, (_, i) => i);
  const find = (node: number): number => {
    while (leader[node] !== node) {
      leader[node] = leader[leader[node]];
      node = leader[node];
    }
    return node;
  };
  for (const { from, to } of links) leader[find(from)] = find(to);
  const parts = new Map<number, Part>();
  for (let node = 0; node < nodes; node++) {
    const root = find(node);
    const part = parts.get(root) ?? { nodes: [], links: [] };
    part.nodes.push(node);
    parts.set(root, part);
  }
  links.forEach((link, i) => parts.get(find(link.from))?.links.push(i));
  return [...parts.values()];
}

interface Placed {
  part: Part;
  at: Point[]; // by node of the part
  ways: Point[][]; // by link of the part
  width: number;
  height: number;
}

/** A part whose layers are sorted. */
interface Sorted {
  part: Part;
  links: Link[]; // of the part's own numbers, without cycles
  isTurned: boolean[]; // by link
  layers: Layers;
}

function sortPart(part: Part, links: readonly Link[], turned: Uint8Array, most: number): Sorted {
  const own = new Map(part.nodes.map((node, i) => [node, i]));
  const inner = part.links.map((index) => {
    const from = own.get(links[index].from) as number;
    const to = own.get(links[index].to) as number;
    return turned[index] ? { from: to, to: from } : { from, to };
  });
  const layers = new Layers(part.nodes.length, inner, most);
  layers.sort();
  return { part, links: inner, isTurned: part.links.map((index) => turned[index] === 1), layers };
}

/** Nodes in a row, so that a part of that many in its widest layer has about the window's ratio. Infinity: no limit. */
function rowLength(sorted: Sorted, size: Size, ratio: number): number {
  const widest = Math.max(...sorted.layers.layer.map((layer) => layer.filter((cell) => cell < sorted.part.nodes.length).length));
  const width = widest * (size.width + NODE_GAP);
  const height = sorted.layers.layer.length * (size.height + LAYER_GAP);
  if (widest <= FEW || width / height < FLAT * ratio) return Infinity;
  return Math.max(Math.ceil(Math.sqrt((widest * ratio * (size.height + FOLD_GAP)) / (size.width + NODE_GAP))), 4);
}

/** Layers are rows here; `layOut` turns the picture if they shall be columns. */
function placePart({ part, links, isTurned, layers }: Sorted, size: Size): Placed {
  const isNode = (cell: number) => cell < part.nodes.length;
  const room = (cell: number) => (isNode(cell) ? size.width + NODE_GAP : BEND);
  const along = layers.placeCells(room);
  const top: number[] = [];
  let height = 0;
  for (const isSame of layers.isSameAsBefore) {
    if (top.length) height += isSame ? FOLD_GAP : LAYER_GAP;
    top.push(height);
    height += size.height;
  }
  const point = (cell: number): Point => ({ x: along[cell], y: top[layers.layerOf[cell]] + size.height / 2 });
  let width = 0;
  for (let cell = 0; cell < layers.layerOf.length; cell++) width = Math.max(width, along[cell] + room(cell) / 2);
  const ways = links.map((link, i) => {
    const chain = layers.chains[i].length ? layers.chains[i] : [link.from, link.to];
    // A line passes straight through the layers in which it has a bend.
    const half = size.height / 2;
    const way = chain.flatMap((cell, k) => {
      const { x, y } = point(cell);
      if (k === 0) return [{ x, y: y + half }];
      return k === chain.length - 1 ? [{ x, y: y - half }] : [{ x, y: y - half }, { x, y: y + half }];
    });
    return isTurned[i] ? way.reverse() : way;
  });
  return { part, at: part.nodes.map((_, cell) => point(cell)), ways, width, height };
}

/** How wide a row of parts should be, so that the whole has about this ratio of width to height. */
function rowWidth(placed: readonly Placed[], ratio: number): number {
  const widest = Math.max(...placed.map((one) => one.width));
  const area = placed.reduce((sum, one) => sum + (one.width + PART_GAP) * (one.height + PART_GAP), 0);
  return Math.max(widest, Math.sqrt(area * ratio) * 1.1);
}

function layOutRows(parts: readonly Sorted[], fold: (part: Sorted, most: number) => Sorted, size: Size, ratio: number): Layout {
  const places: Point[] = [];
  const ways: Point[][] = [];
  const placed = parts.map((part) => {
    const most = rowLength(part, size, ratio);
    return placePart(most < Infinity ? fold(part, most) : part, size);
  });
  // Large parts first; parts of one size keep their order.
  placed.sort((a, b) => b.height - a.height || b.width - a.width);
  const most = placed.length ? rowWidth(placed, ratio) : 0;
  let x = 0;
  let y = 0;
  let rowHeight = 0;
  let width = 0;
  for (const one of placed) {
    if (x > 0 && x + one.width > most) {
      x = 0;
      y += rowHeight + PART_GAP;
      rowHeight = 0;
    }
    const moved = (point: Point) => ({ x: point.x + x, y: point.y + y });
    one.part.nodes.forEach((node, i) => (places[node] = moved(one.at[i])));
    one.part.links.forEach((link, i) => (ways[link] = one.ways[i].map(moved)));
    width = Math.max(width, x + one.width);
    rowHeight = Math.max(rowHeight, one.height);
    x += one.width + PART_GAP;
  }
  return { places, ways, width, height: y + rowHeight, isSideways: false };
}

const flip = (point: Point): Point => ({ x: point.y, y: point.x });

/** How large the picture can be drawn within `window`, at most at its own size. */
function scaleIn(layout: Layout, window: Size): number {
  return Math.min(1, window.width / Math.max(layout.width, 1), window.height / Math.max(layout.height, 1));
}

const APART = 9;

/** Two links between the same nodes, one in each direction, would be one line: draws them beside each other. */
function spread(links: readonly Link[], ways: Point[][]): Point[][] {
  const pairs = new Set(links.map(({ from, to }) => `${from} ${to}`));
  return ways.map((way, i) => {
    const { from, to } = links[i];
    if (!pairs.has(`${to} ${from}`)) return way;
    const aside = from < to ? -APART : APART;
    return way.map(({ x, y }) => ({ x: x + aside, y }));
  });
}

/** Places all nodes. Layers are rows or columns, whichever lets the picture be larger in the window. */
export function layOut(nodes: number, links: readonly Link[], size: Size, window: Size): Layout {
  const turned = turnedLinks(nodes, links);
  const parts = partsOf(nodes, links).map((part) => sortPart(part, links, turned, Infinity));
  const fold = ({ part }: Sorted, most: number) => sortPart(part, links, turned, most);
  const rows = layOutRows(parts, fold, size, window.width / window.height);
  const columns = layOutRows(parts, fold, { width: size.height, height: size.width }, window.height / window.width);
  rows.ways = spread(links, rows.ways);
  columns.ways = spread(links, columns.ways);
  const sideways: Layout = {
    places: columns.places.map(flip),
    ways: columns.ways.map((way) => way.map(flip)),
    width: columns.height,
    height: columns.width,
    isSideways: true,
  };
  return scaleIn(sideways, window) > scaleIn(rows, window) ? sideways : rows;
}
