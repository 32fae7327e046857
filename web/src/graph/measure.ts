// SPDX-License-Identifier: Apache-2.0
// Cuts texts so that they fit into a node.
import { themeTokens } from "../palette.js";

const context = document.createElement?.("canvas").getContext("2d") ?? null;

/** The text, or as much of it as `width` pixels hold, with an ellipsis. `font`: weight and size, "600 12.5px". */
export function fitted(text: string, width: number, font: string): string {
  if (!context) return text;
  context.font = `${font} ${themeTokens().font || "sans-serif"}`;
  if (context.measureText(text).width <= width) return text;
  let low = 0;
  let high = Math.min(text.length, 200);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}
