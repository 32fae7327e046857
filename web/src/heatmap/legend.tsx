// SPDX-License-Identifier: Apache-2.0
// What the colours mean.
import { useEffect, useRef } from "preact/hooks";
import { useThemeChange } from "../hooks.js";
import { Swatch } from "../widgets.js";
import { STEPS, colourMap, cssColour, kindColours } from "./colour.js";
import type { Look } from "./paint.js";

export function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  return size !== 0 && (size >= 1e6 || size < 1e-4) ? value.toExponential(2).replace(/\.?0*e\+?/, "e") : String(Number(value.toPrecision(5)));
}

function Ramp({ look }: { look: Look }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useThemeChange();
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context) return;
    const image = context.createImageData(STEPS, 1);
    new Uint32Array(image.data.buffer).set(colourMap(look.map, look.isDark));
    context.putImageData(image, 0, 0);
  }, [look.map, look.isDark, theme]);
  return <canvas ref={canvas} class="legend-ramp" width={STEPS} height={1} aria-hidden="true" />;
}

/** Kinds that this look paints in colours of their own. */
function kindsShown(look: Look): [string, number][] {
  const colours = kindColours(look.isDark);
  const all: Record<string, [string, number]> = {
    nan: ["NaN", colours.nan],
    infinite: ["+Inf", colours.infinite],
    negative: ["−Inf", colours.negative],
    zero: ["zero", colours.zero],
    denormal: ["denormal", colours.denormal],
  };
  switch (look.kinds) {
    case "values":
      return [all.nan, all.infinite, all.negative];
    case "kinds":
      return Object.values(all);
    case "infinite":
      return [all.infinite, all.negative, ["others", colours.none]];
    case "zero":
      return [
        ["zero", look.isDark ? 0xfff0f0f0 : 0xff303030],
        ["others", colours.none],
      ];
    default:
      return [all[look.kinds], ["others", colours.none]];
  }
}

export function Legend({ look, unit = "", isError = false }: { look: Look; unit?: string; isError?: boolean }) {
  const hasRamp = look.kinds === "values" || look.kinds === "kinds";
  const kinds: [string, number][] = isError
    ? [
        ["equal", kindColours(look.isDark).none],
        ["NaN or Inf on one side", kindColours(look.isDark).nan],
      ]
    : kindsShown(look);
  return (
    <div class="legend">
      {hasRamp && (
        <div class="legend-scale">
          <span>{shortNumber(look.range.low)}</span>
          <Ramp look={look} />
          <span>
            {shortNumber(look.range.high)}
            {unit}
          </span>
          {look.isLog && <span class="faint">log</span>}
        </div>
      )}
      <div class="legend-kinds">
        {kinds.map(([name, colour]) => (
          <Swatch key={name} colour={cssColour(colour)}>
            {name}
          </Swatch>
        ))}
      </div>
    </div>
  );
}
