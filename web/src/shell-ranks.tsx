// SPDX-License-Identifier: Apache-2.0
// Which rank of a run the page shows: the selector in the bar, and the choice where a view is about one rank.
import type { RankInfo, RanksInfo } from "./api.js";
import { plural } from "./format.js";
import { useAsk } from "./hooks.js";
import { type Route, go, linkTo } from "./route.js";
import { EmptyState, ErrorLine, Loading } from "./widgets.js";

const nameOf = (rank: RankInfo) => `rank ${rank.rank}${rank.host ? ` (${rank.host})` : ""}${rank.status && rank.status !== "OK" ? `, ${rank.status}` : ""}`;

/** What stays the same when another rank is shown: tasks and records of another rank are others. */
function addressOf(route: Route, run: string): [string, Record<string, string>] {
  return [route.view === "ranks" || route.view === "tensor" ? "timeline" : route.view, { run }];
}

export function RankPicker({ whole, rank, route }: { whole: string; rank: number | null; route: Route }) {
  const { value } = useAsk<RanksInfo>("ranks", { run: whole });
  const choose = (text: string) => {
    if (text === "all") return go("ranks", { run: whole });
    const chosen = value?.ranks[Number(text)];
    if (chosen?.key) go(...addressOf(route, chosen.key));
    return undefined;
  };
  return (
    <label class="rank-picker">
      <span class="off-screen">Rank</span>
      <select value={rank === null ? "all" : String(rank)} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="all">{value ? `all ${plural(value.ranks.length, "rank")}` : "all ranks"}</option>
        {value?.ranks.map((each) => (
          <option key={each.rank} value={String(each.rank)} disabled={each.key === null}>
            {nameOf(each)}
          </option>
        ))}
        {!value && rank !== null && <option value={String(rank)}>rank {rank}</option>}
      </select>
    </label>
  );
}

/** A view that is about one rank, of a run of several. */
export function ChooseRank({ whole, route }: { whole: string; route: Route }) {
  const { value, error } = useAsk<RanksInfo>("ranks", { run: whole });
  if (error) return <ErrorLine>{error}</ErrorLine>;
  if (!value) return <Loading>Reading the ranks</Loading>;
  return (
    <EmptyState title="Choose a rank">
      <p>Each rank has its own tasks, tensors and times.</p>
      <ul class="rank-list">
        {value.ranks.map((rank) => (
          <li key={rank.rank}>{rank.key ? <a href={linkTo(...addressOf(route, rank.key))}>{nameOf(rank)}</a> : <span class="faint">{nameOf(rank)}: its folder is not here</span>}</li>
        ))}
      </ul>
      <p>
        <a href={linkTo("ranks", { run: whole })}>All ranks together</a>
      </p>
    </EmptyState>
  );
}
