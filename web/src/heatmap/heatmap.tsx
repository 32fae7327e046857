// SPDX-License-Identifier: Apache-2.0
// A heatmap, or a line for a tensor of one dimension, with zoom down to single numbers.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useThemeChange } from "../hooks.js";
import { luminance, parseColour, themeTokens } from "../palette.js";
import type { Camera, Size } from "./camera.js";
import { type Drawn, RULER, draw } from "./draw.js";
import { listen } from "./gestures.js";
import "./heatmap.css";
import { drawLine } from "./line.js";
import type { Look } from "./paint.js";
import { Picture, type Place } from "./picture.js";
import type { Plane } from "./plane.js";
import type { Subject } from "./tiles.js";

/** True if the page is dark now. */
export function isDarkNow(): boolean {
  return luminance(parseColour(themeTokens().paper)) < 0.2;
}

/** A picture that lives as long as its subject and plane do. null: there is none yet. */
export function usePicture(subject: Subject | null, plane: Plane | null, texts: { run: string; record: number } | null): Picture | null {
  const key = subject && plane ? JSON.stringify([subject, plane, texts]) : "";
  const picture = useMemo(() => (subject && plane ? new Picture(subject, plane, texts) : null), [key]);
  useEffect(() => () => picture?.close(), [picture]);
  return picture;
}

/** Draws again when a picture has got a tile or a text. */
export function usePictureChange(picture: Picture | null): number {
  const [count, setCount] = useState(0);
  useEffect(() => picture?.watch(() => setCount((old) => old + 1)), [picture]);
  return count;
}

const REST_MS = 120; // after which the mouse is taken to look at an element

export function Heatmap(props: {
  picture: Picture;
  camera: Camera;
  look: Look;
  label: string; // what the picture shows, for those who do not see it
  isLine?: boolean;
  isHex?: boolean;
  selected: Place | null;
  marks?: readonly Place[]; // elements worth looking at
  onSelect: (place: Place | null) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const screen = useRef<Size>({ width: 0, height: 0 });
  const [drawn, setDrawn] = useState<Drawn>({ sampled: false, isCoarse: true });
  const [error, setError] = useState("");
  const theme = useThemeChange();
  const latest = useRef(props);
  latest.current = props;
  const { picture, camera } = props;

  /** One drawing for all that happened since the last frame. */
  const redraw = useRef(() => {});
  useEffect(() => {
    let frame = 0;
    let rest = 0;
    let rested: Place | null = null;
    const paint = () => {
      frame = 0;
      const element = canvas.current;
      const { look, isLine, isHex, selected } = latest.current;
      if (!element || screen.current.width <= 0) return;
      const places = [selected, rested].filter((place) => place !== null);
      picture.want(camera, screen.current, places);
      const scene = { picture, camera, look, isHex: !!isHex, selected, marks: latest.current.marks ?? [], tokens: themeTokens(), screen: screen.current, ratio: element.width / element.clientWidth };
      // A picture that is shown whole needs no dragging, so a finger scrolls the page.
      element.style.touchAction = camera.fitted ? "pan-y" : "none";
      const context = element.getContext("2d") as CanvasRenderingContext2D;
      const now = (isLine ? drawLine : draw)(context, scene);
      setDrawn((old) => (old.sampled === now.sampled && old.isCoarse === now.isCoarse ? old : now));
      setError(picture.tiles.error);
    };
    redraw.current = () => {
      frame ||= requestAnimationFrame(paint);
    };
    const moved = () => {
      redraw.current();
      clearTimeout(rest);
      rest = window.setTimeout(() => {
        rested = camera.pointer;
        if (rested) redraw.current();
      }, REST_MS);
    };
    const stops = [camera.watch(moved), picture.watch(redraw.current)];
    const ground = {
      canvas: canvas.current as HTMLCanvasElement,
      camera,
      plane: picture.plane,
      screen: () => screen.current,
      selected: () => latest.current.selected,
      select: (place: Place | null) => latest.current.onSelect(place),
    };
    stops.push(listen(ground));
    const observer = new ResizeObserver(() => {
      const element = ground.canvas;
      const ratio = window.devicePixelRatio || 1;
      element.width = Math.round(element.clientWidth * ratio);
      element.height = Math.round(element.clientHeight * ratio);
      screen.current = { width: element.clientWidth - RULER.left, height: element.clientHeight - RULER.top };
      camera.screen = screen.current;
      if (camera.fitted) camera.fit(picture.plane, screen.current);
      else redraw.current();
    });
    observer.observe(ground.canvas);
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(rest);
      observer.disconnect();
      for (const stop of stops) stop();
    };
  }, [picture, camera]);
  useEffect(() => redraw.current(), [props.look, props.isLine, props.isHex, props.selected, props.marks, theme]);

  return (
    <div class="heatmap">
      <canvas ref={canvas} tabIndex={0} role="img" aria-label={props.label} />
      {error ? (
        <p class="heatmap-note bad" role="alert">
          {error}
        </p>
      ) : (
        (drawn.sampled || drawn.isCoarse) && (
          <p class="heatmap-note">{drawn.isCoarse ? "Loading…" : "Sampled: each cell looked at some of its elements only. Zoom in to see all."}</p>
        )
      )}
    </div>
  );
}
