// SPDX-License-Identifier: Apache-2.0
// Answers of `taskglass check`, `taskglass stats` and `taskglass verify`.
import { formatBytes, formatCount, plural } from "../format.js";
import { Badge, Facts, Note, Table } from "../widgets.js";
import { type Json, numberOf, objectOf, objectsOf, textOf, valueText } from "./json.js";
import { GraphLink, TaskLink, TensorLink, idOf, taskOf } from "./links.js";
import { LeftOut, NotKnown, Result } from "./parts.js";

interface Row {
  number: number;
  is: Json;
}

const rowsOf = (value: unknown) => objectsOf(value).map((is, number): Row => ({ number, is }));

function CheckResult({ answer }: { answer: Json }) {
  const wrong = numberOf(answer.wrong_count);
  const good = numberOf(answer.good);
  if (wrong > 0)
    return (
      <Result tone="bad" word="wrong">
        {plural(wrong, "task differs", "tasks differ")} from the reference, {formatCount(good)} agree, of {formatCount(numberOf(answer.tasks))}.
      </Result>
    );
  if (textOf(answer.result) === "not known") return <NotKnown answer={answer} />;
  return (
    <Result tone="good" word={textOf(answer.result) || "good"}>
      {formatCount(good)} of {plural(numberOf(answer.tasks), "task")} agree with their reference.
    </Result>
  );
}

function Unjudged({ run, title, rows }: { run: string; title: string; rows: Row[] }) {
  if (rows.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <Table<Row>
        label={title}
        rows={rows}
        rowKey={(row) => row.number}
        columns={[
          { name: "Task", cell: ({ is }) => <TaskLink run={run} {...taskOf(is)} /> },
          { name: "Why", class: "answer-wide", cell: ({ is }) => textOf(is.why) },
        ]}
      />
    </>
  );
}

export function CheckAnswer({ run, answer }: { run: string; answer: Json }) {
  const wrong = rowsOf(answer.wrong);
  const count = (name: string) => formatCount(numberOf(answer[name]));
  return (
    <>
      <CheckResult answer={answer} />
      {wrong.length > 0 && (
        <Table<Row>
          label="Wrong tasks"
          rows={wrong}
          rowKey={(row) => row.number}
          columns={[
            { name: "Task", cell: ({ is }) => <TaskLink run={run} {...taskOf(is)} /> },
            { name: "Argument", cell: ({ is }) => numberOf(is.arg_index), number: true },
            { name: "Wrong", cell: ({ is }) => `${formatCount(numberOf(is.mismatches))} of ${formatCount(numberOf(is.elements))}`, sort: ({ is }) => numberOf(is.mismatches), number: true },
            { name: "Largest error", cell: ({ is }) => valueText(is.max_error), sort: ({ is }) => numberOf(is.max_error), number: true },
            { name: "First at", cell: ({ is }) => formatCount(numberOf(is.first)), number: true },
            { name: "Is", cell: ({ is }) => valueText(is.got), number: true },
            { name: "Reference", cell: ({ is }) => valueText(is.reference), number: true },
            { name: "Graph", cell: ({ is }) => <GraphLink run={run} id={idOf(is.task_id)} /> },
          ]}
        />
      )}
      {numberOf(answer.tasks) > 0 && (
        <>
          <h3>Kernels</h3>
          <Table<Row>
            label="Kernels"
            rows={rowsOf(answer.kernels)}
            rowKey={(row) => row.number}
            columns={[
              { name: "Kernel", cell: ({ is }) => textOf(is.kernel), sort: ({ is }) => textOf(is.kernel) },
              ...(["tasks", "good", "wrong", "without_reference", "incomplete", "failed", "empty"] as const).map((name) => ({
                name: name.replace("_", " "),
                cell: ({ is }: Row) => formatCount(numberOf(is[name])),
                sort: ({ is }: Row) => numberOf(is[name]),
                number: true,
              })),
              { name: "largest error", cell: ({ is }) => valueText(is.max_error), number: true },
            ]}
          />
          <Note>
            Not checked: {count("without_reference")} without a reference, {count("incomplete")} not recorded in full, {count("failed_count")} whose reference failed,{" "}
            {count("empty")} with empty outputs.
          </Note>
        </>
      )}
      <Unjudged run={run} title="References that failed" rows={rowsOf(answer.failed)} />
      <Unjudged run={run} title="Not checked" rows={rowsOf(answer.not_checked)} />
      <LeftOut answer={answer} />
    </>
  );
}

/** Only tensors whose values are stored can be judged. */
function StatsResult({ rows }: { rows: readonly Row[] }) {
  const stored = rows.filter(({ is }) => is.stored === true);
  const odd = stored.filter(({ is }) => numberOf(is.nan) > 0 || numberOf(is.inf) > 0).length;
  const others = rows.length - stored.length;
  const rest = others > 0 ? ` ${plural(others, "tensor")} without stored values.` : "";
  if (rows.length === 0) return <Result tone="warn" word="nothing">No record matches.</Result>;
  if (stored.length === 0) return <Result tone="warn" word="not known">{rest}</Result>;
  return (
    <Result tone={odd ? "warn" : "good"} word={odd ? "NaN or Inf" : "finite"}>
      {plural(stored.length, "tensor")}, {odd ? `${formatCount(odd)} of them with NaN or infinities.` : "none with NaN or infinities."}
      {rest}
    </Result>
  );
}

export function StatsAnswer({ run, answer }: { run: string; answer: Json }) {
  const rows = rowsOf(answer.tensors);
  const number = (name: string, title: string) => ({
    name: title,
    cell: ({ is }: Row) => (is.stored === false ? "–" : name in is ? valueText(is[name]) : "–"),
    sort: ({ is }: Row) => (typeof is[name] === "number" ? (is[name] as number) : null),
    number: true,
  });
  return (
    <>
      {textOf(answer.result) === "not known" ? <NotKnown answer={answer} /> : <StatsResult rows={rows} />}
      <Table<Row>
        label="Tensors"
        rows={rows}
        rowKey={(row) => row.number}
        empty="No record matches."
        columns={[
          { name: "Task", cell: ({ is }) => <TaskLink run={run} {...taskOf(is)} />, sort: ({ is }) => idOf(is.task_id) },
          {
            name: "Tensor",
            class: "answer-wide",
            cell: ({ is }) => (
              <>
                <TensorLink run={run} record={is} /> {is.stored === false && <Badge tone="warn">not stored</Badge>}
                {is.cut === true && <Badge tone="warn">cut</Badge>}
              </>
            ),
            sort: ({ is }) => numberOf(is.index),
          },
          number("count", "Elements"),
          number("min", "Least"),
          number("max", "Most"),
          number("mean", "Mean"),
          number("std", "Deviation"),
          number("nan", "NaN"),
          number("inf", "Inf"),
          number("zero", "Zero"),
          number("denormal", "Denormal"),
        ]}
      />
      <LeftOut answer={answer} />
    </>
  );
}

export function VerifyAnswer({ answer }: { answer: Json }) {
  const problems = numberOf(answer.problems);
  const isGood = answer.good === true;
  const isUnknown = textOf(answer.result) === "not known";
  const count = (name: string) => formatCount(numberOf(answer[name]));
  const kinds = Object.entries(objectOf(answer.by_problem)).filter(([, number]) => numberOf(number) > 0);
  return (
    <>
      {isUnknown ? (
        <NotKnown answer={answer} />
      ) : (
        <Result tone={isGood ? "good" : "bad"} word={isGood ? "good" : "damaged"}>
          {isGood ? "Everything that the recording says about itself is true." : `${plural(problems, "problem")}: ${kinds.map(([name, number]) => `${formatCount(numberOf(number))} of kind '${name}'`).join(", ")}.`}
        </Result>
      )}
      {"records" in answer && (
        <Facts
          rows={[
            ["Records", `${count("records")}, ${count("damaged")} damaged`],
            ["Payloads", `${count("payloads")}, ${formatBytes(numberOf(answer.payload_bytes))}`],
            ["Hashes", `${count("hashes_compared")} compared, ${count("without_hash")} payloads without one`],
            ["Manifest", answer.manifest_compared === true ? "compared" : "not compared"],
            ["Complete", answer.complete === true ? "yes" : `no (${textOf(answer.state)})`],
            ["Lost", count("lost")],
            ["Cut", `${count("truncated")} truncated, ${count("overwritten")} overwritten`],
            numberOf(answer.not_read) > 0 && ["Not read", `${count("not_read")} payloads`],
          ]}
        />
      )}
      {problems > 0 && (
        <Table<Row>
          label="Problems"
          rows={rowsOf(answer.first)}
          rowKey={(row) => row.number}
          columns={[
            { name: "Problem", cell: ({ is }) => textOf(is.problem) },
            { name: "Record", cell: ({ is }) => (is.index === null ? "–" : formatCount(numberOf(is.index))), number: true },
            { name: "What", class: "answer-wide", cell: ({ is }) => textOf(is.text) },
          ]}
        />
      )}
      <LeftOut answer={answer} />
    </>
  );
}
