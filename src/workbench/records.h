/* SPDX-License-Identifier: Apache-2.0 */
/* Records in answers. */
#ifndef TG_WORKBENCH_RECORDS_H
#define TG_WORKBENCH_RECORDS_H

#include <taskglass/json.h>

#include "workbench/bench.h"

/* Writes the members of a record into the object that is open. */
void tg_bench_put_record(struct tg_json *json, struct tg_bench_run *run, uint64_t index,
                         const struct tg_entry *entry);
enum { TG_BENCH_TASK_TEXT = 24 };
/* "12", or "1:12" for ring 1, as every report writes it. */
void tg_bench_task_text(uint64_t id, char text[TG_BENCH_TASK_TEXT]);
/* The same as a member; null for TG_TASK_NONE. */
void tg_bench_put_task_id(struct tg_json *json, const char *key, uint64_t id);
/* Writes the names of the record's kernels; "#3" for one without a name. */
void tg_bench_put_kernel_names(struct tg_json *json, const struct tg_entry *entry);

#endif
