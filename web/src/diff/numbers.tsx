// SPDX-License-Identifier: Apache-2.0
// The numbers of a pair: one element on both sides, the first mismatches, and how large the difference is.
import type { ComponentChildren } from "preact";
import { formatCount } from "../format.js";
import type { Camera } from "../heatmap/camera.js";
import { shortNumber } from "../heatmap/legend.js";
import type { Picture, Place } from "../heatmap/picture.js";
import { type Plane, elementAt, indexAt, indexText, numberOf } from "../heatmap/plane.js";
import { usePointer } from "../heatmap/readout.js";
import { note } from "../route.js";
import { Facts, Note } from "../widgets.js";
import { type DiffPair, type Extreme, type Mismatch, errorText, valueText } from "./report.js";

/** The element under the mouse or the selected one, with both values. */
export function Elements(props: { pair: DiffPair; plane: Plane; camera: Camera; pictureA: Picture | null; pictureB: Picture | null; selected: Place | null }) {
  const { pair, plane, camera, pictureA, pictureB, selected } = props;
  const pointer = usePointer(camera);
  const place = camera.scale >= 4 ? (pointer ?? selected) : (selected ?? pointer);
  if (!place || elementAt(plane, place.row, place.col) < 0) return <p class="both-values faint">Choose a mismatch below, or point at an element, to see both numbers.</p>;
  const index = indexAt(plane, place.row, place.col);
  const a = pictureA?.text(place);
  const b = pictureB?.text(place);
  const known = pair.values?.first.find((mismatch) => mismatch.at?.join() === index.join());
  const textA = a?.decimal ?? (known ? valueText(known.a) : "…");
  const textB = b?.decimal ?? (known ? valueText(known.b) : "…");
  const distance = Math.abs(Number(textA) - Number(textB));
  return (
    <p class="both-values" aria-live="polite">
      <span class="mono">{indexText(index)}</span>
      <span>
        A <b class="mono">{textA}</b> {a && <span class="mono faint">0x{a.hex.replace(/^0x/, "")}</span>}
      </span>
      <span>
        B <b class="mono">{textB}</b> {b && <span class="mono faint">0x{b.hex.replace(/^0x/, "")}</span>}
      </span>
      {Number.isFinite(distance) && (
        <span>
          |a − b| <b class="mono">{shortNumber(distance)}</b>
          {Number(textB) !== 0 && <span class="faint"> relative {errorText(distance / Math.abs(Number(textB)))}</span>}
        </span>
      )}
    </p>
  );
}

export function toElement(view: readonly number[], at: readonly number[] | null): number | undefined {
  return at && at.length === view.length ? numberOf(view, at) : at?.length === 0 ? 0 : undefined;
}

/** Goes to an element: a button, because the place in the history stays. */
function ElementButton({ view, at }: { view: readonly number[]; at: number[] | null }) {
  const element = toElement(view, at);
  if (!at || element === undefined) return <span class="mono">{at ? indexText(at) : "–"}</span>;
  return (
    <button type="button" class="button quiet small mono" title="Show this element" onClick={() => note({ element: String(element), at: undefined })}>
      {indexText(at)}
    </button>
  );
}

function difference(mismatch: Mismatch): string {
  const distance = Math.abs(Number(mismatch.a) - Number(mismatch.b));
  return Number.isFinite(distance) ? errorText(distance) : "not finite";
}

function relative(mismatch: Mismatch): string {
  const share = Math.abs(Number(mismatch.a) - Number(mismatch.b)) / Math.abs(Number(mismatch.b));
  return Number.isFinite(share) ? errorText(share) : "–";
}

export function Mismatches({ pair, view, element }: { pair: DiffPair; view: readonly number[]; element: string | undefined }) {
  const first = pair.values?.first ?? [];
  if (first.length === 0) return null;
  const rest = (pair.values?.mismatches ?? 0) - first.length;
  return (
    <section>
      <h3>First mismatches</h3>
      <div class="table-scroll" role="region" aria-label="First mismatches" tabIndex={0}>
        <table class="table mismatches">
          <thead>
            <tr>
              <th scope="col">Element</th>
              <th scope="col" class="number">
                A
              </th>
              <th scope="col" class="number">
                B
              </th>
              <th scope="col" class="number">
                |a − b|
              </th>
              <th scope="col" class="number">
                Relative
              </th>
            </tr>
          </thead>
          <tbody>
            {first.map((mismatch, i) => (
              <tr
                key={i}
                class={`clickable ${element !== undefined && String(toElement(view, mismatch.at)) === element ? "selected" : ""}`}
                onClick={() => {
                  const at = toElement(view, mismatch.at);
                  if (at !== undefined) note({ element: String(at), at: undefined });
                }}
              >
                <td>
                  <ElementButton view={view} at={mismatch.at} />
                </td>
                <td class="number mono">{valueText(mismatch.a)}</td>
                <td class="number mono">{valueText(mismatch.b)}</td>
                <td class="number mono">{difference(mismatch)}</td>
                <td class="number mono">{relative(mismatch)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rest > 0 && <Note>And {formatCount(rest)} more.</Note>}
    </section>
  );
}

export function PairFacts({ pair, view }: { pair: DiffPair; view: readonly number[] }) {
  const values = pair.values;
  if (!values) return null;
  const extreme = (name: string, value: Extreme | null): [string, ComponentChildren] | null =>
    value && [
      name,
      <>
        <span class="mono">{typeof value.value === "number" ? shortNumber(value.value) : (value.value ?? "not finite")}</span> at <ElementButton view={view} at={value.at} />
      </>,
    ];
  return (
    <section>
      <h3>Overall</h3>
      <Facts
        rows={[
          extreme("Max abs", values.max_abs),
          extreme("Max rel", values.max_rel),
          extreme("Max ulp", values.max_ulp),
          ["Cosine", <span class="mono">{values.cosine === null ? "–" : values.cosine.toFixed(9)}</span>],
          ["SQNR", <span class="mono">{values.sqnr_db === null ? "–" : `${values.sqnr_db.toFixed(2)} dB`}</span>],
          ["NaN", `${formatCount(values.nan[0])} in A, ${formatCount(values.nan[1])} in B`],
          ["Infinite", `${formatCount(values.inf[0])} in A, ${formatCount(values.inf[1])} in B`],
        ]}
      />
    </section>
  );
}
