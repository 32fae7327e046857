// SPDX-License-Identifier: Apache-2.0
// Colours that a canvas needs: the tokens of style.css, and a colour for each kernel that is the same in every view.

/** Ten colours that people with the common kinds of colour blindness tell apart (after Paul Tol's schemes). */
const CATEGORIES = [
  "#4477aa", "#ddaa33", "#44aa99", "#cc6677", "#77bbdd", "#994477", "#999944", "#dd7744", "#7766bb", "#778899",
] as const;

/** How many colours there are before one is used twice. */
export const CATEGORY_COUNT = CATEGORIES.length;

export function categoryColour(index: number): string {
  return CATEGORIES[((index % CATEGORY_COUNT) + CATEGORY_COUNT) % CATEGORY_COUNT];
}

const chosen = new Map<string, number>();
const takenBy = new Uint32Array(CATEGORY_COUNT);
let shownRun = "";

function forgetChoices(): void {
  chosen.clear();
  takenBy.fill(0);
  takenBy[CATEGORY_COUNT - 1] = 1; // grey looks like "nothing": a kernel gets it only when the others are used up
}
forgetChoices();

/** FNV-1a: the same name prefers the same colour in every run. */
function preferred(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % (CATEGORY_COUNT - 1);
}

/** The least used colour, counted from the one that the name prefers. */
function choose(name: string): number {
  const from = preferred(name);
  let best = from;
  for (let i = 0; i < CATEGORY_COUNT; i++) {
    const candidate = (from + i) % CATEGORY_COUNT;
    if (takenBy[candidate] < takenBy[best]) best = candidate;
  }
  takenBy[best]++;
  chosen.set(name, best);
  return best;
}

/** Gives colours to the kernels of a run, in an order that does not depend on who asks first. */
export function registerKernels(names: readonly string[]): void {
  for (const name of [...names].sort()) if (!chosen.has(name)) choose(name);
}

/** Run `key` is shown from now on. Its colours do not depend on the runs that were looked at before, so that a colleague
 * sees the same; in a run that grows, kernels keep theirs. */
export function showKernels(key: string, names: readonly string[]): void {
  if (key !== shownRun) forgetChoices();
  shownRun = key;
  registerKernels(names);
}

export function kernelColour(name: string): string {
  return CATEGORIES[chosen.get(name) ?? choose(name)];
}

export type Rgb = readonly [number, number, number];

/** "#rgb", "#rrggbb" or "rgb(1, 2, 3)" as numbers; grey if it is neither. */
export function parseColour(text: string): Rgb {
  const long = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text.trim());
  if (long) return [parseInt(long[1], 16), parseInt(long[2], 16), parseInt(long[3], 16)];
  const brief = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(text.trim());
  if (brief) return [parseInt(brief[1], 16) * 17, parseInt(brief[2], 16) * 17, parseInt(brief[3], 16) * 17];
  const call = /^rgba?\(\s*(\d+)[,\s]+(\d+)[,\s]+(\d+)/.exec(text.trim());
  return call ? [Number(call[1]), Number(call[2]), Number(call[3])] : [128, 128, 128];
}

export function mix(from: Rgb, to: Rgb, share: number): Rgb {
  const one = (i: 0 | 1 | 2) => Math.round(from[i] + (to[i] - from[i]) * share);
  return [one(0), one(1), one(2)];
}

/** Relative luminance of WCAG 2, 0 to 1. */
export function luminance(colour: Rgb): number {
  const part = (value: number) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(colour[0]) + 0.7152 * part(colour[1]) + 0.0722 * part(colour[2]);
}

/** The colour of text on a fill: the darker or the lighter, whichever reads better. */
export function inkOn(fill: Rgb): string {
  return luminance(fill) > 0.179 ? "#10151c" : "#ffffff";
}

/** A sequential ramp for 0 to 1 (viridis, as nine stops). */
const RAMP = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"].map(parseColour);
export function rampColour(share: number): Rgb {
  const at = Math.max(0, Math.min(1, Number.isFinite(share) ? share : 0)) * (RAMP.length - 1);
  const low = Math.min(RAMP.length - 2, Math.floor(at));
  return mix(RAMP[low], RAMP[low + 1], at - low);
}

export const toCss = (colour: Rgb): string => `rgb(${colour[0]}, ${colour[1]}, ${colour[2]})`;

/** The tokens of style.css that canvases draw with. */
export interface Tokens {
  paper: string;
  panel: string;
  sunken: string;
  ink: string;
  faint: string;
  rule: string;
  accent: string;
  bad: string;
  good: string;
  warn: string;
  mark: string;
  font: string;
}

let tokens: Tokens | null = null;

/** The tokens of the present theme; read again after the event "theme" of the window. */
export function themeTokens(): Tokens {
  if (tokens) return tokens;
  const style = getComputedStyle(document.documentElement);
  const token = (name: string) => style.getPropertyValue(`--${name}`).trim();
  tokens = {
    paper: token("paper"),
    panel: token("panel"),
    sunken: token("sunken"),
    ink: token("ink"),
    faint: token("faint"),
    rule: token("rule"),
    accent: token("accent"),
    bad: token("bad"),
    good: token("good"),
    warn: token("warn"),
    mark: token("mark"),
    font: token("font"),
  };
  return tokens;
}

/** Called by the shell when the theme changes. */
export function forgetTokens(): void {
  tokens = null;
}
