// SPDX-License-Identifier: Apache-2.0
// A run of several ranks: who they are, all of them on one time axis with their messages, and a table of calls, those that wait
// first. Each call leads to its counterpart on the other rank, and to its task.
import { useEffect, useMemo } from "preact/hooks";
import { type RankInfo, type RanksInfo, askColumns } from "../api.js";
import { formatBytes, formatCount, formatNs, plural } from "../format.js";
import { useAsk, useLoaded } from "../hooks.js";
import { RunModel, idText, parseId } from "../model.js";
import { registerKernels } from "../palette.js";
import { Calls, type CallsHeader, DONE, orderedCalls } from "../ranks/calls.js";
import { type Group, Scene, shiftOf } from "../ranks/scene.js";
import { RanksTimeline } from "../ranks/timeline.js";
import { linkTo, note } from "../route.js";
import { Badge, EmptyState, ErrorLine, Loading, Panel, Table, type TableColumn } from "../widgets.js";
import "./ranks.css";
import type { View, ViewProps } from "./view.js";

const SHOWN = 8; // ranks at once: more of them are too small to see, and take long to load
const MOST_CALLS = 20_000; // in the table

function toneOf(rank: RankInfo) {
  return rank.running ? "accent" : rank.status === "OK" ? "good" : rank.status ? "bad" : "warn";
}

function RankTable({ info, calls }: { info: RanksInfo; calls: Calls | null }) {
  const columns: TableColumn<RankInfo>[] = [
    {
      name: "Rank",
      cell: (rank) => (rank.key ? <a href={linkTo("timeline", { run: rank.key })}>rank {rank.rank}</a> : <>rank {rank.rank}</>),
      sort: (rank) => rank.rank,
    },
    {
      name: "Result",
      cell: (rank) => <Badge tone={toneOf(rank)}>{rank.running ? "running" : (rank.status ?? "unknown")}</Badge>,
      sort: (rank) => rank.status ?? "",
    },
    { name: "Host", cell: (rank) => rank.host || <span class="faint">not known</span>, sort: (rank) => rank.host },
    { name: "Calls", cell: (rank) => formatCount(rank.calls), sort: (rank) => rank.calls, number: true },
    {
      name: "Waiting",
      cell: (rank) => (rank.waiting ? <Badge tone="bad">{formatCount(rank.waiting)}</Badge> : formatCount(rank.calls === null ? null : 0)),
      sort: (rank) => rank.waiting,
      number: true,
    },
    {
      name: "Clock",
      title: "How far a time of this rank may be off on rank 0's clock",
      cell: (rank) => {
        const error = calls?.ranks[rank.rank]?.error_ns;
        return error === undefined || error === null ? <span class="faint">not known</span> : rank.rank === 0 ? "its own" : `± ${formatNs(error)}`;
      },
    },
    { name: "What", cell: (rank) => rank.error || (rank.key ? rank.why : "its folder is not here"), class: "ranks-what" },
  ];
  return <Table label="Ranks" columns={columns} rows={info.ranks} rowKey={(rank) => rank.rank} most={64} />;
}

/** The timelines of some ranks; one that cannot be loaded is null, and says why. */
interface Loaded {
  models: (RunModel | null)[];
  why: string[];
}

async function loadModels(ranks: readonly RankInfo[], signal: AbortSignal): Promise<Loaded> {
  const models: (RunModel | null)[] = [];
  const why: string[] = [];
  for (const rank of ranks) {
    if (signal.aborted) break;
    try {
      models.push(rank.key ? await RunModel.load(rank.key, signal) : null);
      if (!rank.key) why.push(`rank ${rank.rank}: its folder is not here`);
    } catch (error) {
      models.push(null);
      why.push(`rank ${rank.rank}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  registerKernels([...new Set(models.flatMap((model) => model?.kernels ?? []))]);
  return { models, why };
}

function labelOf(rank: RankInfo, model: RunModel | null): string {
  const parts = [`rank ${rank.rank}${rank.host ? ` (${rank.host})` : ""}`];
  if (rank.status && rank.status !== "OK") parts.push(rank.status);
  parts.push(model ? plural(model.tasks, "task") : "no timeline");
  return parts.join(" · ");
}

function makeScene(calls: Calls, ranks: readonly RankInfo[], loaded: Loaded): Scene {
  const groups: Group[] = ranks.map((rank, index) => {
    const model = loaded.models[index] ?? null;
    const hasTimes = model !== null && model.parts > 0;
    return { rank: rank.rank, label: labelOf(rank, model), model: hasTimes ? model : null, shift: hasTimes ? shiftOf(calls, rank.rank, model) : 0 };
  });
  return new Scene(calls, groups);
}

/** Which ranks the picture shows, where there are more than fit. */
function Pager({ first, count }: { first: number; count: number }) {
  if (count <= SHOWN) return null;
  const last = Math.min(count, first + SHOWN);
  return (
    <span class="ranks-pager">
      <button type="button" class="button" disabled={first === 0} onClick={() => note({ first: Math.max(0, first - SHOWN) || undefined })}>
        ‹ <span class="off-screen">earlier ranks</span>
      </button>
      ranks {first}–{last - 1} of {count}
      <button type="button" class="button" disabled={last >= count} onClick={() => note({ first: first + SHOWN })}>
        › <span class="off-screen">later ranks</span>
      </button>
    </span>
  );
}

function CallTable(props: { info: RanksInfo; calls: Calls; only: number | null; selected: number; onSelect: (call: number) => void }) {
  const { info, calls, only, selected, onSelect } = props;
  const rows = useMemo(() => orderedCalls(calls, only), [calls, only]);
  const taskLink = (call: number, text: string) => {
    const key = info.ranks[calls.rank[call]]?.key;
    return key ? <a href={linkTo("task", { run: key, task: idText(calls.task[call]) })}>{text}</a> : <>{text}</>;
  };
  const columns = useMemo<TableColumn<number>[]>(
    () => [
      { name: "Rank", cell: (call) => calls.rank[call], sort: (call) => calls.rank[call], number: true },
      { name: "Call", cell: (call) => taskLink(call, calls.describe(call)), sort: (call) => calls.describe(call), class: "ranks-call" },
      {
        name: "State",
        cell: (call) => <Badge tone={calls.state[call] === DONE ? "good" : "bad"}>{calls.stateOf(call)}</Badge>,
        sort: (call) => calls.stateOf(call),
      },
      {
        name: "Other side",
        title: "Of a call of all ranks: that of the rank that came last",
        cell: (call) => {
          const other = calls.other[call];
          if (other >= 0)
            return (
              <a href={linkTo("ranks", { run: info.key, rank: calls.rank[other], task: idText(calls.task[other]) })}>
                rank {calls.rank[other]}, task {idText(calls.task[other])}
              </a>
            );
          if (calls.state[call] !== DONE) return <Badge tone="warn">no such call</Badge>;
          return <span class="faint">{calls.isMessage(call) ? "not known" : "came last"}</span>;
        },
      },
      { name: "Values", cell: (call) => `${formatCount(calls.elements[call])} ${calls.dtypeOf(call)}`, sort: (call) => calls.elements[call], number: true },
      { name: "Bytes", cell: (call) => formatBytes(calls.bytes[call]), sort: (call) => calls.bytes[call], number: true, class: "ranks-more" },
      { name: "Waited", title: "From its post until the other side was there", cell: (call) => formatNs(calls.waitOf(call)), sort: (call) => calls.waitOf(call), number: true },
      { name: "Took", cell: (call) => formatNs(calls.done[call] - calls.posted[call]), sort: (call) => calls.done[call] - calls.posted[call], number: true, class: "ranks-more" },
      { name: "Line", cell: (call) => <code>{calls.siteOf(call)}</code>, sort: (call) => calls.siteOf(call), class: "ranks-more" },
    ],
    [calls, info],
  );
  return (
    <>
      <Table
        label="Calls"
        columns={columns}
        rows={rows.slice(0, MOST_CALLS)}
        rowKey={(call) => call}
        rowClass={(call) => (call === selected ? "selected" : "")}
        onRow={onSelect}
        most={100}
        empty="No rank has left a list of its calls: a run writes it if it is recorded, traced or run with --deps."
      />
      {rows.length > MOST_CALLS && <p class="note">{`The first ${formatCount(MOST_CALLS)} of ${plural(rows.length, "call")}; those that are not done come first.`}</p>}
    </>
  );
}

function SelectedCall({ info, calls, call, onSelect }: { info: RanksInfo; calls: Calls; call: number; onSelect: (call: number) => void }) {
  if (call < 0) return null;
  const other = calls.other[call];
  const side = (each: number) => {
    const key = info.ranks[calls.rank[each]]?.key;
    return (
      <p key={each}>
        <strong>rank {calls.rank[each]}</strong> {calls.describe(each)}, {formatCount(calls.elements[each])} {calls.dtypeOf(each)}
        {calls.siteOf(each) && (
          <>
            {" "}
            at <code>{calls.siteOf(each)}</code>
          </>
        )}
        : {calls.stateOf(each)}, waited {formatNs(calls.waitOf(each))}.{" "}
        {key && <a href={linkTo("task", { run: key, task: idText(calls.task[each]) })}>Task {idText(calls.task[each])}</a>}
      </p>
    );
  };
  return (
    <section class="ranks-selected" aria-label="Selected call">
      {side(call)}
      {other >= 0 && side(other)}
      {other < 0 && calls.state[call] !== DONE && <p class="faint">No rank has made the call that this one waits for, as far as the lists of calls go.</p>}
      <button type="button" class="button quiet" onClick={() => onSelect(-1)}>
        Clear
      </button>
    </section>
  );
}

function Ranks({ run, route, generation }: ViewProps) {
  const key = run?.ranks?.key ?? run?.key ?? "";
  const info = useAsk<RanksInfo>("ranks", { run: key }, generation);
  const answer = useLoaded<Calls>((signal) => askColumns<CallsHeader>("calls", { run: key }, signal).then((columns) => new Calls(columns)), [key, generation]);
  const count = info.value?.ranks.length ?? 0;
  const first = Math.max(0, Math.min(count - 1, Math.floor(Number(route.parameters.first) || 0)));
  const shown = useMemo(() => info.value?.ranks.slice(first, first + SHOWN) ?? [], [info.value, first]);
  const loaded = useLoaded<Loaded>((signal) => (shown.length ? loadModels(shown, signal) : null), [shown]);
  const calls = answer.value;
  const scene = useMemo(() => (calls && loaded.value && shown.length === loaded.value.models.length ? makeScene(calls, shown, loaded.value) : null), [calls, shown, loaded.value]);
  const wanted = parseId(route.parameters.task ?? "");
  const selected = calls && wanted !== null && route.parameters.rank !== undefined ? calls.find(Number(route.parameters.rank), wanted) : -1;
  const only = route.parameters.only === undefined ? null : Number(route.parameters.only);
  const select = (call: number) =>
    note(call < 0 || !calls ? { rank: undefined, task: undefined } : { rank: calls.rank[call], task: idText(calls.task[call]) });
  useEffect(() => {
    if (!calls || selected < 0) return;
    const rank = calls.rank[selected];
    if (rank < first || rank >= first + SHOWN) note({ first: Math.floor(rank / SHOWN) * SHOWN || undefined });
  }, [calls, selected]);

  if (run && !run.ranks)
    return (
      <EmptyState title="This run has one rank">
        <p>
          <code>taskglass run --ranks N</code> and <code>mpirun -n N taskglass run</code> make runs of several ranks.
        </p>
      </EmptyState>
    );
  if (info.error) return <ErrorLine>{info.error}</ErrorLine>;
  if (!info.value) return <Loading>Reading the ranks</Loading>;
  const missing = calls ? calls.answer.header.calls - calls.count : 0;
  const notes = [
    ...(loaded.value?.why ?? []),
    ...(missing > 0 ? [`${plural(missing, "call")} more than the page shows: those that are not done are all here`] : []),
    ...(calls?.ranks.some((rank) => rank.error_ns === null) ? ["the clock of some rank is not known: it is shown as if it had begun with rank 0"] : []),
  ];
  return (
    <div class="ranks">
      <Panel title={`${plural(count, "rank")}, ${info.value.transport}${info.value.about ? ` (${info.value.about})` : ""}`}>
        <RankTable info={info.value} calls={calls} />
      </Panel>
      <Panel title="One time axis" actions={<Pager first={first} count={count} />}>
        {answer.error && <ErrorLine>{answer.error}</ErrorLine>}
        {scene ? <RanksTimeline scene={scene} selected={selected} onSelect={select} /> : !answer.error && <Loading>Loading the timelines</Loading>}
        {notes.map((text) => (
          <p class="note" key={text}>
            {text}
          </p>
        ))}
      </Panel>
      {calls && (
        <Panel
          title="Communication"
          actions={
            <label>
              of{" "}
              <select aria-label="Calls of" value={only === null ? "all" : String(only)} onChange={(event) => note({ only: event.currentTarget.value === "all" ? undefined : event.currentTarget.value })}>
                <option value="all">all ranks</option>
                {info.value.ranks.map((rank) => (
                  <option key={rank.rank} value={String(rank.rank)}>
                    rank {rank.rank}
                  </option>
                ))}
              </select>
            </label>
          }
        >
          <SelectedCall info={info.value} calls={calls} call={selected} onSelect={select} />
          <CallTable info={info.value} calls={calls} only={only} selected={selected} onSelect={select} />
        </Panel>
      )}
    </div>
  );
}

export const ranksView: View = {
  name: "ranks",
  title: "Ranks",
  key: "a",
  needsRun: true,
  keys: [
    ["w s", "zoom in, out"],
    ["a d", "move in time"],
    ["0", "the whole run"],
  ],
  component: Ranks,
};
