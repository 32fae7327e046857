// SPDX-License-Identifier: Apache-2.0
// The picture: nodes and edges that are placed, with pan, zoom, keys and a small map.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isForPicture, useSize } from "../hooks.js";
import { parseColour, themeTokens } from "../palette.js";
import { type Camera, MOST_SCALE, centred, fit, leastScale, pan, reveal, zoom } from "./camera.js";
import type { NodeColour } from "./colours.js";
import { Arrows, Edges, Missing, type MissingEdge, Nodes } from "./drawing.js";
import { useHands } from "./hands.js";
import { type Size, layOut } from "./layout.js";
import { MiniMap } from "./minimap.js";
import type { Scene, SceneNode } from "./scene.js";
import { walk } from "./walk.js";

const TASK_SIZE: Size = { width: 136, height: 38 };
const GROUP_SIZE: Size = { width: 196, height: 50 };
const READABLE = 0.42; // below this scale there is no text

export interface PictureProps {
  scene: Scene;
  colours: readonly NodeColour[];
  selected: string | null; // key of a node
  onPath: ReadonlySet<string>; // "from to" of edges that are drawn strongly
  missing: readonly MissingEdge[];
  onSelect: (node: SceneNode) => void;
  onOpen: (node: SceneNode) => void;
  onOut: () => void; // to the next coarser picture
  label: string;
}

export function Picture(props: PictureProps) {
  const { scene, colours, selected } = props;
  const [box, window] = useSize<HTMLDivElement>();
  const svg = useRef<SVGSVGElement>(null);
  const size = scene.nodes.every((node) => node.kind === "task") ? TASK_SIZE : GROUP_SIZE;
  const isReady = window.width > 0;
  // The window's shape decides about rows or columns when the scene is new; later the picture keeps its shape.
  const layout = useMemo(() => layOut(scene.nodes.length, scene.edges, size, isReady ? window : { width: 900, height: 600 }), [scene, isReady]);
  const [camera, setCamera] = useState<Camera>({ x: 0, y: 0, scale: 1 });
  const [focused, setFocused] = useState<string | null>(null);
  const resting = useRef(0); // a change of the picture ends the gesture that caused it
  const least = leastScale(layout, window);

  const lastNodes = useRef("");

  useEffect(() => {
    if (!isReady) return;
    // A run that grows draws the same nodes again and again: who looks closely at one stays there.
    const nodes = scene.nodes.map((node) => node.key).join("\n");
    if (nodes === lastNodes.current) return;
    lastNodes.current = nodes;
    const all = fit(layout, window);
    const at = scene.nodes.findIndex((node) => node.key === selected);
    const place = layout.places[at];
    // A picture that would be too small to read begins at what is selected, or at its first layer.
    if (all.scale >= READABLE * 1.2) setCamera(all);
    else if (place) setCamera(centred({ ...all, scale: 0.8 }, place.x, place.y, window));
    else setCamera(all);
    resting.current = performance.now() + 350;
  }, [layout, isReady]);
  useEffect(() => {
    const at = scene.nodes.findIndex((node) => node.key === selected);
    if (at >= 0 && isReady) setCamera((old) => reveal(old, layout.places[at].x, layout.places[at].y, window));
  }, [selected]);

  const nodeAt = (target: EventTarget | null): SceneNode | null => {
    const number = (target as Element | null)?.closest?.("[data-node]")?.getAttribute("data-node");
    return number ? scene.nodes[Number(number)] : null;
  };
  const zoomAt = (factor: number, x: number, y: number) => {
    if (performance.now() < resting.current) return;
    if (factor < 1 && camera.scale <= least * 1.001) props.onOut();
    else if (factor > 1 && camera.scale >= MOST_SCALE * 0.999) {
      const corner = svg.current?.getBoundingClientRect();
      const node = corner && nodeAt(document.elementFromPoint(corner.left + x, corner.top + y));
      if (node && node.kind !== "task") props.onOpen(node);
    } else setCamera((old) => zoom(old, factor, x, y, least));
  };
  const panBy = (dx: number, dy: number) => setCamera((old) => pan(old, dx, dy, layout, window));
  useHands(box, { zoom: zoomAt, pan: panBy }, isReady);

  const focusNode = (index: number) => {
    const node = scene.nodes[index];
    if (!node) return;
    setFocused(node.key);
    setCamera((old) => reveal(old, layout.places[index].x, layout.places[index].y, window));
    svg.current?.querySelector<SVGGElement>(`[data-node="${index}"]`)?.focus({ preventScroll: true });
  };
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const here = nodeAt(event.target);
    const index = here ? scene.nodes.indexOf(here) : -1;
    const middle = [window.width / 2, window.height / 2] as const;
    const step = 60;
    const acts: Record<string, () => void> = {
      "+": () => zoomAt(1.3, ...middle),
      "=": () => zoomAt(1.3, ...middle),
      "-": () => zoomAt(1 / 1.3, ...middle),
      "0": () => setCamera(fit(layout, window)),
      Backspace: props.onOut,
    };
    if (event.shiftKey) {
      acts.ArrowLeft = () => panBy(step, 0);
      acts.ArrowRight = () => panBy(-step, 0);
      acts.ArrowUp = () => panBy(0, step);
      acts.ArrowDown = () => panBy(0, -step);
    } else {
      for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"] as const)
        acts[key] = () => focusNode(walk(scene, layout, index, key));
    }
    if (here) {
      acts[" "] = () => props.onSelect(here);
      acts.Enter = () => (here.key === selected || here.kind !== "task" ? props.onOpen(here) : props.onSelect(here));
    }
    if (!Object.hasOwn(acts, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    acts[event.key]();
  };

  const latestPress = useRef(press);
  latestPress.current = press;
  useEffect(() => {
    const pressOutside = (event: KeyboardEvent) => {
      if (svg.current && isForPicture(event, svg.current, false)) latestPress.current(event);
    };
    globalThis.addEventListener("keydown", pressOutside);
    return () => globalThis.removeEventListener("keydown", pressOutside);
  }, []);

  // One node can be reached by Tab: the last one that had the focus, the selected one, or the first.
  const stops = [focused, selected].map((key) => scene.nodes.findIndex((node) => node.key === key));
  const stop = Math.max(stops.find((index) => index >= 0) ?? 0, 0);
  useEffect(() => {
    for (const node of svg.current?.querySelectorAll<SVGGElement>("[data-node]") ?? []) {
      const index = Number(node.getAttribute("data-node"));
      node.setAttribute("tabindex", index === stop ? "0" : "-1");
      node.setAttribute("aria-pressed", String(scene.nodes[index]?.key === selected));
    }
  });

  const tokens = themeTokens();
  const content = useMemo(
    () => (
      <>
        <Edges scene={scene} layout={layout} onPath={props.onPath} />
        <Nodes scene={scene} layout={layout} size={size} colours={colours} paper={parseColour(tokens.panel)} />
        <Missing missing={props.missing} layout={layout} size={size} />
      </>
    ),
    [scene, layout, colours, props.onPath, props.missing, tokens],
  );
  return (
    <div class="graph-window" ref={box}>
      <svg
        ref={svg}
        class={camera.scale < READABLE ? "far" : ""}
        width="100%"
        height="100%"
        role="group"
        aria-label={props.label}
        onKeyDown={press}
        onClick={(event) => {
          const node = nodeAt(event.target);
          if (node) props.onSelect(node);
        }}
        onDblClick={(event) => {
          const node = nodeAt(event.target);
          if (node) props.onOpen(node);
        }}
        onFocusIn={(event) => setFocused(nodeAt(event.target)?.key ?? focused)}
      >
        <Arrows />
        <g transform={`translate(${camera.x} ${camera.y}) scale(${camera.scale})`}>{content}</g>
      </svg>
      <div class="graph-zoom" role="group" aria-label="Zoom">
        <button type="button" class="button" aria-label="Larger" onClick={() => zoomAt(1.4, window.width / 2, window.height / 2)}>
          +
        </button>
        <button type="button" class="button" aria-label="Smaller" onClick={() => zoomAt(1 / 1.4, window.width / 2, window.height / 2)}>
          −
        </button>
        <button type="button" class="button" onClick={() => setCamera(fit(layout, window))}>
          Fit
        </button>
      </div>
      <MiniMap
        layout={layout}
        size={size}
        colours={colours}
        camera={camera}
        window={window}
        onMove={(x, y) => setCamera((old) => centred(old, x, y, window))}
      />
    </div>
  );
}
