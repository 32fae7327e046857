// SPDX-License-Identifier: Apache-2.0
// Nodes and edges as SVG. Names become text nodes: a name of a stranger stays a name.
import { EDGE_KINDS } from "../model.js";
import { type Rgb, inkOn, mix, toCss } from "../palette.js";
import type { NodeColour } from "./colours.js";
import type { Layout, Point, Size } from "./layout.js";
import { fitted } from "./measure.js";
import type { Scene, SceneEdge } from "./scene.js";
import { aboutNode, edgeTitle, secondLine } from "./words.js";

/** An edge that is not in the graph: two nodes with tasks that share bytes in no order. */
export interface MissingEdge {
  from: number;
  to: number;
  title: string;
}

/** A smooth line through points, along the layers' direction. */
function wayPath(way: readonly Point[], isSideways: boolean): string {
  const round = (value: number) => Math.round(value * 10) / 10;
  const words = [`M${round(way[0].x)} ${round(way[0].y)}`];
  for (let i = 1; i < way.length; i++) {
    const [a, b] = [way[i - 1], way[i]];
    const half = isSideways ? (b.x - a.x) / 2 : (b.y - a.y) / 2;
    const [c, d] = isSideways
      ? [{ x: a.x + half, y: a.y }, { x: b.x - half, y: b.y }]
      : [{ x: a.x, y: a.y + half }, { x: b.x, y: b.y - half }];
    words.push(`C${round(c.x)} ${round(c.y)} ${round(d.x)} ${round(d.y)} ${round(b.x)} ${round(b.y)}`);
  }
  return words.join("");
}

function kindClass(kinds: number): string {
  const single = EDGE_KINDS.findIndex((_, kind) => kinds === 1 << kind);
  return single < 0 ? "several" : EDGE_KINDS[single];
}

export function Edges({ scene, layout, onPath }: { scene: Scene; layout: Layout; onPath: ReadonlySet<string> }) {
  const line = (edge: SceneEdge, i: number) => {
    const isMarked = onPath.has(`${edge.from} ${edge.to}`);
    return (
      <path
        key={`${scene.nodes[edge.from].key} ${scene.nodes[edge.to].key}`}
        class={`graph-edge ${kindClass(edge.kinds)} ${isMarked ? "marked" : ""}`}
        d={wayPath(layout.ways[i], layout.isSideways)}
        stroke-width={isMarked ? 3 : Math.min(1.2 + Math.log2(edge.count) * 0.35, 5)}
        marker-end={`url(#graph-${isMarked ? "marked" : "arrow"})`}
      >
        <title>{edgeTitle(scene, edge)}</title>
      </path>
    );
  };
  const pairs = new Set(scene.edges.map(({ from, to }) => `${from} ${to}`));
  const counts = scene.edges.flatMap((edge, i) => {
    if (edge.count < 2) return [];
    const way = layout.ways[i];
    const at = Math.floor((way.length - 1) / 2);
    const [a, b] = [way[at], way[at + 1] ?? way[at]];
    // The numbers of two edges in opposite directions would cover each other.
    const aside = !pairs.has(`${edge.to} ${edge.from}`) ? 0 : edge.from < edge.to ? -9 : 9;
    const [x, y] = [(a.x + b.x) / 2, (a.y + b.y) / 2];
    return [
      <text key={i} class="graph-count" x={layout.isSideways ? x + aside : x} y={layout.isSideways ? y : y + aside}>
        {edge.count.toLocaleString("en")}
      </text>,
    ];
  });
  return (
    <g aria-hidden="true">
      {scene.edges.map(line)}
      {counts}
    </g>
  );
}

/** From box to box: above them if they stand side by side, else from the lower end of one to the upper end of the other. */
function missingWay(a: Point, b: Point, size: Size): string {
  const half = size.height / 2;
  if (a === b) return `M${a.x - 40} ${a.y - half}c-10 -44 90 -44 80 0`;
  if (Math.abs(a.y - b.y) < size.height) return `M${a.x} ${a.y - half}Q${(a.x + b.x) / 2} ${Math.min(a.y, b.y) - half - 44} ${b.x} ${b.y - half}`;
  const [upper, lower] = a.y < b.y ? [a, b] : [b, a];
  return `M${upper.x} ${upper.y + half}C${upper.x} ${upper.y + half + 50} ${lower.x} ${lower.y - half - 50} ${lower.x} ${lower.y - half}`;
}

/** Missing edges have no arrow: nothing says who comes first. */
export function Missing({ missing, layout, size }: { missing: readonly MissingEdge[]; layout: Layout; size: Size }) {
  return (
    <g aria-hidden="true">
      {missing.map(({ from, to, title }, i) => (
        <path key={i} class="graph-race" d={missingWay(layout.places[from], layout.places[to], size)}>
          <title>{title}</title>
        </path>
      ))}
    </g>
  );
}

export function Nodes(props: {
  scene: Scene;
  layout: Layout;
  size: Size;
  colours: readonly NodeColour[];
  paper: Rgb;
}) {
  const { scene, layout, size, colours, paper } = props;
  return (
    <>
      {scene.nodes.map((node, i) => {
        const { x, y } = layout.places[i];
        const colour = colours[i]?.colour;
        const fill = colour ? mix(paper, colour, 0.2) : paper;
        const name = fitted(node.kind === "task" ? (node.kernel ?? "?") : node.label, size.width - 22, "600 12.5px");
        const second = fitted(secondLine(node), size.width - 22, "11px");
        const about = `${name} ${second}: ${aboutNode(scene, i, colours[i]?.word ?? "")}`;
        return (
          <g
            key={node.key}
            data-node={i}
            class={`graph-node ${node.kind}`}
            transform={`translate(${x - size.width / 2} ${y - size.height / 2})`}
            role="button"
            tabindex={-1}
            aria-label={about}
            style={{ "--fill": toCss(fill), "--far": colour ? toCss(colour) : undefined, color: inkOn(fill) }}
          >
            <rect class="graph-box" width={size.width} height={size.height} rx={7} />
            {colour && <rect class="graph-stripe" x={0.5} y={0.5} width={7} height={size.height - 1} rx={3} fill={toCss(colour)} />}
            <text class="graph-name" x={16} y={size.height / 2 - 4}>
              {name}
            </text>{" "}
            <text class="graph-second" x={16} y={size.height / 2 + 12}>
              {second}
            </text>
          </g>
        );
      })}
    </>
  );
}

export function Arrows() {
  return (
    <defs>
      {["arrow", "marked"].map((name) => (
        <marker
          key={name}
          id={`graph-${name}`}
          class={`graph-${name}`}
          viewBox="0 0 8 8"
          refX={7}
          refY={4}
          markerWidth={8}
          markerHeight={8}
          markerUnits="userSpaceOnUse"
          orient="auto"
        >
          <path d="M0 0.5L8 4L0 7.5z" />
        </marker>
      ))}
    </defs>
  );
}
