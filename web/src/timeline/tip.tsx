// SPDX-License-Identifier: Apache-2.0
// The small panel at the pointer.
import { useState } from "preact/hooks";
import { formatNs } from "../format.js";
import { kernelColour } from "../palette.js";
import { Swatch } from "../widgets.js";
import { type TimelineData, UNFINISHED } from "./data.js";

const WIDTH = 240;

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
  const isOpen = (model.partFlags[part] & UNFINISHED) !== 0;
  // Beside the pointer, on the side with more room.
  const place = x > WIDTH + 160 ? { left: `${x - WIDTH - 14}px` } : { left: `${x + 14}px` };
  return (
    <div class="tip" style={{ ...place, top: `${y + 14}px` }} aria-hidden="true">
      <strong>
        <Swatch colour={kernelColour(kernel)}>{kernel}</Swatch>
      </strong>
      <span>
        task {model.idText(task)} on {model.cores[model.partCore[part]]?.name ?? "?"}
      </span>
      <span>{isOpen ? "had not ended" : `ran ${formatNs(data.end[part] - data.begin[part])}`}</span>
      <span class="faint">from {formatNs(data.begin[part])}</span>
    </div>
  );
}
