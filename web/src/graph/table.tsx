// SPDX-License-Identifier: Apache-2.0
// The picture as a table: the same nodes and edges, for those who do not see it, and to sort.
import { useMemo } from "preact/hooks";
import { linkTo } from "../route.js";
import { Table } from "../widgets.js";
import type { NodeColour } from "./colours.js";
import type { Scene, SceneNode } from "./scene.js";
import { nodeName, timeText } from "./words.js";

interface Row {
  node: SceneNode;
  index: number;
  waitsFor: string[];
  colour: string;
}

const MOST_NAMES = 8;

function names(list: readonly string[]): string {
  return list.length > MOST_NAMES ? `${list.slice(0, MOST_NAMES).join(", ")} and ${list.length - MOST_NAMES} more` : list.join(", ");
}

export function SceneTable(props: { scene: Scene; colours: readonly NodeColour[]; run: string; onOpen: (node: SceneNode) => void }) {
  const { scene, colours, run } = props;
  const rows = useMemo(() => {
    const waitsFor: string[][] = scene.nodes.map(() => []);
    for (const { from, to } of scene.edges) waitsFor[to].push(nodeName(scene.nodes[from]));
    return scene.nodes.map((node, index): Row => ({ node, index, waitsFor: waitsFor[index], colour: colours[index]?.word ?? "" }));
  }, [scene, colours]);
  return (
    <Table<Row>
      label="The nodes of the picture"
      rows={rows}
      rowKey={(row) => row.node.key}
      columns={[
        {
          name: "Node",
          cell: ({ node }) =>
            node.kind === "task" ? (
              <a href={linkTo("task", { run, task: node.label })}>{nodeName(node)}</a>
            ) : (
              <button type="button" class="button quiet" onClick={() => props.onOpen(node)}>
                {nodeName(node)}
              </button>
            ),
          sort: ({ node }) => nodeName(node),
        },
        { name: "Tasks", cell: ({ node }) => node.tasks.toLocaleString("en"), sort: ({ node }) => node.tasks, number: true },
        { name: "Time", cell: ({ node }) => timeText(node), sort: ({ node }) => (node.tasks === node.untimed ? null : node.time), number: true },
        { name: "Waits for", cell: ({ waitsFor }) => names(waitsFor), sort: ({ waitsFor }) => waitsFor.length },
        { name: "Colour", cell: ({ colour }) => colour },
      ]}
    />
  );
}
