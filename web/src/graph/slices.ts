// SPDX-License-Identifier: Apache-2.0
// Long work in slices: a generator does some of it between two yields, and the page stays awake in between.

/** Work that gives up control from time to time, and returns T in the end. */
export type Work<T> = Generator<void, T>;

const SLICE_MS = 12;

/** Ends with an error of name "AbortError" if the signal says so. */
export async function inSlices<T>(work: Work<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    const until = performance.now() + SLICE_MS;
    do {
      const step = work.next();
      if (step.done) return step.value;
    } while (performance.now() < until);
    await new Promise((resume) => setTimeout(resume, 0));
    signal?.throwIfAborted();
  }
}

/** All of it at once, for tests and small work. */
export function atOnce<T>(work: Work<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** How many small steps fit between two yields. */
export const STEPS = 1 << 15;
