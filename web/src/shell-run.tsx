// SPDX-License-Identifier: Apache-2.0
// The run that the page shows: its name and result in the bar, why it failed, and what its recording lacks.
import type { ComponentChildren } from "preact";
import { type RunEntry, type RunInfo, isStatic } from "./api.js";
import { asSentence, formatCount, plural } from "./format.js";
import type { Live } from "./live.js";
import { linkTo } from "./route.js";
import { Badge, CopyButton, type Tone } from "./widgets.js";

/** The word and the tone of a run's result. */
export function resultOf(entry: Pick<RunEntry, "state" | "status">): { text: string; tone: Tone } {
  if (isLiveState(entry.state)) return { text: "running", tone: "accent" };
  if (entry.status === "OK") return { text: "OK", tone: "good" };
  if (entry.status) return { text: entry.status, tone: "bad" };
  return { text: entry.state || "unknown", tone: "warn" };
}

export const isLiveState = (state: string) => state === "running";

export function RunTitle(props: { entry: RunEntry | undefined; info: RunInfo | null; live: Live; children?: ComponentChildren }) {
  const { entry, info, live, children } = props;
  if (!info) return <div class="run-title" />;
  const shown = live.ended ?? entry;
  const result = shown ? resultOf(shown) : null;
  // The list knows nothing yet about a run that has written no run.json; the run itself does.
  const known = shown?.workload ? shown : (live.answer ?? shown);
  const what = known && [known.workload, known.case, known.platform, known.runtime].filter(Boolean).join(" · ");
  return (
    <div class="run-title">
      <span class="run-name" title={info.path}>
        {info.name}
      </span>
      {info.live && !live.ended ? <Badge tone="accent">live</Badge> : result && <Badge tone={result.tone}>{result.text}</Badge>}
      {what && <span class="run-what">{what}</span>}
      <RunNotes info={info} entry={shown} />
      {children}
    </div>
  );
}

/** What the recording lacks: always there, out of the way. */
function RunNotes({ info, entry }: { info: RunInfo; entry: RunEntry | undefined }) {
  const notes = [...info.notes];
  if (info.no_recording) notes.unshift(info.no_recording);
  const lost = info.recording?.lost ?? entry?.lost ?? 0;
  return (
    <details class="notes">
      <summary>
        {lost > 0 && <Badge tone="warn">{formatCount(lost)} lost</Badge>}
        <span>{notes.length ? plural(notes.length, "note") : info.recording?.complete ? "complete" : "no notes"}</span>
      </summary>
      <div class="notes-body">
        {notes.length === 0 ? (
          <p>The recording says of nothing that it is missing.</p>
        ) : (
          <ul>
            {notes.map((note) => (
              <li key={note}>{asSentence(note)}</li>
            ))}
          </ul>
        )}
        {isStatic && (
          <p>
            This page has no server. To ask questions and to compare, open the run with <code>taskglass serve</code>.
          </p>
        )}
        {info.recording && (
          <p class="faint">
            level {info.recording.level}, {formatCount(info.recording.records)} records, {info.recording.state}
            {info.recording.foreign ? ", written by another program" : ""}
          </p>
        )}
        {info.command && (
          <p class="notes-command">
            <code>{info.command}</code> <CopyButton text={info.command} title="Copy the command that made this run" />
          </p>
        )}
      </div>
    </details>
  );
}

/** The sentence of run.json about a failure; "" if there is none. */
function errorText(info: RunInfo): string {
  const error = info.run_json?.error;
  if (typeof error === "string") return error;
  if (error !== null && typeof error === "object") {
    const members = error as Record<string, unknown>;
    for (const name of ["message", "text"]) if (typeof members[name] === "string") return members[name];
  }
  return "";
}

export function FailureStrip({ info, entry, view }: { info: RunInfo; entry: RunEntry | undefined; view: string }) {
  if (!entry?.status || entry.status === "OK") return null;
  const text = errorText(info);
  return (
    <section class="strip bad" aria-label="Failure">
      <p>
        <strong>{entry.status}</strong> {text}
      </p>
      {view !== "questions" && (
        <a class="button" href={linkTo("questions", { run: info.key, verb: "explain" })}>
          Explain
        </a>
      )}
    </section>
  );
}
