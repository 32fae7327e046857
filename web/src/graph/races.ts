// SPDX-License-Identifier: Apache-2.0
// Edges that are missing: what `taskglass find race --json` says.
import { type Json, listOf, numberOf, objectOf, textOf } from "../questions/json.js";

export interface RaceSide {
  task: number; // -1: not in this graph
  id: string;
  kernel: string;
  argument: number;
  role: string;
  line: string;
}

export interface Race {
  first: RaceSide;
  second: RaceSide;
  bytes: number | null;
  pairs: number;
  fix: string;
}

export interface Races {
  result: string; // "found", "possible", "nothing found", "not known"
  reason: string;
  isProof: boolean;
  races: Race[];
  leftOut: string[];
}

export function readRaces(answer: Json, find: (id: string) => number): Races {
  const side = (value: unknown): RaceSide => {
    const one = objectOf(value);
    const id = textOf(one.task_id);
    return {
      task: find(id),
      id,
      kernel: textOf(one.kernel),
      argument: numberOf(one.arg_index),
      role: textOf(one.role),
      line: textOf(one.line) || textOf(one.scope),
    };
  };
  return {
    result: textOf(answer.result),
    reason: textOf(answer.reason),
    isProof: answer.proof === true,
    leftOut: listOf(answer.left_out).map(textOf),
    races: listOf(answer.findings).map((value) => {
      const race = objectOf(value);
      return {
        first: side(race.first),
        second: side(race.second),
        bytes: typeof race.bytes === "number" ? race.bytes : null,
        pairs: numberOf(race.pairs),
        fix: textOf(race.fix),
      };
    }),
  };
}
