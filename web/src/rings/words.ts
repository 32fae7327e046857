// SPDX-License-Identifier: Apache-2.0
// Words for amounts of a resource.
import { HEAP } from "./document.js";

export function grouped(n: number): string {
  return n.toLocaleString("en");
}

export function count(n: number, noun: string): string {
  return `${grouped(n)} ${noun}${n === 1 ? "" : "s"}`;
}

export function amount(resource: number, n: number): string {
  if (resource !== HEAP) return grouped(n);
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  for (; n >= 1024 && unit + 1 < units.length; unit++) n /= 1024;
  return `${unit === 0 || Number.isInteger(n) ? n : n.toFixed(n < 10 ? 2 : 1)} ${units[unit]}`;
}

/** How full something is; 1 if it holds something and has no room. */
export function share(used: number, capacity: number): number {
  if (capacity) return used / capacity;
  return used ? 1 : 0;
}

export function percent(part: number): string {
  return `${(part * 100).toFixed(part < 0.0995 ? 2 : 1)} %`;
}
