// SPDX-License-Identifier: Apache-2.0
// Links from an answer to what it is about.
import { idText, parseId } from "../model.js";
import { linkTo } from "../route.js";
import { type Json, kernelOf, numberOf, numbersOf, textOf } from "./json.js";

/** "12", "1:12" for the id of a document; "": it is none. */
export function idOf(value: unknown): string {
  const id = parseId(textOf(value));
  // The orchestration is no task: its number is the largest.
  return id === null || id === 0xffffffffffffffffn ? "" : idText(id);
}

export function TaskLink({ run, id, kernel = "" }: { run: string; id: string; kernel?: string }) {
  if (!id) return <span class="faint">{kernel || "no task"}</span>;
  return (
    <a href={linkTo("task", { run, task: id })}>
      {id} {kernel}
    </a>
  );
}

export function GraphLink({ run, id }: { run: string; id: string }) {
  return id ? <a href={linkTo("graph", { run, task: id, show: "near" })}>Graph</a> : null;
}

/** The place of an element in the order of rows; NaN: the indices are not of this shape. */
export function flatIndex(at: readonly number[], shape: readonly number[]): number {
  if (at.length !== shape.length) return at.length === 1 ? at[0] : NaN;
  return at.reduce((sum, index, dimension) => sum * shape[dimension] + index, 0);
}

const STAGES: Record<string, string> = { before_dispatch: "before", after_completion: "after" };

/** "output 1, after, float32 (4, 8)". */
export function argumentText(record: Json): string {
  const stage = textOf(record.stage);
  const shape = numbersOf(record.shape);
  const what = textOf(record.kind) === "scalar" ? "scalar" : `(${shape.join(", ")})`;
  return `${textOf(record.role)} ${numberOf(record.arg_index)}, ${STAGES[stage] ?? stage}, ${textOf(record.dtype)} ${what}`;
}

/** The tensor of a record, and the element that an answer names. */
export function TensorLink({ run, record, at = null, text }: { run: string; record: Json; at?: unknown; text?: string }) {
  const number = numberOf(record.record ?? record.index);
  const words = text ?? argumentText(record);
  if (Number.isNaN(number)) return <>{words}</>;
  const element = Array.isArray(at) ? flatIndex(numbersOf(at), numbersOf(record.shape)) : NaN;
  return <a href={linkTo("tensor", { run, record: number, element: Number.isNaN(element) ? undefined : element })}>{words}</a>;
}

export function taskOf(record: Json): { id: string; kernel: string } {
  return { id: idOf(record.task_id), kernel: kernelOf(record.kernel) };
}
