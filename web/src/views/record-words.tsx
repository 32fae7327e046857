// SPDX-License-Identifier: Apache-2.0
// How pages name a record.
import type { TaskRecord } from "../api.js";
import { Badge } from "../widgets.js";

export function stageText(stage: string): string {
  const words: Record<string, string> = { before_dispatch: "before", after_completion: "after" };
  return words[stage] ?? stage.replaceAll("_", " ");
}

/** The view of a tensor of the case, or the argument's number. */
export function recordTitle(record: Pick<TaskRecord, "name" | "arg" | "role">): string {
  return record.name || `${record.role} arg ${record.arg}`;
}

/** What a reader must know before believing the values. */
export function RecordBadges({ record }: { record: TaskRecord }) {
  return (
    <>
      {record.partial && (
        <Badge tone="bad" title="The task had not finished when this was recorded">
          partial: the task had not finished
        </Badge>
      )}
      {record.overwritten && (
        <Badge tone="warn" title="The payload was overwritten before the host read it">
          overwritten
        </Badge>
      )}
      {record.truncated && <Badge tone="warn">truncated</Badge>}
      {record.excess && <Badge tone="warn" title="All records together claim far more bytes than the files hold">claims too much</Badge>}
    </>
  );
}
