// SPDX-License-Identifier: Apache-2.0
// Words for nodes and edges.
import { formatNs, plural } from "../format.js";
import { EDGE_KINDS } from "../model.js";
import { KIND_MASK_OTHER, type Scene, type SceneEdge, type SceneNode } from "./scene.js";

/** The time of a node, with what is not known. */
export function timeText(node: SceneNode): string {
  if (node.tasks > 0 && node.untimed === node.tasks) return "time not known";
  const time = formatNs(node.time);
  return node.untimed > 0 ? `${time} and ${plural(node.untimed, "task")} without times` : time;
}

/** The line below the name. */
export function secondLine(node: SceneNode): string {
  const time = node.untimed === node.tasks ? "" : formatNs(node.time);
  if (node.kind === "task") return [`task ${node.label}`, time].filter(Boolean).join(" · ");
  const words = [plural(node.tasks, "task"), time].filter(Boolean);
  if (node.kind === "outside") words.unshift("outside");
  return words.join(" · ");
}

export function nodeName(node: SceneNode): string {
  if (node.kind === "task") return `task ${node.label} ${node.kernel ?? ""}`.trim();
  return node.part ? `tasks ${node.label}` : node.label;
}

export function kindsText(kinds: number): string {
  const names: string[] = EDGE_KINDS.filter((_, kind) => kinds & (1 << kind));
  if (kinds & KIND_MASK_OTHER) names.push("kind not known");
  return names.join(", ");
}

export function edgeTitle(scene: Scene, edge: SceneEdge): string {
  const [from, to] = [nodeName(scene.nodes[edge.from]), nodeName(scene.nodes[edge.to])];
  return `${to} waits for ${from}: ${plural(edge.count, "edge")} (${kindsText(edge.kinds)})`;
}

/** What the picture shows of a node beside its name, in words. */
export function aboutNode(scene: Scene, index: number, colour: string): string {
  const node = scene.nodes[index];
  const before = scene.edges.filter((edge) => edge.to === index).length;
  const after = scene.edges.filter((edge) => edge.from === index).length;
  const what = node.kind === "task" ? "task" : "group";
  const words = [`waits for ${plural(before, what)}`, `${plural(after, what)} ${after === 1 ? "waits" : "wait"} for it`];
  if (node.kind === "outside") words.unshift("outside of the selection");
  if (node.inside) words.push(`${plural(node.inside, "edge")} inside`);
  if (node.hidden) words.push(`${plural(node.hidden, "neighbour")} not shown`);
  if (node.untimed) words.push(node.untimed === node.tasks ? "time not known" : `${plural(node.untimed, "task")} without times`);
  if (node.scope) words.push(`scope ${node.scope}`);
  if (colour && colour !== node.kernel) words.push(colour);
  return words.join(", ");
}
