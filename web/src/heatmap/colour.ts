// SPDX-License-Identifier: Apache-2.0
// Colour maps. They are computed: a path through OKLab (a space in which equal steps look equal), walked in steps of
// equal length. Lightness rises along every sequential map, and the two ends of the diverging one are blue and orange,
// so that people with any kind of colour blindness can read them.

type Lab = [number, number, number];

/** A stop: lightness 0 to 1, chroma, hue in degrees. */
type Stop = [number, number, number];

function lab([light, chroma, hue]: Stop): Lab {
  const angle = (hue * Math.PI) / 180;
  return [light, chroma * Math.cos(angle), chroma * Math.sin(angle)];
}

/** OKLab to linear red, green and blue; outside of 0 to 1 if a screen cannot show it. */
function linear([light, a, b]: Lab): Lab {
  const l = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (light - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

/** The colour itself, or the nearest with less chroma that a screen can show. */
function shown(colour: Lab): Lab {
  const fits = (share: number) =>
    linear([colour[0], colour[1] * share, colour[2] * share]).every((part) => part > -1e-4 && part < 1 + 1e-4);
  if (fits(1)) return colour;
  let low = 0;
  let high = 1;
  for (let i = 0; i < 20; i++) {
    const middle = (low + high) / 2;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return [colour[0], colour[1] * low, colour[2] * low];
}

function byte(part: number): number {
  const bounded = Math.min(Math.max(part, 0), 1);
  return Math.round(255 * (bounded <= 0.0031308 ? 12.92 * bounded : 1.055 * bounded ** (1 / 2.4) - 0.055));
}

/** A pixel of ImageData, as a little-endian word. */
export function pixel(red: number, green: number, blue: number): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

function pixelOf(colour: Lab): number {
  const [red, green, blue] = linear(shown(colour));
  return pixel(byte(red), byte(green), byte(blue));
}

/** "#aabbcc" of a pixel. */
export function cssColour(word: number): string {
  const hex = (part: number) => (part & 255).toString(16).padStart(2, "0");
  return `#${hex(word)}${hex(word >>> 8)}${hex(word >>> 16)}`;
}

/** True if black letters read better on this colour than white ones. */
export function isLight(word: number): boolean {
  const part = (shift: number) => (((word >>> shift) & 255) / 255) ** 2.2;
  return 0.2126 * part(0) + 0.7152 * part(8) + 0.0722 * part(16) > 0.22;
}

const FINE = 1024;
export const STEPS = 256;

/** Walks through the stops: lightness, chroma and hue change evenly between two of them. */
function path(stops: Stop[]): Lab[] {
  const points: Lab[] = [];
  for (let i = 0; i <= FINE; i++) {
    const place = (i / FINE) * (stops.length - 1);
    const stop = Math.min(Math.floor(place), stops.length - 2);
    const share = place - stop;
    const mix = (k: 0 | 1 | 2) => stops[stop][k] * (1 - share) + stops[stop + 1][k] * share;
    points.push(shown(lab([mix(0), mix(1), mix(2)])));
  }
  return points;
}

/** The same path in `count` steps of equal length. */
function evenly(points: Lab[], count: number): Lab[] {
  const length = [0];
  for (let i = 1; i < points.length; i++)
    length.push(length[i - 1] + Math.hypot(points[i][0] - points[i - 1][0], points[i][1] - points[i - 1][1], points[i][2] - points[i - 1][2]));
  const all = length[length.length - 1];
  const even: Lab[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    const wanted = (all * i) / (count - 1);
    while (at < points.length - 2 && length[at + 1] < wanted) at++;
    const share = Math.min(Math.max((wanted - length[at]) / (length[at + 1] - length[at] || 1), 0), 1);
    const mix = (k: 0 | 1 | 2) => points[at][k] * (1 - share) + points[at + 1][k] * share;
    even.push([mix(0), mix(1), mix(2)]);
  }
  return even;
}

const SEQUENTIAL: Record<string, Stop[]> = {
  lagoon: [
    [0.2, 0.09, 300],
    [0.42, 0.13, 265],
    [0.6, 0.12, 215],
    [0.77, 0.15, 160],
    [0.95, 0.16, 105],
  ],
  ember: [
    [0.15, 0.03, 290],
    [0.38, 0.15, 330],
    [0.58, 0.2, 375],
    [0.78, 0.16, 420],
    [0.97, 0.1, 460],
  ],
  grey: [
    [0.16, 0, 0],
    [0.97, 0, 0],
  ],
};

/** Blue below the middle, orange above. The middle is near the paper, so that what is far from zero stands out. */
function diverging(isDark: boolean): Lab[] {
  const middle = isDark ? 0.27 : 0.96;
  const half = isDark ? 0.6 : 0.66;
  const end = isDark ? 0.9 : 0.36;
  const arm = (hue: number, far: number) => evenly(path([[middle, 0, hue], [half, 0.14, hue], [end, isDark ? 0.1 : 0.12, far]]), STEPS / 2);
  return [...arm(255, 265).reverse(), ...arm(55, 45)];
}

/** The maps that a reader can choose. */
export const MAP_NAMES = ["lagoon", "ember", "grey", "diverging"] as const;
/** "error" is for sizes of differences: what is small is near the paper. */
export type MapName = (typeof MAP_NAMES)[number] | "error";

const made = new Map<string, Uint32Array>();

function stepsOf(name: MapName, isDark: boolean): Lab[] {
  if (name === "diverging") return diverging(isDark);
  if (name !== "error") return evenly(path(SEQUENTIAL[name]), STEPS);
  const stops = isDark ? SEQUENTIAL.ember.slice(1) : SEQUENTIAL.ember.slice(0, 4).reverse();
  return evenly(path(stops), STEPS);
}

/** The pixels of a map, from the least value to the most. */
export function colourMap(name: MapName, isDark: boolean): Uint32Array {
  const key = `${name} ${isDark}`;
  let map = made.get(key);
  if (!map) {
    map = Uint32Array.from(stepsOf(name, isDark), pixelOf);
    made.set(key, map);
  }
  return map;
}

/** Colours of kinds: none of them lies on a map, and each differs from the others in lightness, too. */
export interface KindColours {
  nan: number;
  infinite: number;
  negative: number; // infinity
  zero: number;
  denormal: number;
  none: number; // in a map of one kind: elements that are not of it
}

export function kindColours(isDark: boolean): KindColours {
  return {
    nan: pixelOf(lab([0.62, 0.27, 355])),
    infinite: pixelOf(lab([0.85, 0.24, 142])),
    negative: pixelOf(lab([0.5, 0.17, 142])),
    zero: pixelOf(lab([isDark ? 0.45 : 0.78, 0.02, 250])),
    denormal: pixelOf(lab([0.72, 0.16, 310])),
    none: pixelOf(lab([isDark ? 0.23 : 0.94, 0.005, 250])),
  };
}
