// SPDX-License-Identifier: Apache-2.0
// The answer of `taskglass explain`: a chain of waits, and its root.
import { formatCount, formatSeconds, plural } from "../format.js";
import { linkTo } from "../route.js";
import { Badge, Note, Table } from "../widgets.js";
import { type Json, listOf, numberOf, objectOf, objectsOf, textOf } from "./json.js";
import { GraphLink, TaskLink, idOf } from "./links.js";
import { LeftOut, Result } from "./parts.js";

function ExplainResult({ answer }: { answer: Json }) {
  const result = textOf(answer.result);
  const status = textOf(answer.status);
  const tasks = objectOf(answer.tasks);
  const finished = `${formatCount(numberOf(tasks.finished))} of ${plural(numberOf(tasks.submitted), "submitted task")} finished.`;
  if (result === "ended well")
    return (
      <Result tone="good" word="ended well">
        {finished} There is nothing to explain.
      </Result>
    );
  if (result === "not known")
    return (
      <Result tone="warn" word="not known">
        {textOf(answer.reason) || textOf(answer.error) || finished}
      </Result>
    );
  return (
    <Result tone={result === "failed" ? "bad" : "accent"} word={status || result}>
      {textOf(answer.error) || finished}
    </Result>
  );
}

function Link({ run, link, isLast }: { run: string; link: Json; isLast: boolean }) {
  const id = idOf(link.task_id);
  return (
    <li class={isLast ? "chain-root" : ""}>
      <span class="chain-kind">{textOf(link.kind) || "?"}</span>
      <span class="chain-text">
        {textOf(link.text)}
        {id && (
          <span class="chain-links">
            <a href={linkTo("task", { run, task: id })}>Task {id}</a> <GraphLink run={run} id={id} />
          </span>
        )}
      </span>
    </li>
  );
}

/** "kernels.c:73 in spin". */
function siteText(value: unknown): string {
  const site = objectOf(value);
  const file = textOf(site.file);
  if (!file) return "";
  return `${file}:${numberOf(site.line)}${textOf(site.function) ? ` in ${textOf(site.function)}` : ""}`;
}

interface CoreRow {
  number: number;
  is: Json;
}

function Cores({ run, answer }: { run: string; answer: Json }) {
  const rows = objectsOf(answer.cores).map((is, number): CoreRow => ({ number, is }));
  const more = numberOf(answer.more_cores);
  const idle = numberOf(answer.idle_cores);
  if (rows.length === 0) return null;
  return (
    <>
      <h3>What ran</h3>
      <Table<CoreRow>
        label="What ran"
        rows={rows}
        rowKey={(row) => row.number}
        columns={[
          { name: "Core", cell: ({ is }) => `${numberOf(is.core)} (${textOf(is.kind)})` },
          { name: "Task", cell: ({ is }) => <TaskLink run={run} id={idOf(is.task_id)} kernel={textOf(is.kernel)} /> },
          { name: "For", cell: ({ is }) => formatSeconds(numberOf(is.seconds)), number: true },
          { name: "At", class: "answer-wide", cell: ({ is }) => siteText(is.site) || "–" },
          { name: "Called at", class: "answer-wide", cell: ({ is }) => siteText(is.called_at) || "–" },
          { name: "State", cell: ({ is }) => (is.crashed === true ? <Badge tone="bad">crashed</Badge> : "ran") },
        ]}
      />
      <Note>
        {more > 0 && `${plural(more, "more core")} ran something. `}
        {idle > 0 && `${plural(idle, "core was", "cores were")} idle.`}
      </Note>
    </>
  );
}

export function ExplainAnswer({ run, answer }: { run: string; answer: Json }) {
  const chain = objectsOf(answer.chain);
  const root = textOf(objectOf(answer.root).text);
  const also = listOf(answer.also).map(textOf).filter(Boolean);
  const notKnown = listOf(answer.not_known).map(textOf).filter(Boolean);
  return (
    <>
      <ExplainResult answer={answer} />
      {root && root !== textOf(answer.error) && (
        <p class="answer-root">
          <strong>Root:</strong> {root}
        </p>
      )}
      {chain.length > 0 && (
        <>
          <h3>Who waits for whom</h3>
          <ol class="wait-chain">
            {chain.map((link, i) => (
              <Link key={i} run={run} link={link} isLast={i === chain.length - 1} />
            ))}
          </ol>
        </>
      )}
      {also.length > 0 && (
        <ul class="answer-also">
          {also.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      <Cores run={run} answer={answer} />
      {notKnown.map((text) => (
        <Note key={text}>Not known: {text}</Note>
      ))}
      <LeftOut answer={answer} />
    </>
  );
}
