// SPDX-License-Identifier: Apache-2.0
// The comparison of two runs: a job of the server, asked again until it ends.
import { useEffect, useState } from "preact/hooks";
import { type Job, ask, isStatic } from "../api.js";
import { followJob } from "../jobs.js";

export interface DiffJob {
  job: Job | null;
  error: string;
  cancel: () => void;
  again: () => void;
}

/** Starts `taskglass diff A B`, or finds the one that was started before. */
export function useDiffJob(a: string | undefined, b: string | undefined): DiffJob {
  const [state, setState] = useState<{ about: string; job: Job | null; error: string }>({ about: "", job: null, error: "" });
  const [attempt, setAttempt] = useState(0);
  const about = a && b ? `${a}\n${b}` : "";
  useEffect(() => {
    if (!a || !b) return undefined;
    const stop = new AbortController();
    const show = (job: Job) => {
      if (!stop.signal.aborted) setState({ about, job, error: "" });
    };
    const fail = (cause: unknown) => !stop.signal.aborted && setState({ about, job: null, error: cause instanceof Error ? cause.message : String(cause) });
    if (isStatic) fail(new Error("This page has no server, and comparing needs one: taskglass serve A B"));
    else followJob({ verb: "diff", run: a, b }, show, stop.signal).catch(fail);
    return () => stop.abort();
  }, [about, attempt]);
  const shown = state.about === about ? state : { job: null, error: "" };
  const cancel = () => {
    if (shown.job) void ask<Job>("cancel", { job: shown.job.job }).catch(() => undefined);
  };
  return { job: shown.job, error: shown.error, cancel, again: () => setAttempt(attempt + 1) };
}
