/* SPDX-License-Identifier: Apache-2.0 */
/* The tensors that a run was given, to name the views that tasks used: "x[0:16, 3]". */
#ifndef TG_WORKBENCH_GIVEN_H
#define TG_WORKBENCH_GIVEN_H

#include "workbench/bench.h"

/* Room for the longest name. */
enum { TG_BENCH_NAME = 400 };

/* The name of the record's view; "" if it is of no tensor of the case, and without memory. Any thread may ask. */
void tg_bench_name(struct tg_bench_run *run, const struct tg_record *record,
                   char name[TG_BENCH_NAME]);
void tg_bench_given_free(struct tg_bench_given *given);

#endif
