// SPDX-License-Identifier: Apache-2.0
// One pair of arguments: A, B and their difference side by side, and the elements that do not match.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { TensorInfo } from "../api.js";
import { formatCount } from "../format.js";
import { Camera, NUMBER_SCALE } from "../heatmap/camera.js";
import { NumbersSwitch, ZoomButtons, choicesOf } from "../heatmap/controls.js";
import { Heatmap, isDarkNow, usePicture, usePictureChange } from "../heatmap/heatmap.js";
import { Legend, shortNumber } from "../heatmap/legend.js";
import type { Look } from "../heatmap/paint.js";
import type { Picture, Place } from "../heatmap/picture.js";
import { type Plane, elementAt, indexText, placeFromAddress, planeFromAddress } from "../heatmap/plane.js";
import { type Range, errorRange, rangeOf } from "../heatmap/range.js";
import { SliceControls } from "../heatmap/slice.js";
import { useAsk, useThemeChange } from "../hooks.js";
import { linkTo, note } from "../route.js";
import { stageText } from "../views/record-words.js";
import { Badge, ErrorLine, Facts, Loading, Note, Panel, Segmented } from "../widgets.js";
import { Elements, Mismatches, PairFacts, toElement } from "./numbers.js";
import { type DiffPair, type Extreme, reasonText, shareText, taskId, taskName, valueText } from "./report.js";
import type { Runs } from "./suspects.js";

const MODES = ["abs", "rel", "ulp"] as const;
type Mode = (typeof MODES)[number];
const MODE_TEXT: Record<Mode, string> = { abs: "Absolute", rel: "Relative", ulp: "Ulp" };

type Parameters = Record<string, string>;

/** "after, inout arg 2". */
function argumentText(pair: DiffPair): string {
  return [stageText(pair.stage), `${pair.role} arg ${pair.arg_index}`.trim()].filter(Boolean).join(", ");
}

export function Detail({ pair, runs, parameters }: { pair: DiffPair; runs: Runs; parameters: Parameters }) {
  return (
    <Panel title={`${taskName(pair)}: ${argumentText(pair)}`} actions={<Links pair={pair} runs={runs} />}>
      <div class="detail">
        <p class="detail-what">
          {pair.dtype && (
            <span class="mono">
              {pair.dtype} ({pair.shape.join(", ")})
            </span>
          )}
          {pair.shape_b && (
            <>
              {" "}
              in A,{" "}
              <span class="mono">
                {pair.dtype_b} ({pair.shape_b.join(", ")})
              </span>{" "}
              in B
            </>
          )}{" "}
          <Badge tone={pair.verdict === "differs" ? "bad" : "warn"}>{pair.verdict}</Badge> {pair.values ? <Counts pair={pair} /> : <span>{reasonText(pair.reason)}</span>}
        </p>
        {pair.record_a !== null && pair.record_b !== null ? (
          <Both key={`${pair.record_a} ${pair.record_b}`} pair={pair} runs={runs} a={pair.record_a} b={pair.record_b} parameters={parameters} />
        ) : (
          <Note>Only {pair.record_a === null ? "B" : "A"} has this record.</Note>
        )}
      </div>
    </Panel>
  );
}

function Links({ pair, runs }: { pair: DiffPair; runs: Runs }) {
  return (
    <>
      {pair.task_a !== null && (
        <a class="button" href={linkTo("task", { run: runs.a, task: taskId(pair.task_a), other: runs.b })}>
          Task in A
        </a>
      )}
      {pair.task_b !== null && (
        <a class="button" href={linkTo("task", { run: runs.b, task: taskId(pair.task_b), other: runs.a })}>
          Task in B
        </a>
      )}
      {pair.task_a !== null && (
        <a class="button" href={linkTo("graph", { run: runs.a, other: runs.b, colour: "blame", task: taskId(pair.task_a) })}>
          In the graph
        </a>
      )}
    </>
  );
}

function Counts({ pair }: { pair: DiffPair }) {
  const values = pair.values;
  if (!values) return null;
  return (
    <span>
      <b>{formatCount(values.mismatches)}</b> of {formatCount(values.elements)} elements ({shareText(values.share)}) are beyond {shortNumber(pair.atol ?? 0)} + {shortNumber(pair.rtol ?? 0)} |b|
      {values.cut ? "; compared as far as both are stored" : ""}
    </span>
  );
}

// --- side by side ---------------------------------------------------------------------------------

function Both(props: { pair: DiffPair; runs: Runs; a: number; b: number; parameters: Parameters }) {
  const { runs, a, b } = props;
  const infoA = useAsk<TensorInfo>("tensor", { run: runs.a, record: a });
  const infoB = useAsk<TensorInfo>("tensor", { run: runs.b, record: b });
  if (infoA.error || infoB.error) return <ErrorLine>{infoA.error || infoB.error}</ErrorLine>;
  if (!infoA.value || !infoB.value) return <Loading>Opening both tensors</Loading>;
  if (infoA.value.kind === "scalar" || infoB.value.kind === "scalar")
    return (
      <Facts
        rows={[
          ["A", <span class="mono">{infoA.value.value ?? "not known"}</span>],
          ["B", <span class="mono">{infoB.value.value ?? "not known"}</span>],
        ]}
      />
    );
  return <SideBySide {...props} infoA={infoA.value} infoB={infoB.value} />;
}

function isSameShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((size, i) => size === b[i]);
}

/** The extremes of both tensors together, so that equal colours are equal numbers. */
function commonRange(pictures: readonly (Picture | null)[]): Range {
  let [low, high] = [Infinity, -Infinity];
  for (const picture of pictures) {
    if (picture && Number.isFinite(picture.seen.low)) [low, high] = [Math.min(low, picture.seen.low), Math.max(high, picture.seen.high)];
  }
  return low <= high ? { low, high } : { low: 0, high: 1 };
}

function extremeOf(pair: DiffPair, mode: Mode): Extreme | null {
  return pair.values?.[({ abs: "max_abs", rel: "max_rel", ulp: "max_ulp" } as const)[mode]] ?? null;
}

/** The largest error is known from the report; the smallest is the smallest that was seen. */
function differenceRange(pair: DiffPair, mode: Mode, picture: Picture | null, isLine: boolean): Range {
  const reported = Number(extremeOf(pair, mode)?.value ?? NaN);
  const most = Number.isFinite(reported) ? reported : (picture?.seen.high ?? NaN);
  return isLine ? { low: 0, high: most > 0 ? most : 1 } : errorRange(most, picture?.seen.lowPositive ?? NaN);
}

function SideBySide(props: { pair: DiffPair; runs: Runs; a: number; b: number; infoA: TensorInfo; infoB: TensorInfo; parameters: Parameters }) {
  const { pair, runs, a, b, infoA, infoB, parameters } = props;
  useThemeChange();
  const mode: Mode = MODES.find((word) => word === parameters.mode) ?? "abs";
  const { isHex } = choicesOf(parameters);
  const canCompare = infoA.readable && infoB.readable && infoA.dtype === infoB.dtype && isSameShape(infoA.view, infoB.view);
  const planeKey = [parameters.rows, parameters.cols, parameters.at, parameters.at === undefined ? parameters.element : ""].join(" ");
  const plane = useMemo(() => planeFromAddress(infoA, parameters), [infoA, planeKey]);
  const planeB = useMemo(() => (canCompare ? plane : planeFromAddress(infoB, {})), [plane, infoB, canCompare]);
  const isLine = plane.view.length === 1;
  const pictureA = usePicture(infoA.readable ? { name: "heatmap", parameters: { run: runs.a, record: a } } : null, plane, { run: runs.a, record: a });
  const pictureB = usePicture(infoB.readable ? { name: "heatmap", parameters: { run: runs.b, record: b } } : null, planeB, { run: runs.b, record: b });
  const subject = { name: "difference" as const, parameters: { run: runs.a, record: a, other: runs.b, other_record: b, mode } };
  const pictureD = usePicture(canCompare ? subject : null, plane, null);
  for (const picture of [pictureA, pictureB, pictureD]) usePictureChange(picture);

  const selected = useMemo(() => placeFromAddress(plane, parameters.element), [plane, parameters.element]);
  const pictures = useRef<HTMLDivElement>(null);
  const { camera, select } = useSharedCamera(plane, parameters.element, selected, () => pictures.current?.scrollIntoView({ block: "nearest" }));
  const alone = useMemo(() => new Camera(), [planeB]);
  const isDark = isDarkNow();
  const common = commonRange([pictureA, pictureB]);
  const full = isLine ? common : rangeOf("auto", common, null, common);
  const look: Look = useMemo(
    () => ({ map: common.low < 0 && common.high > 0 ? "diverging" : "lagoon", range: full, isLog: false, kinds: "values", cell: "mean", isDark }),
    [full.low, full.high, isDark],
  );
  const errors = differenceRange(pair, mode, pictureD, isLine);
  const errorLook: Look = useMemo(
    () => ({ map: "error", range: errors, isLog: !isLine, kinds: "values", cell: "most", isDark }),
    [errors.low, errors.high, isDark, isLine],
  );
  const marks = useMemo(() => marksOf(pair, plane), [pair, plane]);
  const of = (side: string) => `${side}: ${infoA.dtype} ${infoA.shape.join(" by ")} of ${taskName(pair)}, ${argumentText(pair)}`;

  return (
    <>
      <div class="toolbar">
        <Segmented label="Difference" value={mode} choices={MODES.map((value) => ({ value, text: MODE_TEXT[value] }))} onChange={(value) => note({ mode: value === "abs" ? undefined : value })} />
        <NumbersSwitch isHex={isHex} />
        <span class="spread" />
        <ZoomButtons camera={camera} plane={plane} />
      </div>
      <SliceControls plane={plane} least={3} onChange={(next) => note({ rows: next.rows, cols: next.cols, at: next.at.join(","), element: undefined })} />
      <div ref={pictures} class={`side-by-side ${isLine ? "line" : ""}`}>
        <Side title="A" link={linkTo("tensor", { run: runs.a, record: a, element: parameters.element })} error={infoA.readable ? "" : infoA.why}>
          {pictureA && <Heatmap picture={pictureA} camera={camera} look={look} isLine={isLine} isHex={isHex} selected={selected} marks={marks} onSelect={select} label={of("A")} />}
        </Side>
        <Side title="B, trusted" link={linkTo("tensor", { run: runs.b, record: b, element: parameters.element })} error={infoB.readable ? "" : infoB.why}>
          {pictureB && (
            <Heatmap
              picture={pictureB}
              camera={canCompare ? camera : alone}
              look={look}
              isLine={isLine}
              isHex={isHex}
              selected={canCompare ? selected : null}
              marks={canCompare ? marks : undefined}
              onSelect={canCompare ? select : () => undefined}
              label={of("B")}
            />
          )}
        </Side>
        <Side title={`${MODE_TEXT[mode]} difference`} error={canCompare ? "" : "Types or shapes differ, or one side has no values: there is no difference element by element."}>
          {pictureD && <Heatmap picture={pictureD} camera={camera} look={errorLook} isLine={isLine} selected={selected} marks={marks} onSelect={select} label={differenceLabel(pair, mode)} />}
        </Side>
      </div>
      {!isLine && (
        <div class="legends">
          <Legend look={look} />
          {canCompare && <Legend look={errorLook} unit={mode === "ulp" ? " ulp" : ""} isError />}
        </div>
      )}
      <Elements pair={pair} plane={plane} camera={camera} pictureA={pictureA} pictureB={canCompare ? pictureB : null} selected={selected} />
      <div class="detail-columns">
        <Mismatches pair={pair} view={infoA.view} element={parameters.element} />
        <PairFacts pair={pair} view={infoA.view} />
      </div>
    </>
  );
}

function Side({ title, link, error, children }: { title: string; link?: string; error: string; children: ComponentChildren }) {
  return (
    <figure class="side">
      <figcaption>
        <b>{title}</b> {link && <a href={link}>open</a>}
      </figcaption>
      <div class="side-canvas">{error ? <p class="side-error">{error}</p> : children}</div>
    </figure>
  );
}

function differenceLabel(pair: DiffPair, mode: Mode): string {
  const extreme = extremeOf(pair, mode);
  const largest = extreme ? `, largest ${valueText(extreme.value)} at ${extreme.at ? indexText(extreme.at) : "an unknown place"}` : "";
  return `${MODE_TEXT[mode]} difference of A and B${largest}`;
}

/** The first mismatches that lie in this plane. */
function marksOf(pair: DiffPair, plane: Plane): Place[] {
  const elements = (pair.values?.first ?? []).map((mismatch) => toElement(plane.view, mismatch.at));
  return elements.map((element) => placeFromAddress(plane, element === undefined ? undefined : String(element))).filter((place) => place !== null);
}

/** One camera for all three pictures. It goes to an element that the address names, unless a click here chose it. */
function useSharedCamera(plane: Plane, element: string | undefined, selected: Place | null, onGo: () => void) {
  const shape = `${plane.height} ${plane.width} ${plane.rows} ${plane.cols}`;
  const camera = useMemo(() => new Camera(), [shape]);
  const clicked = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (selected && element !== clicked.current) {
      camera.centre(selected.row, selected.col, NUMBER_SCALE * 1.3);
      onGo();
    }
    clicked.current = undefined;
  }, [camera, element]);
  const select = (place: Place | null) => {
    const next = place ? String(elementAt(plane, place.row, place.col)) : undefined;
    clicked.current = next;
    note({ element: next, at: plane.view.length > 2 ? plane.at.join(",") : undefined });
  };
  return { camera, select };
}
