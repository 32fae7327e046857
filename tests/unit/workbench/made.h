/* SPDX-License-Identifier: Apache-2.0 */
/* Code that the tests of the workbench share: runs made record by record, and requests about them. */
#ifndef TASKGLASS_TEST_MADE_H
#define TASKGLASS_TEST_MADE_H

#include "unit/workbench/numbers.h"

#include "workbench/tasks.h"

/* The number of a core that runs a kernel of the kind AIV. */
enum { CORE = 1 };

/* A record of a task with one tensor; the caller changes what matters. */
DUMP_FN struct tg_record made_record(uint64_t task, unsigned stage, uint64_t time)
{
    struct tg_record record = dump_tensor(task, 2, 0);
    record.stage = (uint8_t)stage;
    record.role = stage == TG_AFTER_COMPLETION ? TG_OUT : TG_IN;
    record.time = time;
    record.core = CORE;
    record.stored = 0;
    record.flags &= (uint16_t)~TG_RECORD_PAYLOAD;
    return record;
}

DUMP_FN void made_add(const struct tg_record *record)
{
    CHECK(tg_dump_append(numbers_writer, record));
    numbers_task++;
}

/* A task that ran from `begin` to `end`; 0: no record says when. */
DUMP_FN void made_task(uint64_t task, uint64_t begin, uint64_t end)
{
    struct tg_record before = made_record(task, TG_BEFORE_DISPATCH, begin);
    struct tg_record after = made_record(task, TG_AFTER_COMPLETION, end);
    if (begin > 0)
        made_add(&before);
    if (end > 0)
        made_add(&after);
}

/* A file of the run. */
DUMP_FN void made_file(const char *name, const char *text)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", dump_dir, name);
    dump_write_file(path, text, strlen(text));
}

/* The index of the run that numbers_open has opened; it lives until numbers_close. */
DUMP_FN const struct tg_bench_tasks *made_tasks(struct tg_bench_run **run)
{
    const struct tg_bench_tasks *tasks = NULL;
    struct tg_error error = {0};
    REQUIRE(tg_bench_take(numbers_bench, numbers_bench->fixed[0]->key, run, &error) == TG_OK);
    if (tg_bench_tasks_of(*run, &tasks, &error) != TG_OK)
        fprintf(stderr, "%s\n", error.text);
    REQUIRE(tasks);
    return tasks;
}

#endif
