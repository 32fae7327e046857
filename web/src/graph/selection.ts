// SPDX-License-Identifier: Apache-2.0
// Which tasks are looked at: all of them, those of a scope or a kernel, or a part of those in the order of submission.
import type { Facts } from "./facts.js";
import { STEPS, type Work } from "./slices.js";

export interface Selection {
  scope?: string;
  kernel?: string;
  /** Of the tasks that scope and kernel select: the first and the last one. */
  part?: readonly [number, number];
}

/** "100-199" of the address. */
export function parsePart(text: string | undefined): readonly [number, number] | undefined {
  const found = /^(\d{1,9})-(\d{1,9})$/.exec(text ?? "");
  if (!found) return undefined;
  const [first, last] = [Number(found[1]), Number(found[2])];
  return first <= last ? [first, last] : undefined;
}

export function partText(part: readonly [number, number] | undefined): string | undefined {
  return part && `${part[0]}-${part[1]}`;
}

export function isAll(selection: Selection): boolean {
  return selection.scope === undefined && selection.kernel === undefined && selection.part === undefined;
}

/** The tasks that are selected, in the order of submission. */
export function* membersOf(facts: Facts, selection: Selection): Work<Uint32Array> {
  if (isAll(selection)) return facts.order;
  const { scope, kernel, part } = selection;
  // A name that comes twice among the texts has two numbers.
  const isScope = facts.scopes.map((name) => name === scope);
  const isKernel = facts.kernels.map((name) => name === kernel);
  const found = new Uint32Array(facts.tasks);
  let count = 0;
  for (let i = 0; i < facts.order.length; i++) {
    if (i % STEPS === 0) yield;
    const task = facts.order[i];
    if (scope !== undefined && !(isScope[facts.scope[task]] ?? scope === "")) continue;
    if (kernel !== undefined && !(isKernel[facts.kernel[task]] ?? kernel === "?")) continue;
    found[count++] = task;
  }
  return part ? found.slice(Math.min(part[0], count), Math.min(part[1] + 1, count)) : found.slice(0, count);
}

/** The steps from all tasks to the selection. */
export function stepsTo(selection: Selection): { text: string; selection: Selection }[] {
  const steps: { text: string; selection: Selection }[] = [{ text: "All tasks", selection: {} }];
  const { scope, kernel, part } = selection;
  if (scope !== undefined) steps.push({ text: scope || "scope not known", selection: { scope } });
  if (kernel !== undefined) steps.push({ text: kernel, selection: { scope, kernel } });
  if (part) steps.push({ text: `tasks ${part[0]} to ${part[1]}`, selection });
  return steps;
}
