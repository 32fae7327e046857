// SPDX-License-Identifier: Apache-2.0
// The view Questions: what Taskglass can find out about a run, asked from the page. The address has the question and its
// options (verb, what, and options by their names); ask=1: it was asked, so a link asks it too.
import { useEffect, useState } from "preact/hooks";
import { type RunInfo, isStatic } from "../api.js";
import { formatSeconds } from "../format.js";
import { useAsk } from "../hooks.js";
import { Answer } from "../questions/answers.js";
import { outcomeOf, useQuestion } from "../questions/job.js";
import type { Json } from "../questions/json.js";
import "../questions/questions.css";
import { BUILT_IN, type Option, type QuestionKind, commandOf, kindName } from "../questions/questions.js";
import { go, linkTo } from "../route.js";
import { Badge, Command, ErrorLine, Loading, Note, Panel, Progress } from "../widgets.js";
import type { View, ViewProps } from "./view.js";

function Questions({ route, runs, run, generation }: ViewProps) {
  const listed = useAsk<QuestionKind[]>("questions", isStatic ? null : {});
  if (!run) return null;
  if (listed.busy && !isStatic && !listed.value) return <Loading>Reading what can be asked</Loading>;
  const kinds = (listed.value ?? BUILT_IN).filter((kind) => kind.runs === 1);
  const { verb, what } = route.parameters;
  const wanted = kinds.find((kind) => kind.verb === verb && kind.what === (what ?? ""));
  const status = runs.runs.find((entry) => entry.key === run.key)?.status ?? "OK";
  const isFailed = run.live || (status !== "OK" && status !== "MISMATCH");
  const first = kinds.find((kind) => kind.verb === (isFailed ? "explain" : "find")) ?? kinds[0];
  const kind = wanted ?? kinds.find((candidate) => candidate.verb === verb) ?? first;
  const link = (candidate: QuestionKind) => ({ run: run.key, other: route.parameters.other, verb: candidate.verb, what: candidate.what });
  return (
    <div class="questions">
      <nav class="questions-list panel" aria-label="Questions">
        <ul>
          {kinds.map((candidate) => (
            <li key={kindName(candidate)}>
              <a href={linkTo("questions", link(candidate))} aria-current={candidate === kind ? "true" : undefined}>
                {kindName(candidate)}
                <span>{candidate.text}</span>
              </a>
            </li>
          ))}
          <li>
            <a href={linkTo("diff", { run: run.key, other: route.parameters.other })}>
              diff<span>compare with another run</span>
            </a>
          </li>
        </ul>
      </nav>
      <label class="questions-pick">
        Question
        <select
          value={kindName(kind)}
          onChange={(event) => {
            const chosen = kinds.find((candidate) => kindName(candidate) === event.currentTarget.value);
            if (chosen) go("questions", link(chosen));
          }}
        >
          {kinds.map((candidate) => (
            <option key={kindName(candidate)} value={kindName(candidate)}>
              {kindName(candidate)}: {candidate.text}
            </option>
          ))}
        </select>
      </label>
      <div>
        {listed.error && <ErrorLine>{listed.error}</ErrorLine>}
        {kind.verb === "explain" ? (
          <Explain run={run} kind={kind} generation={generation} />
        ) : (
          <Asked key={`${run.key} ${kindName(kind)}`} run={run} kind={kind} parameters={route.parameters} />
        )}
      </div>
    </div>
  );
}

/** `explain` needs no process: the server reads it from the run, and asks a run that goes on. */
function Explain({ run, kind, generation }: { run: RunInfo; kind: QuestionKind; generation: number }) {
  const [again, setAgain] = useState(0);
  const { value, error, busy } = useAsk<Json>("explain", { run: run.key }, generation + again * 1e6);
  return (
    <Panel
      title="explain"
      actions={
        !isStatic && (
          <button type="button" class="button" disabled={busy} onClick={() => setAgain(again + 1)}>
            Ask again
          </button>
        )
      }
    >
      <p class="question-text">{kind.text}</p>
      <Command text={commandOf(kind, run.path, {})} />
      <div aria-live="polite">
        {run.live && <Note>The run goes on. It was asked, and goes on.</Note>}
        {busy && !value && <Loading>Explaining</Loading>}
        {error && <ErrorLine>{error}</ErrorLine>}
        {value && <Answer verb="explain" what="" run={run.key} answer={value} />}
      </div>
    </Panel>
  );
}

/** The options of the address that this question has. */
function optionsOf(kind: QuestionKind, parameters: Record<string, string>): Record<string, string> {
  const options: Record<string, string> = {};
  // The menu carries `task` from view to view; here it is a filter only if the question was asked with it.
  for (const { name } of kind.options) if (parameters[name] && (name !== "task" || parameters.ask)) options[name] = parameters[name];
  return options;
}

function Field({ option, value, onChange }: { option: Option; value: string; onChange: (value: string) => void }) {
  if (option.flag)
    return (
      <label>
        <input type="checkbox" checked={value !== ""} onChange={(event) => onChange(event.currentTarget.checked ? "1" : "")} /> --{option.name}{" "}
        <span class="faint">{option.text}</span>
      </label>
    );
  return (
    <label>
      --{option.name} <span class="faint">{option.text}</span>
      <input type="text" value={value} autocomplete="off" spellcheck={false} onInput={(event) => onChange(event.currentTarget.value)} />
    </label>
  );
}

function Asked({ run, kind, parameters }: { run: RunInfo; kind: QuestionKind; parameters: Record<string, string> }) {
  const given = optionsOf(kind, parameters);
  const [options, setOptions] = useState(given);
  const text = JSON.stringify(given);
  useEffect(() => setOptions(given), [text]);
  const isAsked = parameters.ask === "1";
  const asked = useQuestion({ verb: kind.verb, what: kind.what, run: run.key, options: given }, isAsked, run.generation);
  const outcome = outcomeOf(asked);
  const isWorking = isAsked && !isStatic && outcome.isWorking;
  const isChanged = JSON.stringify(options) !== text;
  const submit = (event: Event) => {
    event.preventDefault();
    const cleared = Object.fromEntries(kind.options.map(({ name }) => [name, undefined]));
    if (isAsked && !isChanged) asked.start();
    else go("questions", { run: run.key, other: parameters.other, verb: kind.verb, what: kind.what, ...cleared, ...options, ask: "1" });
  };
  return (
    <Panel title={kindName(kind)}>
      <form onSubmit={submit}>
        <p class="question-text">{kind.text}</p>
        <Command text={commandOf(kind, run.path, options)} />
        {!isStatic && kind.options.length > 0 && (
          <details class="question-options" open={Object.keys(options).length > 0}>
            <summary>Options</summary>
            <div class="question-fields">
              {kind.options.map((option) => (
                <Field
                  key={option.name}
                  option={option}
                  value={options[option.name] ?? ""}
                  onChange={(value) => setOptions(({ [option.name]: _, ...others }) => (value ? { ...others, [option.name]: value } : others))}
                />
              ))}
            </div>
          </details>
        )}
        {isStatic ? (
          <Note>This page has no server behind it: type the command into a terminal.</Note>
        ) : (
          <p class="question-ask">
            <button type="submit" class="button primary" disabled={isWorking}>
              {isAsked && !isChanged ? "Ask again" : "Ask"}
            </button>
            {isWorking && (
              <button type="button" class="button" onClick={asked.cancel}>
                Cancel
              </button>
            )}
            {isWorking && <Progress label="The question is being answered" value={null} />}
            <span role="status">
              {isWorking && `working${asked.job ? `, ${formatSeconds(asked.job.seconds)}` : ""}`}
              {!isWorking && asked.job && (
                <>
                  <Badge tone={asked.job.state === "done" ? "plain" : "warn"}>{asked.job.state === "stopped" ? "cancelled" : asked.job.state}</Badge> in{" "}
                  {formatSeconds(asked.job.seconds)}
                </>
              )}
            </span>
          </p>
        )}
      </form>
      {isAsked && !isStatic && outcome.error && <ErrorLine>{outcome.error}</ErrorLine>}
      {isAsked && outcome.answer && asked.generation !== run.generation && <Note>The run has grown since it was asked: this is about what was recorded then.</Note>}
      {isAsked && outcome.answer && <Answer verb={kind.verb} what={kind.what} run={run.key} answer={outcome.answer} />}
      {isAsked && !outcome.answer && asked.job && asked.job.state !== "working" && asked.job.text && asked.job.text !== outcome.error && (
        <pre class="answer-json">{asked.job.text}</pre>
      )}
    </Panel>
  );
}

export const questionsView: View = { name: "questions", title: "Questions", key: "q", needsRun: true, component: Questions };
