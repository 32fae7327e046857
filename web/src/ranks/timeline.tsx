// SPDX-License-Identifier: Apache-2.0
// The picture of several ranks on its canvas: drags, wheel and keys move it, a click selects a call.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatNs, plural } from "../format.js";
import { isForPicture, useSize, useThemeChange } from "../hooks.js";
import { Camera } from "../timeline/camera.js";
import { type Painted, paint, timeAt } from "./paint.js";
import { GUTTER, type Scene } from "./scene.js";

const CLICK_SLACK = 4; // pixels that a click may move

export function RanksTimeline(props: { scene: Scene; selected: number; onSelect: (call: number) => void }) {
  const { scene, selected, onSelect } = props;
  const [box, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const camera = useMemo(() => new Camera(scene.span, false), [scene]);
  const [moved, setMoved] = useState(0);
  const [hovered, setHovered] = useState(-1);
  const [painted, setPainted] = useState<Painted>({ arrows: 0, all: 0 });
  const theme = useThemeChange();
  const width = Math.max(GUTTER + 50, size.width);
  const redraw = () => setMoved((count) => count + 1);

  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!canvas.current || !context || !size.width) return;
    const scale = window.devicePixelRatio || 1;
    canvas.current.width = Math.round(width * scale);
    canvas.current.height = Math.round(scene.height * scale);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const now = paint({ context, width, scene, camera, selected, hovered });
    setPainted((old) => (old.arrows === now.arrows && old.all === now.all ? old : now));
  }, [scene, camera, moved, width, selected, hovered, theme, size.width]);

  useHands(canvas, scene, camera, width, { redraw, setHovered, onSelect });
  const hidden = painted.all - painted.arrows;
  const { calls } = scene;
  return (
    <div class="ranks-plot" ref={box}>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="img"
        style={{ height: `${scene.height}px` }}
        aria-label={`Timeline of ${plural(scene.groups.length, "rank")}, ${formatNs(scene.span)}, ${plural(painted.all, "message")} in sight`}
      />
      <p class="note" role="status">
        {hovered >= 0
          ? `${calls.describe(hovered)} on rank ${calls.rank[hovered]}: waited ${formatNs(calls.waitOf(hovered))}, ${calls.stateOf(hovered)}`
          : hidden > 0
            ? `${painted.arrows} of ${plural(painted.all, "message")} in sight are drawn: those whose receivers waited longest, between ranks that are shown.`
            : `${plural(painted.all, "message")} in sight. Pale: a call waits for the other side. W and S zoom, A and D move.`}
      </p>
    </div>
  );
}

interface Hands {
  redraw: () => void;
  setHovered: (call: number) => void;
  onSelect: (call: number) => void;
}

function useHands(element: { current: HTMLCanvasElement | null }, scene: Scene, camera: Camera, width: number, hands: Hands): void {
  const latest = useRef(hands);
  latest.current = hands;
  useEffect(() => {
    const canvas = element.current;
    if (!canvas) return undefined;
    let drag: { x: number; moved: boolean } | null = null;
    const placeOf = (event: { clientX: number; clientY: number }) => {
      const box = canvas.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    const callAt = (x: number, y: number) => {
      const row = scene.rowAt(y);
      if (row?.kind !== "calls" || !row.lane || x < GUTTER) return -1;
      const picture = { scene, camera, width };
      const slack = 3 * (timeAt(picture, 1) - timeAt(picture, 0));
      const slice = row.lane.at(timeAt(picture, x), slack);
      return slice < 0 ? -1 : row.lane.item[slice];
    };
    const zoom = (factor: number, x: number) => {
      camera.zoom(factor, timeAt({ scene, camera, width }, x) - scene.from, true);
      latest.current.redraw();
    };
    const pan = (share: number) => {
      camera.pan(share, true);
      latest.current.redraw();
    };
    const down = (event: PointerEvent) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      drag = { x: event.clientX, moved: false };
    };
    const move = (event: PointerEvent) => {
      const { x, y } = placeOf(event);
      if (!drag) {
        latest.current.setHovered(callAt(x, y));
        return;
      }
      if (!drag.moved && Math.abs(event.clientX - drag.x) < CLICK_SLACK) return;
      drag.moved = true;
      pan((drag.x - event.clientX) / Math.max(1, width - GUTTER));
      drag.x = event.clientX;
    };
    const up = (event: PointerEvent) => {
      const { x, y } = placeOf(event);
      if (drag && !drag.moved && event.type === "pointerup") latest.current.onSelect(callAt(x, y));
      drag = null;
    };
    const leave = () => latest.current.setHovered(-1);
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey && !event.shiftKey && Math.abs(event.deltaX) < Math.abs(event.deltaY)) return; // the page scrolls
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), placeOf(event).x);
      else pan((event.deltaX || event.deltaY) / width);
    };
    const middle = () => GUTTER + (width - GUTTER) / 2;
    const keys: Record<string, () => void> = {
      w: () => zoom(0.8, middle()),
      "+": () => zoom(0.8, middle()),
      s: () => zoom(1.25, middle()),
      "-": () => zoom(1.25, middle()),
      a: () => pan(-0.15),
      d: () => pan(0.15),
      "0": () => {
        camera.showAll(true);
        latest.current.redraw();
      },
    };
    const press = (event: KeyboardEvent) => {
      const act = keys[event.key.toLowerCase()];
      if (!act || (event.target !== canvas && !isForPicture(event, canvas))) return;
      event.preventDefault();
      act();
    };
    canvas.addEventListener("pointerdown", down);
    canvas.addEventListener("pointermove", move);
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", leave);
    canvas.addEventListener("wheel", wheel, { passive: false });
    window.addEventListener("keydown", press);
    return () => {
      canvas.removeEventListener("pointerdown", down);
      canvas.removeEventListener("pointermove", move);
      canvas.removeEventListener("pointerup", up);
      canvas.removeEventListener("pointercancel", up);
      canvas.removeEventListener("pointerleave", leave);
      canvas.removeEventListener("wheel", wheel);
      window.removeEventListener("keydown", press);
    };
  }, [scene, camera, width]);
}
