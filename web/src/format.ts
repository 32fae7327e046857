// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them. An unknown number (null, NaN) is an en dash everywhere.

export const UNKNOWN_TEXT = "–";

const TIME_UNITS: readonly [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
];

/** Three significant digits: 12.3, 1.23, 123. */
function short(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

/** 12345 → "12.3 µs". `null`, NaN: not known. */
export function formatNs(ns: number | null | undefined): string {
  if (ns === null || ns === undefined || Number.isNaN(ns)) return UNKNOWN_TEXT;
  const size = Math.abs(ns);
  for (const [factor, unit] of TIME_UNITS) if (size >= factor * 0.9995) return `${short(ns / factor)} ${unit}`;
  return `${Number.isInteger(ns) ? ns : short(ns)} ns`;
}

/** How long something took. `isBound`: it took this long or longer, and nothing is known if that is no time at all. */
export function formatLength(ns: number, isBound: boolean): string {
  if (!isBound) return formatNs(ns);
  return ns > 0 ? `at least ${formatNs(ns)}` : "not known";
}

/** A place on the time axis, exact to `step` nanoseconds: neighbours that are `step` apart look different. */
export function formatTick(ns: number, step: number): string {
  if (Math.abs(ns) < step / 2) return "0";
  const [factor, unit] = TIME_UNITS.find(([size]) => Math.abs(ns) >= size) ?? [1, "ns"];
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / factor) - 1e-9)));
  return `${(ns / factor).toFixed(digits)} ${unit}`;
}

export function formatSeconds(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || Number.isNaN(seconds)) return UNKNOWN_TEXT;
  if (seconds < 60) return formatNs(seconds * 1e9);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** 1234567 → "1.18 MiB". */
export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined || Number.isNaN(bytes)) return UNKNOWN_TEXT;
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 999.5 && unit + 1 < units.length) {
    value /= 1024;
    unit++;
  }
  return `${short(value)} ${units[unit]}`;
}

const grouped = new Intl.NumberFormat("en-US");

/** 1234567 → "1,234,567". */
export function formatCount(count: number | null | undefined): string {
  return count === null || count === undefined || Number.isNaN(count) ? UNKNOWN_TEXT : grouped.format(count);
}

/** "1 task", "2 tasks". */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** 0.123 → "12.3 %". */
export function formatShare(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return UNKNOWN_TEXT;
  return share > 0 && share < 0.0005 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`;
}

/** A date of seconds since 1970, in the reader's time zone: "2026-11-18 03:15:14". */
export function formatDate(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !(seconds > 0)) return UNKNOWN_TEXT;
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return UNKNOWN_TEXT;
  const two = (number: number) => String(number).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** "3 min ago". `now` and `then` in seconds since 1970. */
export function formatAgo(then: number | null | undefined, now = Date.now() / 1000): string {
  if (then === null || then === undefined || !(then > 0)) return UNKNOWN_TEXT;
  const seconds = Math.max(0, now - then);
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  const days = Math.floor(seconds / 86400);
  return days === 1 ? "1 day ago" : `${days} days ago`;
}

/** A note of an answer as a sentence: with a capital letter and a full stop. */
export function asSentence(text: string): string {
  const trimmed = text.trim();
  if (!trimmed) return "";
  return trimmed[0].toUpperCase() + trimmed.slice(1) + (/[.!?…]$/.test(trimmed) ? "" : ".");
}

/** A text as one word of a command line. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
