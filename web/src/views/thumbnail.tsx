// SPDX-License-Identifier: Apache-2.0
// A small heatmap of a whole tensor. It asks when it is seen first.
import { useEffect, useRef, useState } from "preact/hooks";
import { type TaskRecord, type TensorInfo, ask } from "../api.js";
import { isDarkNow } from "../heatmap/heatmap.js";
import { paintTile } from "../heatmap/paint.js";
import { planeOf } from "../heatmap/plane.js";
import { rangeOf } from "../heatmap/range.js";
import { KIND, type Tile, extremes, kindsIn, loadTile } from "../heatmap/tiles.js";
import { useThemeChange } from "../hooks.js";
import { linkTo } from "../route.js";
import { Badge } from "../widgets.js";
import { recordTitle, stageText } from "./record-words.js";

interface Loaded {
  tile: Tile | null;
  error: string;
}

async function loadWhole(run: string, record: number, signal: AbortSignal): Promise<Loaded> {
  const info = await ask<TensorInfo>("tensor", { run, record }, signal);
  if (!info.readable) return { tile: null, error: info.why };
  if (info.elements === 0) return { tile: null, error: "no elements" };
  const plane = planeOf(info.view, info.rows, info.cols);
  const subject = { name: "heatmap" as const, parameters: { run, record } };
  return { tile: await loadTile(subject, plane, { level: info.levels - 1, row: 0, col: 0 }, signal), error: "" };
}

/** Loads once the element has been on the screen. */
function useWhole(run: string, record: number, element: { current: Element | null }): Loaded | null {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      loadWhole(run, record, stop.signal).then(setLoaded, (cause: unknown) => {
        if (!stop.signal.aborted) setLoaded({ tile: null, error: cause instanceof Error ? cause.message : String(cause) });
      });
    });
    if (element.current) observer.observe(element.current);
    return () => {
      stop.abort();
      observer.disconnect();
    };
  }, [run, record]);
  return loaded;
}

/** A tensor of one dimension is a strip: its cells are stretched to the height of the picture. */
function paint(canvas: HTMLCanvasElement, tile: Tile): void {
  const seen = extremes(tile);
  const full = Number.isFinite(seen.low) ? { low: seen.low, high: seen.high } : { low: 0, high: 1 };
  const range = rangeOf("auto", full, null, full);
  const isDark = isDarkNow();
  const map = full.low < 0 && full.high > 0 ? "diverging" : "lagoon";
  const image = paintTile(tile, { map, range, isLog: false, kinds: "values", cell: "mean", isDark }, `${map} ${range.low} ${range.high} ${isDark}`);
  canvas.width = tile.width;
  canvas.height = tile.height;
  canvas.getContext("2d")?.drawImage(image, 0, 0);
}

export function Thumbnail({ run, record }: { run: string; record: TaskRecord }) {
  const place = useRef<HTMLAnchorElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const loaded = useWhole(run, record.index, place);
  const theme = useThemeChange();
  const tile = loaded?.tile ?? null;
  useEffect(() => {
    if (canvas.current && tile) paint(canvas.current, tile);
  }, [tile, theme]);
  const kinds = tile ? kindsIn(tile) : 0;
  const name = `${stageText(record.stage)}: ${recordTitle(record)}, record ${record.index}`;
  return (
    <a ref={place} class="thumbnail" href={linkTo("tensor", { run, record: record.index })} aria-label={`${name}${kinds & KIND.nan ? ", has NaN" : ""}`} title={loaded?.error || name}>
      {tile ? <canvas ref={canvas} class={tile.height === 1 ? "strip-picture" : ""} /> : <span class="thumbnail-none">{loaded ? "no values" : "…"}</span>}
      <span class="thumbnail-badges">
        {(kinds & KIND.nan) !== 0 && <Badge tone="bad">NaN</Badge>}
        {(kinds & (KIND.infinite | KIND.negative)) !== 0 && <Badge tone="bad">Inf</Badge>}
      </span>
    </a>
  );
}
