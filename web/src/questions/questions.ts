// SPDX-License-Identifier: Apache-2.0
// What can be asked about a run. The server lists it (request `questions`); a page without a server shows the command
// lines alone, and has this list.

export interface Option {
  name: string;
  text: string;
  flag?: boolean;
}

export interface QuestionKind {
  verb: string;
  what: string;
  text: string;
  runs: number;
  options: Option[];
}

function kind(verb: string, what: string, text: string): QuestionKind {
  return { verb, what, text, runs: 1, options: [] };
}

export const BUILT_IN: readonly QuestionKind[] = [
  kind("find", "nan", "NaN in a tensor"),
  kind("find", "inf", "an infinity in a tensor"),
  kind("find", "overflow", "an infinity or the type's largest value, computed from finite inputs"),
  kind("find", "constant", "an output whose elements are all equal"),
  kind("find", "unwritten", "an output that its task did not write, or not all of it"),
  kind("find", "stomp", "a tensor that changed although no recorded task wrote it"),
  kind("find", "race", "tasks that share bytes, one writing them, without an order"),
  kind("check", "", "compare recorded tasks with their references"),
  kind("stats", "", "range, mean, NaN, Inf, zeros and denormals of each tensor"),
  kind("explain", "", "why the run failed or hangs"),
  kind("path", "", "where the time of the run went, and what would make it faster"),
  kind("verify", "", "check the recording: hashes, counters, extents, manifest"),
];

export function kindName({ verb, what }: { verb: string; what: string }): string {
  return what ? `${verb} ${what}` : verb;
}

/** A word that a shell takes as it is, or in quotes. */
export function shellWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The command line of a question, as a terminal takes it. */
export function commandOf(kind: QuestionKind, path: string, options: Record<string, string>): string {
  const run = path.startsWith("-") ? `./${path}` : path;
  const words = ["taskglass", kind.verb, kind.what, shellWord(run)].filter(Boolean);
  for (const { name, flag } of kind.options) {
    const value = options[name];
    if (value === undefined || value === "") continue;
    words.push(`--${name}`);
    if (!flag) words.push(shellWord(value));
  }
  return words.join(" ");
}
