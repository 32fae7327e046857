// SPDX-License-Identifier: Apache-2.0
// Questions that the server answers with a process of its own: asked once, then looked at until they end. Answers are
// kept while the page is open.
import { useEffect, useState } from "preact/hooks";
import { type Job, type Parameters, ask, isStatic, requestText } from "../api.js";
import { followJob } from "../jobs.js";

/** A question, as the address and the server know it. */
export interface Question {
  verb: string;
  what: string; // of `find`; ""
  run: string;
  b?: string; // the second run
  options: Record<string, string>;
}

function parametersOf(question: Question): Parameters {
  return { verb: question.verb, what: question.what || undefined, run: question.run, b: question.b, ...question.options };
}

export function questionKey(question: Question): string {
  return requestText("ask", parametersOf(question));
}

export interface Asked {
  job: Job | null;
  error: string; // why it could not be asked
  generation?: number; // of the run, when it was asked
}

const kept = new Map<string, Asked>();
const listeners = new Map<string, Set<() => void>>();
const following = new Set<string>();

function keep(key: string, asked: Asked): void {
  kept.set(key, asked);
  for (const listener of listeners.get(key) ?? []) listener();
}

/** Looks after a job until it ends, whether or not somebody watches: its answer is kept. */
async function follow(key: string, question: Question, generation: number): Promise<void> {
  if (following.has(key)) return;
  following.add(key);
  try {
    await followJob(parametersOf(question), (job) => keep(key, { job, error: "", generation }));
  } catch (error) {
    keep(key, { job: null, error: error instanceof Error ? error.message : String(error), generation });
  } finally {
    following.delete(key);
  }
}

function noServer({ verb, what }: Question): string {
  return `This page has no server behind it; a terminal answers this: taskglass ${verb}${what ? ` ${what}` : ""}`;
}

export interface AskedState extends Asked {
  start: () => void; // asks, also once more after it failed
  cancel: () => void;
}

/** What is known about a question. `isWanted`: ask it if nothing is known yet. `generation`: that of the run. */
export function useQuestion(question: Question | null, isWanted: boolean, generation: number): AskedState {
  const key = question ? questionKey(question) : "";
  const [, update] = useState(0);
  useEffect(() => {
    const changed = () => update((count) => count + 1);
    const set = listeners.get(key) ?? new Set();
    listeners.set(key, set.add(changed));
    return () => set.delete(changed);
  }, [key]);
  useEffect(() => {
    if (question && isWanted && !isStatic && !kept.has(key)) void follow(key, question, generation);
  }, [key, isWanted]);
  const asked = kept.get(key) ?? { job: null, error: isStatic && question && isWanted ? noServer(question) : "" };
  return {
    ...asked,
    start: () => {
      kept.delete(key);
      if (question && !isStatic) void follow(key, question, generation);
    },
    cancel: () => {
      if (asked.job) void ask<Job>("cancel", { job: asked.job.job }).catch(() => undefined);
    },
  };
}

/** The answer of a job, or the sentence that says why there is none. */
export function outcomeOf({ job, error }: Asked): { answer: Record<string, unknown> | null; error: string; isWorking: boolean } {
  if (error) return { answer: null, error, isWorking: false };
  if (!job || job.state === "working") return { answer: null, error: "", isWorking: true };
  if (job.state === "stopped") return { answer: null, error: "The question was cancelled.", isWorking: false };
  if (job.answer) return { answer: job.answer, error: "", isWorking: false };
  return { answer: null, error: job.error || job.text || `${job.command} gave no answer`, isWorking: false };
}
