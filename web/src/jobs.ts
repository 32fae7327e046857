// SPDX-License-Identifier: Apache-2.0
// A question that the server answers with a process of its own: asked, and looked at until it ends.
import { type Job, type Parameters, ask } from "./api.js";

const FIRST_MS = 120;
const MOST_MS = 1000;

/**
 * Asks, or finds the job that answers the same question, and returns it when it has ended. `show` sees each state of it.
 * Throws what `ask` throws, and the reason of `signal`; the job itself goes on then.
 */
export async function followJob(question: Parameters, show: (job: Job) => void, signal?: AbortSignal): Promise<Job> {
  let job = await ask<Job>("ask", question, signal);
  show(job);
  for (let pause = FIRST_MS; job.state === "working"; pause = Math.min(pause * 1.5, MOST_MS)) {
    await new Promise((wake) => setTimeout(wake, pause));
    signal?.throwIfAborted();
    job = await ask<Job>("job", { job: job.job }, signal);
    show(job);
  }
  return job;
}
