// SPDX-License-Identifier: Apache-2.0
// The arrow keys: along the edges from layer to layer, and from node to node within a layer.
import type { Layout } from "./layout.js";
import type { Scene } from "./scene.js";

export type Arrow = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

/** The node that an arrow key leads to; the same one if there is none, and the first one from nowhere. */
export function walk(scene: Scene, layout: Layout, from: number, arrow: Arrow): number {
  if (from < 0) return scene.nodes.length ? 0 : -1;
  const isBack = arrow === "ArrowLeft" || arrow === "ArrowUp";
  const isAlongEdges = layout.isSideways === (arrow === "ArrowLeft" || arrow === "ArrowRight");
  return isAlongEdges ? alongEdge(scene, layout, from, isBack) : beside(layout, from, isBack);
}

/** The neighbour that lies straightest ahead. */
function alongEdge(scene: Scene, layout: Layout, from: number, isBack: boolean): number {
  const here = layout.places[from];
  let best = from;
  let least = Infinity;
  for (const edge of scene.edges) {
    if ((isBack ? edge.to : edge.from) !== from) continue;
    const other = isBack ? edge.from : edge.to;
    const { x, y } = layout.places[other];
    const aside = layout.isSideways ? Math.abs(y - here.y) : Math.abs(x - here.x);
    const ahead = layout.isSideways ? Math.abs(x - here.x) : Math.abs(y - here.y);
    if (aside + ahead * 0.01 < least) {
      least = aside + ahead * 0.01;
      best = other;
    }
  }
  // The end of a way: go on to whatever lies there.
  return best === from ? nearest(layout, from, isBack, layout.isSideways) : best;
}

function beside(layout: Layout, from: number, isBack: boolean): number {
  return nearest(layout, from, isBack, !layout.isSideways);
}

/** The nearest node on one side of this one. */
function nearest(layout: Layout, from: number, isBack: boolean, isHorizontal: boolean): number {
  const here = layout.places[from];
  let best = from;
  let least = Infinity;
  layout.places.forEach(({ x, y }, i) => {
    const ahead = (isHorizontal ? x - here.x : y - here.y) * (isBack ? -1 : 1);
    const aside = Math.abs(isHorizontal ? y - here.y : x - here.x);
    if (ahead <= 1) return;
    const distance = ahead + aside * 4;
    if (distance < least) {
      least = distance;
      best = i;
    }
  });
  return best;
}
