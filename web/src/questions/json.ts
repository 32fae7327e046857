// SPDX-License-Identifier: Apache-2.0
// Reads documents of commands: a member that is missing or of another type is nothing, and never an error.

export type Json = Record<string, unknown>;

export function objectOf(value: unknown): Json {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Json) : {};
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function objectsOf(value: unknown): Json[] {
  return listOf(value).map(objectOf);
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** NaN: it is no number. Numbers beyond 2^53 are texts in documents. */
export function numberOf(value: unknown): number {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : NaN;
}

export function numbersOf(value: unknown): number[] {
  return listOf(value).map(numberOf);
}

/** "mat+add"; documents have a text or a list. */
export function kernelOf(value: unknown): string {
  return typeof value === "string" ? value : listOf(value).map(textOf).filter(Boolean).join("+");
}

/** A value of a tensor: documents write numbers, and texts for what JSON has no number for. */
export function valueText(value: unknown): string {
  if (typeof value === "number") return String(Number(value.toPrecision(9)));
  return typeof value === "string" || typeof value === "boolean" ? String(value) : "–";
}
