// SPDX-License-Identifier: Apache-2.0
// The whole picture, small, and which part of it the window shows. For the mouse alone: keys move the picture itself.
import { useEffect, useRef } from "preact/hooks";
import { themeTokens, toCss } from "../palette.js";
import type { Camera } from "./camera.js";
import type { NodeColour } from "./colours.js";
import type { Layout, Size } from "./layout.js";

const MOST: Size = { width: 168, height: 116 };
const LEAST = 40;

export function MiniMap(props: {
  layout: Layout;
  size: Size;
  colours: readonly NodeColour[];
  camera: Camera;
  window: Size;
  onMove: (x: number, y: number) => void;
}) {
  const { layout, size, camera, window } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const scale = Math.min(MOST.width / Math.max(layout.width, 1), MOST.height / Math.max(layout.height, 1));
  const width = Math.max(Math.round(layout.width * scale), LEAST);
  const height = Math.max(Math.round(layout.height * scale), LEAST / 2);
  const isWhole = layout.width * camera.scale <= window.width && layout.height * camera.scale <= window.height;
  useEffect(() => {
    const element = canvas.current;
    const g = element?.getContext("2d");
    if (!element || !g) return;
    const ratio = devicePixelRatio || 1;
    element.width = width * ratio;
    element.height = height * ratio;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    const tokens = themeTokens();
    layout.places.forEach(({ x, y }, i) => {
      const colour = props.colours[i]?.colour;
      g.fillStyle = colour ? toCss(colour) : tokens.faint;
      const w = Math.max(size.width * scale, 1.5);
      const h = Math.max(size.height * scale, 1.5);
      g.fillRect(x * scale - w / 2, y * scale - h / 2, w, h);
    });
    const part = scale / camera.scale;
    g.strokeStyle = tokens.accent;
    g.lineWidth = 1.5;
    g.strokeRect(-camera.x * part, -camera.y * part, window.width * part, window.height * part);
  });
  const move = (event: PointerEvent) => {
    if (!(event.buttons & 1)) return;
    event.stopPropagation();
    const box = (event.currentTarget as Element).getBoundingClientRect();
    props.onMove((event.clientX - box.left) / scale, (event.clientY - box.top) / scale);
  };
  if (isWhole) return null;
  return (
    <div class="graph-map" aria-hidden="true">
      <canvas ref={canvas} style={{ width, height }} onPointerDown={move} onPointerMove={move} />
    </div>
  );
}
