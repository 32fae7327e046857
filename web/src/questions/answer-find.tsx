// SPDX-License-Identifier: Apache-2.0
// Answers of `taskglass find`: tensors, and who made them what they are.
import { useState } from "preact/hooks";
import { formatBytes, formatCount, plural } from "../format.js";
import { linkTo } from "../route.js";
import { CopyButton, Note, Table } from "../widgets.js";
import { type Json, kernelOf, numberOf, objectOf, objectsOf, textOf } from "./json.js";
import { GraphLink, TaskLink, TensorLink, idOf, taskOf } from "./links.js";
import { LeftOut, NotKnown, Result } from "./parts.js";

const NOUNS: Record<string, [string, string]> = {
  nan: ["tensor has a NaN", "tensors have a NaN"],
  inf: ["tensor has an infinity", "tensors have an infinity"],
  overflow: ["output is at the limit of its type", "outputs are at the limit of their type"],
  constant: ["output has equal elements only", "outputs have equal elements only"],
  unwritten: ["output may not have been written", "outputs may not have been written"],
  stomp: ["tensor changed although no recorded task wrote it", "tensors changed although no recorded task wrote them"],
};

const TRACES: Record<string, string> = {
  origin: "began here",
  given: "came in here: an input that no recorded task wrote had it",
  unclear: "origin not known: not all inputs were recorded",
  inherited: "inherited from an input",
};

const SIGNS: Record<string, string> = {
  poison: "it still has the pattern that filled its memory",
  stale: "some of it is what another kernel left there",
  reference: "the reference of its kernel computes something else",
  same: "it has the same bits as an earlier record of the same memory",
  zero: "it is all zero, and no earlier record of its memory is known",
  fill: "every byte is the same, as after a fill of the memory",
  tail: "its end is zero, and no other element is",
};

const EVIDENCE: Record<string, string> = {
  guards: "replayed between guards, it writes these bytes",
  race: "it writes this memory in no order with the reader, and the reader found what it wrote",
  alone: "no other task can have run between the two records",
};

interface Finding {
  number: number;
  is: Json;
}

function Searched({ answer }: { answer: Json }) {
  const notStored = numberOf(answer.not_stored);
  return (
    <>
      {plural(numberOf(answer.looked_at), "record")} searched
      {notStored > 0 && `; ${plural(notStored, "record")} without stored values not searched`}.
    </>
  );
}

function FindResult({ answer }: { answer: Json }) {
  const what = textOf(answer.what);
  const found = numberOf(answer.found);
  const [one, many] = NOUNS[what] ?? ["finding", "findings"];
  const result = textOf(answer.result);
  if (result === "not known" && !(found > 0)) return <NotKnown answer={answer} />;
  if (!(found > 0))
    return (
      <Result tone="good" word={result || "nothing found"}>
        <Searched answer={answer} />
      </Result>
    );
  const proved = numberOf(answer.proved);
  const isSoft = what === "constant" || (what === "unwritten" && !(proved > 0));
  return (
    <Result tone={isSoft ? "warn" : "bad"} word={result}>
      {plural(found, one, many)}
      {what === "unwritten" && ` (${formatCount(proved)} proved, ${formatCount(numberOf(answer.possible))} possible, ${formatCount(numberOf(answer.passed_on))} passed on)`}. <Searched answer={answer} />
      {textOf(answer.reason) && ` ${textOf(answer.reason)}`}
    </Result>
  );
}

/** Where it came from: the inputs that had it already, or nobody. */
function Origin({ run, finding }: { run: string; finding: Json }) {
  const trace = textOf(finding.trace);
  const sources = objectsOf(finding.inputs).filter((input) => numberOf(input.count) > 0);
  return (
    <>
      {trace === "origin" ? <strong>{TRACES.origin}</strong> : (TRACES[trace] ?? trace)}
      {sources.map((input, i) => (
        <span key={i} class="answer-source">
          <TensorLink run={run} record={input} text={`input ${numberOf(input.arg_index)}`} />
          {idOf(input.from_task) ? (
            <>
              {" "}
              from <TaskLink run={run} id={idOf(input.from_task)} />
            </>
          ) : (
            " from outside"
          )}
        </span>
      ))}
    </>
  );
}

function Sign({ finding }: { finding: Json }) {
  const sign = textOf(finding.sign);
  return (
    <>
      {finding.proved === true ? <strong>unwritten</strong> : textOf(finding.trace) === "inherited" ? "passed on" : "possible"}: {SIGNS[sign] ?? sign}
    </>
  );
}

/** Who may have changed memory that was not theirs. */
function Culprit({ run, finding }: { run: string; finding: Json }) {
  const culprit = objectOf(finding.culprit);
  const suspects = objectsOf(finding.suspects);
  const id = idOf(culprit.task_id);
  return (
    <>
      {id ? (
        <>
          <strong>
            by <TaskLink run={run} id={id} kernel={kernelOf(culprit.kernel)} />
          </strong>
          : {EVIDENCE[textOf(culprit.evidence)] ?? textOf(culprit.evidence)}
        </>
      ) : suspects.length ? (
        "Nothing proves which of these did it:"
      ) : (
        "No task that is known ran in between."
      )}
      {suspects.map((suspect, i) => (
        <span key={i} class="answer-source">
          {!id && <TaskLink run={run} {...taskOf(suspect)} />} {suspect.races === true && "writes it in no order with its reader. "}
          {textOf(suspect.misuse)}
        </span>
      ))}
      {numberOf(finding.suspects_left_out) > 0 && <span class="answer-source">{formatCount(numberOf(finding.suspects_left_out))} more suspects</span>}
    </>
  );
}

export function FindAnswer({ run, answer }: { run: string; answer: Json }) {
  const what = textOf(answer.what);
  const rows = objectsOf(answer.findings).map((is, number): Finding => ({ number, is }));
  const reason = what === "stomp" ? "Who did it" : what === "unwritten" ? "Sign" : "Where it came from";
  return (
    <>
      <FindResult answer={answer} />
      {textOf(answer.not_replayed) && <Note>No suspect was replayed: {textOf(answer.not_replayed)}</Note>}
      {rows.length > 0 && (
        <Table<Finding>
          label="Findings"
          rows={rows}
          rowKey={(row) => row.number}
          columns={[
            { name: "Task", cell: ({ is }) => <TaskLink run={run} {...taskOf(is)} />, sort: ({ is }) => idOf(is.task_id) },
            { name: "Tensor", cell: ({ is }) => <TensorLink run={run} record={is} at={is.first} /> },
            { name: "Elements", cell: ({ is }) => formatCount(numberOf(is.count)), sort: ({ is }) => numberOf(is.count), number: true },
            {
              name: "First at",
              cell: ({ is }) => (Array.isArray(is.first) ? <TensorLink run={run} record={is} at={is.first} text={`[${is.first.join(", ")}]`} /> : "–"),
            },
            {
              name: reason,
              class: "answer-wide",
              cell: ({ is }) =>
                what === "stomp" ? <Culprit run={run} finding={is} /> : what === "unwritten" ? <Sign finding={is} /> : <Origin run={run} finding={is} />,
            },
            { name: "Graph", cell: ({ is }) => <GraphLink run={run} id={idOf(is.task_id)} /> },
          ]}
        />
      )}
      {rows.length < numberOf(answer.found) && <Note>{formatCount(numberOf(answer.found) - rows.length)} more findings are not in this answer; a filter finds them.</Note>}
      <LeftOut answer={answer} />
    </>
  );
}

function RaceSide({ run, side }: { run: string; side: Json }) {
  const line = textOf(side.line);
  const region = textOf(side.region);
  return (
    <li>
      <TaskLink run={run} {...taskOf(side)} />, {textOf(side.role)} argument {numberOf(side.arg_index)}
      <span class="answer-source">
        {line ? `submitted at ${line}` : textOf(side.scope) && `in the scope of ${textOf(side.scope)}`}
        {region && `; ${region}`}
      </span>
    </li>
  );
}

function RaceCard({ run, race }: { run: string; race: Json }) {
  const [first, second] = [objectOf(race.first), objectOf(race.second)];
  const pairs = numberOf(race.pairs);
  const fix = textOf(race.fix);
  return (
    <li class="race">
      <p>
        <strong>
          {idOf(first.task_id)} {kernelOf(first.kernel)} and {idOf(second.task_id)} {kernelOf(second.kernel)}
        </strong>{" "}
        share {race.bytes === null ? "bytes" : formatBytes(numberOf(race.bytes))} without an order
        {pairs > 1 && `, and ${plural(pairs - 1, "more pair")} like them`}.{" "}
        <a href={linkTo("graph", { run, races: "1", from: idOf(first.task_id), to: idOf(second.task_id) })}>Show in the graph</a>
      </p>
      <ul>
        <RaceSide run={run} side={first} />
        <RaceSide run={run} side={second} />
      </ul>
      {fix && (
        <div class="race-fix">
          <span>Add</span>
          <code>{fix}</code>
          <CopyButton text={fix} title="Copy what to add" />
        </div>
      )}
    </li>
  );
}

const MOST_RACES = 50;

export function RaceAnswer({ run, answer }: { run: string; answer: Json }) {
  const found = numberOf(answer.found);
  const result = textOf(answer.result);
  const races = objectsOf(answer.findings);
  const [most, setMost] = useState(MOST_RACES);
  return (
    <>
      {result === "not known" && !(found > 0) ? (
        <NotKnown answer={answer} />
      ) : found > 0 ? (
        <Result tone="bad" word={result}>
          {answer.exact === false ? "At least " : ""}
          {plural(found, "pair of tasks shares", "pairs of tasks share")} bytes, and nothing orders them, in {plural(numberOf(answer.groups), "group")}.{" "}
          {plural(numberOf(answer.tasks), "task")} compared.
        </Result>
      ) : (
        <Result tone="good" word={result || "nothing found"}>
          {plural(numberOf(answer.tasks), "task")} compared.
          {answer.proof === true && " The edges cover all accesses declared: tasks that share bytes, of which one writes them, are in order."}
        </Result>
      )}
      <ul class="races">
        {races.slice(0, most).map((race, i) => (
          <RaceCard key={i} run={run} race={race} />
        ))}
      </ul>
      {races.length > most && (
        <button type="button" class="button" onClick={() => setMost(most + 200)}>
          Show more of {formatCount(races.length)} groups
        </button>
      )}
      <LeftOut answer={answer} />
    </>
  );
}
