// SPDX-License-Identifier: Apache-2.0
// The element under the mouse, or the selected one: where it is and what it is.
import { useEffect, useState } from "preact/hooks";
import { CopyButton } from "../widgets.js";
import { type Camera, levelFor } from "./camera.js";
import { shortNumber } from "./legend.js";
import type { Cell, Picture, Place } from "./picture.js";
import { elementAt, indexAt, indexText } from "./plane.js";
import { KIND } from "./tiles.js";

/** Follows the mouse without drawing its parent again. */
export function usePointer(camera: Camera): Place | null {
  const [pointer, setPointer] = useState<Place | null>(camera.pointer);
  useEffect(() => camera.watch(() => setPointer(camera.pointer)), [camera]);
  return pointer;
}

export function kindNames(kinds: number): string[] {
  const names: [number, string][] = [
    [KIND.nan, "NaN"],
    [KIND.infinite, "Inf"],
    [KIND.negative, "−Inf"],
    [KIND.zero, "zero"],
    [KIND.denormal, "denormal"],
  ];
  return names.filter(([bit]) => kinds & bit && !(bit === KIND.infinite && kinds & KIND.negative)).map(([, name]) => name);
}

/** "rows 0–127, cols 128–255" of a cell above level 0. */
function cellText(cell: Cell, { row, col }: Place, picture: Picture): string {
  const side = 2 ** cell.level;
  const part = (at: number, size: number) => {
    const first = Math.floor(at / side) * side;
    return `${first}–${Math.min(first + side, size) - 1}`;
  };
  const cols = `cols ${part(col, picture.plane.width)}`;
  return picture.plane.height > 1 ? `rows ${part(row, picture.plane.height)}, ${cols}` : cols;
}

function CellReadout({ cell, place, picture }: { cell: Cell; place: Place; picture: Picture }) {
  const names = kindNames(cell.kinds);
  return (
    <>
      <span>{cellText(cell, place, picture)}</span>
      {Number.isNaN(cell.mean) ? (
        <span>no finite element</span>
      ) : (
        <span>
          mean <b>{shortNumber(cell.mean)}</b>, from {shortNumber(cell.least)} to {shortNumber(cell.most)}
        </span>
      )}
      {names.length > 0 && <span>has {names.join(", ")}</span>}
      {cell.sampled && <span class="faint">sampled</span>}
    </>
  );
}

export function Readout({ picture, camera, selected }: { picture: Picture; camera: Camera; selected: Place | null }) {
  const pointer = usePointer(camera);
  const [, setCount] = useState(0);
  useEffect(() => picture.watch(() => setCount((old) => old + 1)), [picture]);
  const level = levelFor(camera.scale, picture.plane);
  const isPointed = pointer !== null && (level > 0 || pointer.row !== selected?.row || pointer.col !== selected.col);
  const pointed = isPointed ? pointer : null;
  const cell = pointed && picture.cell(pointed, level);
  const nothing = "Point at an element to see it; click to keep it. Double click, scroll or + zooms in.";
  return (
    <div class="readout">
      {selected && <ElementReadout picture={picture} place={selected} isSelected />}
      {pointed && cell && cell.level > 0 ? (
        <p class="readout-line faint">
          <CellReadout cell={cell} place={pointed} picture={picture} />
        </p>
      ) : pointed ? (
        <ElementReadout picture={picture} place={pointed} />
      ) : (
        <p class="readout-line faint">{selected ? "\u00a0" : nothing}</p>
      )}
    </div>
  );
}

function ElementReadout({ picture, place, isSelected = false }: { picture: Picture; place: Place; isSelected?: boolean }) {
  const element = elementAt(picture.plane, place.row, place.col);
  if (element < 0) return <p class="readout-line faint">The selected element is not in this plane.</p>;
  const index = indexText(indexAt(picture.plane, place.row, place.col));
  const text = picture.text(place);
  const cell = picture.cell(place, 0);
  const names = cell && cell.level === 0 ? kindNames(cell.kinds).filter((name) => name === "zero" || name === "denormal") : [];
  return (
    <p class={`readout-line ${isSelected ? "selected" : ""}`} aria-live={isSelected ? "polite" : undefined}>
      <span class="mono">{index}</span>
      <b class="mono">{text ? text.decimal : cell && cell.level === 0 ? shortNumber(cell.mean) : "…"}</b>
      {text && <span class="mono faint">0x{text.hex.replace(/^0x/, "")}</span>}
      {names.map((name) => (
        <span key={name}>{name}</span>
      ))}
      <span class="faint">element {element}</span>
      {isSelected && <CopyButton text={index} label="Copy index" class="quiet small" />}
      {isSelected && text && <CopyButton text={text.decimal} label="Copy value" class="quiet small" />}
    </p>
  );
}
