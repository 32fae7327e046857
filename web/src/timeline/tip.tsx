// SPDX-License-Identifier: Apache-2.0
// The small panel at the pointer.
import { useState } from "preact/hooks";
import { formatLength, formatNs } from "../format.js";
import { BEGAN_BEFORE, ENDED_LATER, UNFINISHED } from "../model.js";
import { kernelColour } from "../palette.js";
import { Swatch } from "../widgets.js";
import type { TimelineData } from "./data.js";

const WIDTH = 240;
const HEIGHT = 100; // of a tip whose names take a line each

export interface Tipped {
  part: number; // -1: nothing
  x: number;
  y: number;
}

/** It has state of its own, which `show` sets: a moving pointer must not draw the whole view again. */
export function Tip({ data, show }: { data: TimelineData; show: { current: (tip: Tipped) => void } }) {
  const [{ part, x, y }, setTip] = useState<Tipped>({ part: -1, x: 0, y: 0 });
  show.current = setTip;
  if (part < 0 || part >= data.taskOfPart.length) return null;
  const { model } = data;
  const task = data.taskOfPart[part];
  const kernel = model.kernels[model.partKernel[part]] ?? "?";
  const flags = model.partFlags[part];
  const length = formatLength(data.end[part] - data.begin[part], (flags & (BEGAN_BEFORE | ENDED_LATER)) !== 0);
  // Beside the pointer, on the side with more room, and never beyond the edges of the plot.
  const side = x > WIDTH + 160 ? { right: `calc(100% - ${x - 14}px)` } : { left: `max(0px, min(${x + 14}px, 100% - ${WIDTH}px))` };
  return (
    <div class="tip" style={{ ...side, top: `max(0px, min(${y + 14}px, 100% - ${HEIGHT}px))` }} aria-hidden="true">
      <strong>
        <Swatch colour={kernelColour(kernel)}>{kernel}</Swatch>
      </strong>
      <span>
        task {model.idText(task)} on {model.cores[model.partCore[part]]?.name ?? "?"}
      </span>
      <span>{flags & UNFINISHED ? "had not ended" : `ran ${length === "not known" ? "for a time that is not known" : length}`}</span>
      <span class="faint">from {formatNs(data.begin[part])}{flags & BEGAN_BEFORE ? " or before" : ""}</span>
    </div>
  );
}
