// SPDX-License-Identifier: Apache-2.0
// One tensor of a recording: as a heatmap, a line, a histogram, and as numbers. In the address:
//
//   record                   its number; without it the records are listed, with `task` those of a task
//   rows, cols, at           the slice: two dimensions, and an index in each dimension
//   as=heatmap, wrap         a tensor of one dimension in rows of `wrap`
//   element                  the selected element, in row-major order; without `zoom` the picture goes there
//   zoom                     the middle of the picture (row, column) and pixels of an element
//   map, range, low, high    colours
//   kinds, cell, numbers, counts=log
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type RunInfo, type TensorInfo, downloadAddress } from "../api.js";
import { formatBytes, formatCount } from "../format.js";
import { Camera, NUMBER_SCALE } from "../heatmap/camera.js";
import { type Choices, ColourControls, KindsSwitch, NumbersSwitch, ZoomButtons, choicesOf } from "../heatmap/controls.js";
import { Heatmap, isDarkNow, usePicture, usePictureChange } from "../heatmap/heatmap.js";
import { HistogramChart } from "../heatmap/histogram.js";
import { Legend } from "../heatmap/legend.js";
import type { Look } from "../heatmap/paint.js";
import type { Picture, Place } from "../heatmap/picture.js";
import { type Plane, elementAt, placeFromAddress, planeFromAddress, usualWrap, wrappedPlane } from "../heatmap/plane.js";
import { type Histogram, type Range, numberFrom, percentiles, rangeOf } from "../heatmap/range.js";
import { Readout } from "../heatmap/readout.js";
import { SliceControls } from "../heatmap/slice.js";
import { type Loaded, useAsk, useThemeChange } from "../hooks.js";
import { linkTo, note } from "../route.js";
import { Badge, CopyButton, EmptyState, ErrorLine, Facts, Loading, Note, Panel, Segmented } from "../widgets.js";
import { RecordBadges, recordTitle, stageText } from "./record-words.js";
import { History } from "./tensor-history.js";
import { RecordList } from "./tensor-list.js";
import "./tensor.css";
import type { View, ViewProps } from "./view.js";

interface Stats {
  elements: number;
  nan: number;
  infinite: number;
  finite: number;
  zero: number;
  denormal: number;
  least: string | null;
  most: string | null;
  mean: number | null;
  deviation: number | null;
  looked_at: number;
  complete: boolean;
}

const NOTE_MS = 250;

function Tensor({ route, run, generation }: ViewProps) {
  const record = route.parameters.record;
  if (!run) return null;
  if (record === undefined || !/^\d{1,15}$/.test(record)) return <RecordList run={run} generation={generation} task={route.parameters.task} />;
  return <OneTensor key={`${run.key} ${record}`} run={run} record={Number(record)} parameters={route.parameters} generation={generation} />;
}

function OneTensor(props: { run: RunInfo; record: number; parameters: Record<string, string>; generation: number }) {
  const { run, record, parameters, generation } = props;
  const tensor = useAsk<TensorInfo>("tensor", { run: run.key, record }, generation);
  if (tensor.error) return <ErrorLine>{tensor.error}</ErrorLine>;
  if (!tensor.value) return <Loading>Opening the tensor</Loading>;
  const info = tensor.value;
  return (
    <div class="tensor">
      <Head run={run} info={info} />
      {info.kind === "scalar" ? (
        <p class="scalar-value mono">{info.value ?? ""}</p>
      ) : !info.readable ? (
        <EmptyState title="No values to show">{info.why}</EmptyState>
      ) : info.elements === 0 ? (
        <EmptyState title="This tensor has no elements" />
      ) : (
        <Values run={run} info={info} parameters={parameters} />
      )}
      <History run={run} info={info} />
    </div>
  );
}

function Head({ run, info }: { run: RunInfo; info: TensorInfo }) {
  const npy = info.readable && info.kind !== "scalar" ? downloadAddress("npy", { run: run.key, record: info.index }) : null;
  return (
    <header class="tensor-head">
      <div class="tensor-name">
        <h2>
          {recordTitle(info)} <span class="faint">record {info.index}</span>
        </h2>
        <p>
          {info.task !== null ? (
            <a href={linkTo("task", { run: run.key, task: info.task })}>
              task {info.task} {info.kernels.join("+")}
            </a>
          ) : (
            "the orchestration"
          )}
          , {stageText(info.stage)}, {info.role} arg {info.arg}, <span class="mono">{info.dtype}</span> <span class="mono">({info.shape.join(", ")})</span>,{" "}
          {formatBytes(info.bytes)} <RecordBadges record={info} />
        </p>
        {info.cut && (
          <Note>
            Cut: only the first {formatCount(info.elements)} elements were stored, shown as one dimension.
          </Note>
        )}
      </div>
      <div class="toolbar">
        {npy && (
          <a class="button" href={npy} download={`record_${info.index}.npy`}>
            Download npy
          </a>
        )}
        {info.readable && info.kind !== "scalar" && <CopyButton text={info.numpy} label="Copy as NumPy" title={info.numpy} />}
      </div>
    </header>
  );
}

/** The plane that the address asks for. */
function planeFrom(info: TensorInfo, parameters: Record<string, string>): Plane {
  if (info.view.length !== 1 || parameters.as !== "heatmap") return planeFromAddress(info, parameters);
  const wrap = Number(parameters.wrap);
  return wrappedPlane(info.elements, wrap >= 1 ? wrap : usualWrap(info.elements));
}

/** A camera that keeps itself in the address, and goes to the element that an address names. */
function useCamera(plane: Plane, parameters: Record<string, string>, selected: Place | null) {
  const shape = `${plane.height} ${plane.width} ${plane.rows} ${plane.cols} ${plane.wrap}`;
  const camera = useMemo(() => new Camera(), [shape]);
  const own = useRef({ element: undefined as string | undefined, zoom: undefined as string | undefined });
  useMemo(() => {
    if (!camera.read(parameters.zoom) && selected) camera.centre(selected.row, selected.col, NUMBER_SCALE * 1.4);
  }, [camera]);
  useEffect(() => {
    const { element, zoom } = parameters;
    const isNew = element !== own.current.element && own.current.element !== undefined;
    if (isNew && selected && zoom === undefined) camera.centre(selected.row, selected.col, NUMBER_SCALE * 1.4);
    else if (zoom !== undefined && own.current.zoom !== undefined && zoom !== own.current.zoom) camera.read(zoom);
    own.current = { element: element ?? "", zoom: zoom ?? "" };
  }, [parameters.element, parameters.zoom]);
  useEffect(() => {
    let timer = 0;
    const stop = camera.watch(() => {
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        own.current.zoom = camera.text();
        note({ zoom: camera.text() });
      }, NOTE_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [camera]);
  const select = (place: Place | null) => {
    const element = place ? String(elementAt(plane, place.row, place.col)) : undefined;
    own.current.element = element ?? "";
    note({ element, at: plane.view.length > 2 ? plane.at.join(",") : undefined });
  };
  return { camera, select };
}

/** The range of all elements, or of those that were looked at so far. */
function fullRange(stats: Stats | null, picture: Picture): Range {
  const { low, high } = picture.seen;
  const [least, most] = [numberFrom(stats?.least), numberFrom(stats?.most)];
  if (!Number.isFinite(least) || !Number.isFinite(most)) return Number.isFinite(low) ? { low, high } : { low: 0, high: 1 };
  if (stats?.complete || !Number.isFinite(low)) return { low: least, high: most };
  return { low: Math.min(least, low), high: Math.max(most, high) };
}

function lookOf(choices: Choices, range: Range, isDark: boolean): Look {
  const spansZero = range.low < 0 && range.high > 0;
  return { map: choices.map === "auto" ? (spansZero ? "diverging" : "lagoon") : choices.map, range, isLog: false, kinds: choices.kinds, cell: choices.cell, isDark };
}

function Values({ run, info, parameters }: { run: RunInfo; info: TensorInfo; parameters: Record<string, string> }) {
  useThemeChange();
  const planeKey = [parameters.rows, parameters.cols, parameters.at, parameters.as, parameters.wrap, parameters.at === undefined ? parameters.element : ""].join(" ");
  const plane = useMemo(() => planeFrom(info, parameters), [info, planeKey]);
  const selected = useMemo(() => placeFromAddress(plane, parameters.element), [plane, parameters.element]);
  const isLine = info.view.length === 1 && !plane.wrap;
  const source = { run: run.key, record: info.index };
  const picture = usePicture({ name: "heatmap", parameters: source }, plane, source) as Picture;
  usePictureChange(picture);
  const stats = useAsk<Stats>("stats", source);
  const histogram = useAsk<Histogram>("histogram", { ...source, bins: 64 });
  const { camera, select } = useCamera(plane, parameters, selected);
  const choices = useMemo(() => choicesOf(parameters), [parameters]);
  const robust = useMemo(() => (histogram.value ? percentiles(histogram.value) : null), [histogram.value]);
  const full = fullRange(stats.value, picture);
  const wanted = rangeOf(isLine && choices.range === "auto" ? "full" : choices.range, full, robust, choices.manual);
  const isDark = isDarkNow();
  const look = useMemo(() => lookOf(choices, wanted, isDark), [choices, wanted.low, wanted.high, isDark]);
  const left = plane.wrap ? info.elements - plane.height * plane.width : 0;

  return (
    <>
      <div class="tensor-grid">
        <section class="tensor-picture panel" aria-label="Picture">
          <div class="toolbar tensor-tools">
            <KindsSwitch value={choices.kinds} />
            <NumbersSwitch isHex={choices.isHex} />
            {info.view.length === 1 && <OneDimension isLine={isLine} plane={plane} />}
            <span class="spread" />
            <ZoomButtons camera={camera} plane={plane} />
          </div>
          <SliceControls plane={plane} onChange={(next) => note(sliceChange(plane, next))} />
          <div class={`tensor-canvas ${isLine ? "line" : ""}`}>
            <Heatmap
              picture={picture}
              camera={camera}
              look={look}
              isLine={isLine}
              isHex={choices.isHex}
              selected={selected}
              onSelect={select}
              label={pictureLabel(info, stats.value, isLine)}
            />
          </div>
          <Readout picture={picture} camera={camera} selected={selected} />
          {!isLine && (stats.value || Number.isFinite(picture.seen.low)) && <Legend look={look} />}
          {left > 0 && <Note>The last {formatCount(left)} elements do not fill a row and are not in this picture; the line has them.</Note>}
        </section>
        <div class="tensor-side">
          <Statistics stats={stats} info={info} />
          <Panel title="Histogram" level={3} actions={<LogSwitch isLog={parameters.counts === "log"} />}>
            {histogram.error ? (
              <ErrorLine>{histogram.error}</ErrorLine>
            ) : histogram.value ? (
              <HistogramChart histogram={histogram.value} range={look.range} isLog={parameters.counts === "log"} />
            ) : (
              <Loading>Counting</Loading>
            )}
          </Panel>
          <Panel title="Colours" level={3}>
            <ColourControls choices={choices} range={look.range} />
          </Panel>
        </div>
      </div>
    </>
  );
}

/** Another index keeps the zoom, so that slices can be compared; other dimensions are shown whole. */
function sliceChange(from: Plane, to: Plane): Record<string, string | number | undefined> {
  const change = { rows: to.rows, cols: to.cols, at: to.at.join(","), element: undefined };
  return from.rows === to.rows && from.cols === to.cols ? change : { ...change, zoom: undefined };
}

/** What the picture shows, for those who do not see it. */
function pictureLabel(info: TensorInfo, stats: Stats | null, isLine: boolean): string {
  const what = `${isLine ? "Line plot" : "Heatmap"} of ${recordTitle(info)}, ${info.dtype} ${info.shape.join(" by ")}.`;
  if (!stats) return what;
  const special = `${formatCount(stats.nan)} NaN, ${formatCount(stats.infinite)} infinite, ${formatCount(stats.zero)} zero.`;
  return `${what} Least ${stats.least ?? "none"}, most ${stats.most ?? "none"}, mean ${stats.mean ?? "none"}; ${special} Arrow keys move, plus and minus zoom, Enter selects.`;
}

function OneDimension({ isLine, plane }: { isLine: boolean; plane: Plane }) {
  return (
    <>
      <Segmented
        label="Picture"
        value={isLine ? "line" : "heatmap"}
        choices={[
          { value: "line", text: "Line" },
          { value: "heatmap", text: "Rows" },
        ]}
        onChange={(as) => note({ as: as === "line" ? undefined : as, zoom: undefined })}
      />
      {!isLine && (
        <label>
          of
          <input
            type="number"
            class="wrap"
            min={1}
            max={65536}
            value={plane.wrap}
            aria-label="Elements in a row"
            onChange={(event) => note({ wrap: event.currentTarget.value, zoom: undefined })}
          />
        </label>
      )}
    </>
  );
}

function LogSwitch({ isLog }: { isLog: boolean }) {
  return (
    <Segmented
      label="Scale of counts"
      value={isLog ? "log" : "linear"}
      choices={[
        { value: "linear", text: "Linear" },
        { value: "log", text: "Log" },
      ]}
      onChange={(counts) => note({ counts: counts === "log" ? "log" : undefined })}
    />
  );
}

function Real({ value }: { value: number | null }) {
  return (
    <span class="mono" title={value === null ? undefined : String(value)}>
      {value === null ? "–" : Number(value.toPrecision(8))}
    </span>
  );
}

function Statistics({ stats, info }: { stats: Loaded<Stats>; info: TensorInfo }) {
  const value = stats.value;
  const count = (number: number, isBad: boolean) => (isBad && number > 0 ? <Badge tone="bad">{formatCount(number)}</Badge> : formatCount(number));
  return (
    <Panel title="Statistics" level={3}>
      {stats.error && <ErrorLine>{stats.error}</ErrorLine>}
      {!value && !stats.error && <Loading>Counting</Loading>}
      {value && (
        <>
          <Facts
            rows={[
              ["Elements", formatCount(value.elements)],
              ["Least", <span class="mono">{value.least ?? "–"}</span>],
              ["Most", <span class="mono">{value.most ?? "–"}</span>],
              ["Mean", <Real value={value.mean} />],
              ["Deviation", <Real value={value.deviation} />],
              ["NaN", count(value.nan, true)],
              ["Infinite", count(value.infinite, true)],
              ["Zero", count(value.zero, false)],
              ["Denormal", count(value.denormal, false)],
              info.hash ? ["Hash", <span class="mono">{info.hash}</span>] : null,
            ]}
          />
          {!value.complete && <Note>Of the first {formatCount(value.looked_at)} elements: the time was over before the end.</Note>}
        </>
      )}
    </Panel>
  );
}

export const tensorView: View = {
  name: "tensor",
  title: "Tensor",
  key: "e",
  needsRun: true,
  keys: [
    ["← ↑ → ↓", "in the picture: move it, or the selected element"],
    ["+ -", "zoom"],
    ["0", "show all"],
    ["Enter", "in the picture: zoom to the element in the middle and select it"],
    ["Escape", "select nothing"],
    ["[ ]", "previous and next record of the same memory"],
  ],
  component: Tensor,
};
