// SPDX-License-Identifier: Apache-2.0
// Colours, range and kinds of a heatmap. What is chosen lives in the address.
import { note } from "../route.js";
import { Segmented } from "../widgets.js";
import type { Camera } from "./camera.js";
import { MAP_NAMES, type MapName } from "./colour.js";
import { shortNumber } from "./legend.js";
import { CELL_VALUES, type CellValue, KIND_MODES, type KindMode } from "./paint.js";
import type { Plane } from "./plane.js";
import { RANGE_MODES, type Range, type RangeMode } from "./range.js";

/** The choices of an address. */
export interface Choices {
  map: Exclude<MapName, "error"> | "auto";
  range: RangeMode;
  manual: Range;
  kinds: KindMode;
  cell: CellValue;
  isHex: boolean;
}

function oneOf<T extends string>(words: readonly T[], word: string | undefined, fallback: T): T {
  return words.find((candidate) => candidate === word) ?? fallback;
}

export function choicesOf(parameters: Record<string, string>): Choices {
  return {
    map: oneOf([...MAP_NAMES, "auto"], parameters.map, "auto"),
    range: oneOf(RANGE_MODES, parameters.range, "auto"),
    manual: { low: Number(parameters.low ?? NaN), high: Number(parameters.high ?? NaN) },
    kinds: oneOf(KIND_MODES, parameters.kinds, "values"),
    cell: oneOf(CELL_VALUES, parameters.cell, "mean"),
    isHex: parameters.numbers === "hex",
  };
}

const MAP_TEXT: Record<Choices["map"], string> = {
  auto: "Automatic",
  lagoon: "Lagoon",
  ember: "Ember",
  grey: "Grey",
  diverging: "Diverging",
};
const RANGE_TEXT: Record<RangeMode, string> = {
  auto: "Automatic",
  full: "Least to most",
  symmetric: "Around zero",
  robust: "Without 1 % at each end",
  manual: "By hand",
};
const KIND_TEXT: Record<KindMode, string> = { values: "Values", kinds: "All kinds", nan: "NaN", infinite: "Inf", zero: "Zero", denormal: "Denormal" };

export function KindsSwitch({ value }: { value: KindMode }) {
  return (
    <Segmented
      label="Kinds of numbers"
      value={value}
      choices={KIND_MODES.map((mode) => ({ value: mode, text: KIND_TEXT[mode] }))}
      onChange={(kinds) => note({ kinds: kinds === "values" ? undefined : kinds })}
    />
  );
}

export function NumbersSwitch({ isHex }: { isHex: boolean }) {
  return (
    <Segmented
      label="Numbers"
      value={isHex ? "hex" : "decimal"}
      choices={[
        { value: "decimal", text: "Decimal" },
        { value: "hex", text: "Hex" },
      ]}
      onChange={(numbers) => note({ numbers: numbers === "hex" ? "hex" : undefined })}
    />
  );
}

export function ColourControls({ choices, range }: { choices: Choices; range: Range }) {
  const byHand = (low: number, high: number) => note({ range: "manual", low: String(low), high: String(high) });
  return (
    <div class="colour-controls">
      <label>
        <span>Colours</span>
        <select value={choices.map} onChange={(event) => note({ map: event.currentTarget.value === "auto" ? undefined : event.currentTarget.value })}>
          {(["auto", ...MAP_NAMES] as const).map((name) => (
            <option key={name} value={name}>
              {MAP_TEXT[name]}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Range</span>
        <select
          value={choices.range}
          onChange={(event) => {
            const mode = event.currentTarget.value as RangeMode;
            if (mode === "manual") byHand(range.low, range.high);
            else note({ range: mode === "auto" ? undefined : mode, low: undefined, high: undefined });
          }}
        >
          {RANGE_MODES.map((mode) => (
            <option key={mode} value={mode}>
              {RANGE_TEXT[mode]}
            </option>
          ))}
        </select>
      </label>
      {choices.range === "manual" && (
        <div class="range-by-hand">
          <input type="number" step="any" aria-label="Lower end" value={shortNumber(range.low)} onChange={(event) => byHand(Number(event.currentTarget.value), range.high)} />
          <input type="number" step="any" aria-label="Upper end" value={shortNumber(range.high)} onChange={(event) => byHand(range.low, Number(event.currentTarget.value))} />
        </div>
      )}
      <label title="A cell that stands for several elements shows this of them">
        <span>Cell shows</span>
        <select value={choices.cell} onChange={(event) => note({ cell: event.currentTarget.value === "mean" ? undefined : event.currentTarget.value })}>
          {CELL_VALUES.map((cell) => (
            <option key={cell} value={cell}>
              {cell}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

export function ZoomButtons({ camera, plane }: { camera: Camera; plane: Plane }) {
  return (
    <div class="segmented" role="group" aria-label="Zoom">
      <button type="button" title="Zoom out (-)" aria-label="Zoom out" onClick={() => camera.zoomMiddle(0.5, plane)}>
        −
      </button>
      <button type="button" title="Zoom in (+)" aria-label="Zoom in" onClick={() => camera.zoomMiddle(2, plane)}>
        +
      </button>
      <button type="button" title="Show all (0)" onClick={() => camera.fit(plane, camera.screen)}>
        All
      </button>
    </div>
  );
}
