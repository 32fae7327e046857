// SPDX-License-Identifier: Apache-2.0
// The colours of nodes, and the legend that says what they mean.
import { formatNs } from "../format.js";
import type { RunModel } from "../model.js";
import { type Rgb, type Tokens, categoryColour, kernelColour, parseColour, rampColour, toCss } from "../palette.js";
import { type BlameWord, type Verdicts, worse } from "./blame.js";
import { NO_CORE, SEVERAL_CORES } from "./facts.js";
import type { Scene, SceneNode } from "./scene.js";

export const COLOURINGS = ["kernel", "time", "core", "blame", "error"] as const;
export type Colouring = (typeof COLOURINGS)[number];

export interface Legend {
  title: string;
  /** Colours with their meaning. */
  entries: { colour: string; text: string }[];
  blank: string[]; // what nodes without a colour are
  /** A ramp from the least to the most. */
  ramp: { from: string; to: string; stops: string[] } | null;
}

/** The colour of a node; null: nothing is known, so it has none. */
export interface NodeColour {
  colour: Rgb | null;
  word: string; // what the colour says, for people who do not see it
}

export interface Painted {
  nodes: NodeColour[];
  legend: Legend;
}

const RAMP_STOPS = [0, 0.25, 0.5, 0.75, 1];

function ramp(title: string, nodes: readonly NodeColour[], from: string, to: string): Painted {
  const stops = RAMP_STOPS.map((share) => toCss(rampColour(share)));
  return { nodes: [...nodes], legend: { title, entries: [], blank: blankOf(nodes), ramp: { from, to, stops } } };
}

function categories(title: string, nodes: readonly NodeColour[]): Painted {
  return { nodes: [...nodes], legend: { title, entries: entriesOf(nodes), blank: blankOf(nodes), ramp: null } };
}

function blankOf(nodes: readonly NodeColour[]): string[] {
  return [...new Set(nodes.filter(({ colour }) => !colour).map(({ word }) => word))];
}

/** Each word once, in the order in which nodes have them. */
function entriesOf(nodes: readonly NodeColour[]): Legend["entries"] {
  const seen = new Map<string, string>();
  for (const { colour, word } of nodes) if (colour && !seen.has(word)) seen.set(word, toCss(colour));
  return [...seen].map(([text, colour]) => ({ text, colour }));
}

function byKernel(nodes: readonly SceneNode[]): Painted {
  const colours = nodes.map((node) => ({
    colour: node.kernel === null ? null : parseColour(kernelColour(node.kernel)),
    word: node.kernel ?? "several kernels",
  }));
  return categories("Kernel", colours);
}

function byCore(nodes: readonly SceneNode[], model: RunModel): Painted {
  const colours = nodes.map((node): NodeColour => {
    if (node.core === SEVERAL_CORES) return { colour: null, word: "several cores" };
    if (node.core === NO_CORE) return { colour: null, word: "core not known" };
    return { colour: parseColour(categoryColour(node.core)), word: model.cores[node.core]?.name ?? `core ${node.core}` };
  });
  return categories("Core", colours);
}

function byTime(nodes: readonly SceneNode[]): Painted {
  const known = nodes.filter((node) => node.tasks > node.untimed);
  const most = Math.max(0, ...known.map((node) => node.time));
  const colours = nodes.map((node): NodeColour => {
    if (node.tasks <= node.untimed) return { colour: null, word: "time not known" };
    return { colour: rampColour(most > 0 ? node.time / most : 0), word: formatNs(node.time) };
  });
  return ramp("Time", colours, "0", formatNs(most));
}

const BLAME_WORDS: Record<BlameWord, string> = {
  guilty: "suspected of a difference",
  path: "on the way of a difference",
  wrong: "differs",
  only: "only in this run",
  silent: "no difference shown",
};

function byBlame(scene: Scene, verdicts: Verdicts, tokens: Tokens): Painted {
  const colour: Record<BlameWord, Rgb | null> = {
    guilty: parseColour(tokens.bad),
    path: parseColour(categoryColour(1)),
    wrong: parseColour(categoryColour(4)),
    only: parseColour(categoryColour(8)),
    silent: null,
  };
  const words = scene.nodes.map((): BlameWord => "silent");
  for (const [task, word] of verdicts.word) {
    const node = scene.nodeOf(task);
    if (node >= 0) words[node] = worse(word, words[node]);
  }
  const colours = words.map((word) => ({ colour: colour[word], word: BLAME_WORDS[word] }));
  return categories("Blame", colours);
}

/** Errors span many orders of magnitude, so the ramp is of their logarithm. */
function byError(scene: Scene, verdicts: Verdicts): Painted {
  const errors = scene.nodes.map(() => NaN);
  for (const [task, error] of verdicts.error) {
    const node = scene.nodeOf(task);
    if (node >= 0 && !(error <= errors[node])) errors[node] = error;
  }
  const logs = errors.filter((error) => error > 0 && Number.isFinite(error)).map(Math.log10);
  const low = Math.min(...logs);
  const high = Math.max(...logs);
  const colours = errors.map((error): NodeColour => {
    if (Number.isNaN(error)) return { colour: null, word: "error not known" };
    const word = `largest error ${error.toPrecision(3)}`;
    if (error === 0) return { colour: rampColour(0), word };
    const share = Number.isFinite(error) && high > low ? (Math.log10(error) - low) / (high - low) : 1;
    return { colour: rampColour(0.1 + 0.9 * share), word };
  });
  const [from, to] = logs.length ? [10 ** low, 10 ** high] : [0, 0];
  return ramp("Largest absolute error", colours, from.toPrecision(2), to.toPrecision(2));
}

export function paintNodes(
  scene: Scene,
  colouring: Colouring,
  about: { model: RunModel; verdicts: Verdicts | null; tokens: Tokens },
): Painted {
  if (colouring === "time") return byTime(scene.nodes);
  if (colouring === "core") return byCore(scene.nodes, about.model);
  if (colouring === "blame" && about.verdicts) return byBlame(scene, about.verdicts, about.tokens);
  if (colouring === "error" && about.verdicts) return byError(scene, about.verdicts);
  return byKernel(scene.nodes);
}
