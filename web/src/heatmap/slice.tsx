// SPDX-License-Identifier: Apache-2.0
// Which two dimensions go down and right, and where the others stand.
import { type Plane, planeOf } from "./plane.js";

interface Props {
  plane: Plane;
  onChange: (plane: Plane) => void;
}

function DimensionSelect(props: { label: string; value: number; view: readonly number[]; onChange: (value: number) => void }) {
  return (
    <label>
      {props.label}
      <select value={String(props.value)} onChange={(event) => props.onChange(Number(event.currentTarget.value))}>
        {props.view.map((size, i) => (
          <option key={i} value={String(i)}>
            dim {i} ({size})
          </option>
        ))}
      </select>
    </label>
  );
}

/** Choosing the dimension of the other direction swaps the two. */
export function withDimensions(plane: Plane, rows: number, cols: number): Plane {
  if (rows !== cols) return planeOf(plane.view, rows, cols, plane.at);
  return rows === plane.rows ? planeOf(plane.view, plane.cols, cols, plane.at) : planeOf(plane.view, rows, plane.rows, plane.at);
}

/** `least`: tensors with fewer dimensions need no controls. */
export function SliceControls({ plane, onChange, least = 2 }: Props & { least?: number }) {
  if (plane.view.length < least || plane.wrap) return null;
  const move = (dimension: number, value: number) => {
    const at = plane.at.map((old, i) => (i === dimension ? value : old));
    onChange(planeOf(plane.view, plane.rows, plane.cols, at));
  };
  return (
    <div class="toolbar slice" role="group" aria-label="Slice">
      <DimensionSelect label="Down" value={plane.rows} view={plane.view} onChange={(rows) => onChange(withDimensions(plane, rows, plane.cols))} />
      <DimensionSelect label="Right" value={plane.cols} view={plane.view} onChange={(cols) => onChange(withDimensions(plane, plane.rows, cols))} />
      {plane.view.map(
        (size, i) =>
          i !== plane.rows &&
          i !== plane.cols && (
            <label key={i} class="slice-at">
              dim {i}
              <input type="range" min={0} max={Math.max(size - 1, 0)} value={plane.at[i]} disabled={size < 2} onInput={(event) => move(i, Number(event.currentTarget.value))} />
              <input
                type="number"
                min={0}
                max={Math.max(size - 1, 0)}
                value={plane.at[i]}
                aria-label={`Index in dimension ${i}`}
                onChange={(event) => move(i, Number(event.currentTarget.value))}
              />
              <span class="faint">of {size}</span>
            </label>
          ),
      )}
    </div>
  );
}
