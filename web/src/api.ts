// SPDX-License-Identifier: Apache-2.0
// Asks the server, or the answers that the page itself contains. docs/workbench-protocol.md has every request.

/** What a request that fails throws: the status and the sentence of the answer. */
export class AskError extends Error {
  constructor(
    readonly status: string,
    text: string,
    readonly http: number,
  ) {
    super(text);
  }
}

export type Parameters = Record<string, string | number | undefined>;

/** The text of a request. The order of parameters is that of the object: a page without a server finds its answers by
 * this text, so src/workbench/page.c writes the same. */
export function requestText(name: string, parameters: Parameters): string {
  const words = Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`);
  return words.length ? `${name}?${words.join("&")}` : name;
}

/** A request of a page without a server that fails. */
interface EmbeddedFailure {
  http: number;
  error: { status: string; text: string };
}

/** Answers of a page without a server, by request: base64 of the bytes. null: there is a server. */
const embedded: Record<string, string | EmbeddedFailure> | null = (() => {
  const element = document.getElementById("answers");
  return element?.textContent ? (JSON.parse(element.textContent) as Record<string, string | EmbeddedFailure>) : null;
})();

/** True if this page has no server behind it. */
export const isStatic = embedded !== null;

function bytesOf(base64: string): ArrayBuffer {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes.buffer;
}

async function fetchBytes(text: string, signal?: AbortSignal): Promise<ArrayBuffer> {
  if (embedded) {
    const found = embedded[text];
    if (found === undefined)
      throw new AskError("UNSUPPORTED", "This page has no server and does not contain this; open the run with: taskglass serve", 409);
    if (typeof found !== "string") throw new AskError(found.error.status, found.error.text, found.http);
    return bytesOf(found);
  }
  let response: Response;
  try {
    response = await fetch(`api/${text}`, { signal: signal ?? null, cache: "no-store", referrerPolicy: "no-referrer" });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new AskError("IO_ERROR", "The server does not answer; has `taskglass serve` ended?", 0);
  }
  const bytes = await response.arrayBuffer();
  if (response.ok) return bytes;
  let status = "IO_ERROR";
  let sentence = `the server answered with ${response.status}`;
  try {
    const document = JSON.parse(new TextDecoder().decode(bytes));
    status = String(document.error.status);
    sentence = String(document.error.text);
  } catch {
    // not an answer of ours; the sentence above says what is known
  }
  throw new AskError(status, sentence, response.status);
}

export async function ask<T>(name: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T> {
  const bytes = await fetchBytes(requestText(name, parameters), signal);
  return JSON.parse(new TextDecoder().decode(bytes)) as T;
}

export type Column = Uint8Array | Uint16Array | Uint32Array | BigUint64Array | Float32Array | Float64Array;

/** An answer in columns: the members of its header, and its columns by name. */
export interface Columns<H> {
  header: H;
  column: Record<string, Column>;
}

const makers = {
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  u64: BigUint64Array,
  f32: Float32Array,
  f64: Float64Array,
} as const;

interface ColumnPlace {
  name: string;
  type: keyof typeof makers;
  offset: number;
  count: number;
}

const notColumns = (why: string) => new AskError("BAD_ARGUMENT", `the server's answer is not in columns of version 1: ${why}`, 0);

/** Reads an answer in columns. The columns lie in `bytes` and are not copied. Throws AskError if it is none. */
export function parseColumns<H>(bytes: ArrayBuffer): Columns<H> {
  const head = new DataView(bytes);
  if (bytes.byteLength < 16 || head.getUint32(0, true) !== 0x43574754 || head.getUint32(4, true) !== 1) throw notColumns("its first bytes");
  const size = head.getUint32(8, true);
  if (size > bytes.byteLength - 16) throw notColumns("its header is cut");
  let header: H & { columns: ColumnPlace[] };
  try {
    header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 16, size))) as H & { columns: ColumnPlace[] };
  } catch {
    throw notColumns("its header is no JSON");
  }
  if (!Array.isArray(header?.columns)) throw notColumns("it names no columns");
  const begin = 16 + Math.ceil(size / 8) * 8;
  const column: Record<string, Column> = {};
  for (const place of header.columns) {
    const Maker = Object.hasOwn(makers, place.type) ? makers[place.type] : null;
    const isInside =
      Maker &&
      Number.isSafeInteger(place.offset) &&
      Number.isSafeInteger(place.count) &&
      place.offset >= 0 &&
      place.offset % 8 === 0 &&
      place.count >= 0 &&
      begin + place.offset + place.count * Maker.BYTES_PER_ELEMENT <= bytes.byteLength;
    if (!isInside) throw notColumns(`its column ${String(place.name)}`);
    column[place.name] = new Maker(bytes, begin + place.offset, place.count);
  }
  return { header, column };
}

export async function askColumns<H>(name: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<Columns<H>> {
  return parseColumns<H>(await fetchBytes(requestText(name, parameters), signal));
}

/** The address of a download; null on a page without a server. */
export function downloadAddress(name: string, parameters: Parameters): string | null {
  return isStatic ? null : `api/${requestText(name, parameters)}`;
}

// --- what answers hold ---------------------------------------------------------------------------

export interface RunEntry {
  key: string;
  name: string;
  path: string;
  workload: string | null;
  case: string | null;
  platform: string | null;
  runtime: string | null;
  began: number;
  seconds: number | null;
  state: string;
  status: string | null;
  recorded: boolean | null;
  tasks: number | null;
  finished: number | null;
  records: number | null;
  lost: number | null;
  bytes: number | null;
  ranks: number | null; // of a run of several ranks
}

export interface Runs {
  version: string;
  root: string;
  compare: { a: string; b: string } | null;
  only: string | null;
  static: boolean;
  runs: RunEntry[];
  unread: number;
}

export interface RunInfo {
  key: string;
  name: string;
  path: string;
  run_json: Record<string, unknown> | null;
  recording: {
    level: string;
    complete: boolean;
    state: string;
    foreign: boolean;
    records: number;
    damaged: number;
    lost: number;
    payload_bytes: number;
    poison: boolean;
  } | null;
  no_recording: string;
  notes: string[];
  has: { times: string; edges: string; scopes: string };
  command: string;
  generation: number;
  live: boolean;
  /** Of a run of several ranks (rank null), or of one of its ranks: the key of the whole run. */
  ranks: { key: string; rank: number | null } | null;
}

export interface RankInfo {
  rank: number;
  key: string | null; // null: its folder is not here
  folder: string;
  host: string;
  pid: number;
  running: boolean;
  status: string | null;
  error: string;
  clock: { offset_ns: string; drift: number; at_ns: string; error_ns: number } | null;
  calls: number | null;
  waiting: number;
  damaged: number;
  why: string; // why its calls are not known
}

export interface RanksInfo {
  key: string;
  workload: string;
  case: string;
  transport: string;
  about: string;
  running: boolean;
  status: string | null;
  generation: number;
  ranks: RankInfo[];
}

export interface TaskRecord {
  index: number;
  task: string | null;
  kernels: string[];
  stage: string;
  role: string;
  arg: number;
  kind: string;
  dtype: string;
  shape: number[];
  strides: number[];
  start_offset: number | string;
  contiguous: boolean;
  bytes: number;
  stored: number;
  hash: string | null;
  data_ptr: string;
  core: number;
  time_ns: number | null;
  truncated: boolean;
  overwritten: boolean;
  partial: boolean;
  marked: boolean;
  excess: boolean;
  name: string;
  value?: string;
}

export interface Neighbour {
  id: string;
  kernel: string;
  kind: string;
}

export interface TaskInfo {
  id: string;
  hex: string;
  kernels: string[];
  core: number | null;
  begin_ns: number | null;
  end_ns: number | null;
  submitted_ns: number | null;
  flags: number;
  scope: string;
  line: string;
  waits_for: Neighbour[];
  waited_by: Neighbour[];
  n_waits_for: number | null;
  n_waited_by: number | null;
  edges_error: string;
  records: TaskRecord[];
}

export interface TensorInfo extends TaskRecord {
  readable: boolean;
  why: string;
  elements: number;
  cut: boolean;
  view: number[];
  rows: number;
  cols: number;
  levels: number;
  numpy: string;
}

export interface Job {
  job: number;
  command: string;
  state: "working" | "done" | "stopped" | "failed";
  queued: boolean;
  seconds: number;
  exit: number | null;
  limit: number | null;
  answer: Record<string, unknown> | null;
  text: string;
  error: string;
}
