/* SPDX-License-Identifier: Apache-2.0 */
/* The index of tasks: who ran when and where, and which records are whose. */
#define _GNU_SOURCE 1
#include "unit/workbench/made.h"

static struct tg_bench_run *run;

static const struct tg_bench_tasks *tasks_of(void)
{
    numbers_open();
    return made_tasks(&run);
}

static void end(void)
{
    tg_bench_give_back(run);
    numbers_close();
}

TEST(tasks_come_by_id_with_times_from_the_first_one)
{
    numbers_begin();
    made_task(UINT64_C(0x100000002), 5000, 7000);
    made_task(3, 1000, 4000);
    made_task(1, 2000, 2500);
    const struct tg_bench_tasks *tasks = tasks_of();
    CHECK_EQ_U(tasks->count, 3);
    CHECK_EQ_U(tasks->id[0], 1);
    CHECK_EQ_U(tasks->id[1], 3);
    CHECK_EQ_U(tasks->id[2], UINT64_C(0x100000002));
    CHECK_EQ_U(tasks->start, 1000);
    CHECK_EQ_U(tasks->span, 6000);
    CHECK(!tasks->is_wide);
    CHECK_EQ_I((int)tg_bench_time_at(tasks, tasks->begin, 0), 1000);
    CHECK_EQ_I((int)tg_bench_time_at(tasks, tasks->end, 0), 1500);
    CHECK_EQ_I((int)tg_bench_time_at(tasks, tasks->begin, 1), 0);
    CHECK_EQ_S(tasks->names.kernel[tasks->kernel[0]].name, "add");
    CHECK_EQ_U(tasks->names.core[tasks->core[0]].number, CORE);
    CHECK_EQ_U(tg_bench_task_find(tasks, 3), 1);
    CHECK_EQ_U(tg_bench_task_find(tasks, 2), TG_BENCH_NONE);
    end();
}

TEST(each_task_has_its_records_in_the_order_of_the_file)
{
    numbers_begin();
    made_task(7, 10, 20);
    made_task(2, 11, 21);
    made_task(7, 12, 22);
    const struct tg_bench_tasks *tasks = tasks_of();
    CHECK_EQ_U(tasks->first_record[1] - tasks->first_record[0], 2);
    CHECK_EQ_U(tasks->first_record[2] - tasks->first_record[1], 4);
    static const uint32_t want[] = {2, 3, 0, 1, 4, 5};
    for (int i = 0; i < 6; i++)
        CHECK_EQ_U(tasks->record[i], want[i]);
    end();
}

TEST(a_time_that_no_record_has_is_marked)
{
    numbers_begin();
    made_task(1, 0, 50);
    made_task(2, 60, 0);
    made_task(3, 10, 90);
    const struct tg_bench_tasks *tasks = tasks_of();
    CHECK_EQ_U(tasks->flags[0], TG_TIMELINE_NO_BEGIN);
    CHECK_EQ_I((int)tg_bench_time_at(tasks, tasks->begin, 0), 40);
    CHECK_EQ_U(tasks->flags[1], TG_TIMELINE_NO_END);
    CHECK_EQ_U(tasks->flags[2], 0);
    end();
}

TEST(a_task_that_did_not_end_has_no_end)
{
    numbers_begin();
    struct tg_record partial = made_record(1, TG_AFTER_COMPLETION, 70);
    partial.flags |= TG_RECORD_PARTIAL;
    made_task(1, 60, 0);
    made_add(&partial);
    const struct tg_bench_tasks *tasks = tasks_of();
    CHECK_EQ_U(tasks->flags[0], TG_TIMELINE_PARTIAL);
    CHECK(isnan(tg_bench_time_at(tasks, tasks->end, 0)));
    end();
}

TEST(a_mix_has_a_part_on_each_lane_of_its_block)
{
    numbers_begin();
    CHECK_EQ_I(tg_dump_add_kernel(numbers_writer, 1, TG_AIC, "mat"), TG_OK);
    struct tg_record before = made_record(1, TG_BEFORE_DISPATCH, 10),
                     after = made_record(1, TG_AFTER_COMPLETION, 30);
    before.kernel[0] = after.kernel[0] = 1;
    before.core = after.core = 4;
    made_add(&before);
    made_add(&after);
    const struct tg_bench_tasks *tasks = tasks_of();
    CHECK_EQ_U(tasks->first_part[1], 2);
    CHECK_EQ_S(tasks->names.kernel[tasks->kernel[0]].name, "mat");
    CHECK_EQ_U(tasks->names.core[tasks->core[0]].number, 3);
    CHECK_EQ_U(tasks->names.core[tasks->core[1]].number, 4);
    end();
}

TEST(a_span_beyond_32_bits_has_wide_times)
{
    numbers_begin();
    made_task(1, 1, UINT64_C(0x300000001));
    made_task(2, 5, 6);
    const struct tg_bench_tasks *tasks = tasks_of();
    CHECK(tasks->is_wide);
    CHECK(tg_bench_time_at(tasks, tasks->end, 0) == (double)UINT64_C(0x300000000));
    CHECK(tg_bench_time_at(tasks, tasks->begin, 1) == 4.0);
    end();
}

TEST(tasks_without_times_are_listed)
{
    numbers_begin();
    struct tg_record record = made_record(9, TG_BEFORE_DISPATCH, 0);
    made_add(&record);
    const struct tg_bench_tasks *tasks = tasks_of();
    CHECK_EQ_U(tasks->count, 1);
    CHECK_EQ_U(tasks->n_parts, 0);
    CHECK_HAS(tasks->note[1], "no times");
    end();
}

TEST(arguments_of_the_orchestration_belong_to_no_task)
{
    numbers_begin();
    struct tg_record argument = made_record(TG_TASK_NONE, TG_STAGE_ORCHESTRATION, 0);
    made_add(&argument);
    made_task(4, 10, 20);
    const struct tg_bench_tasks *tasks = tasks_of();
    CHECK_EQ_U(tasks->count, 1);
    CHECK_EQ_U(tasks->n_others, 1);
    CHECK_EQ_U(tasks->other[0], 0);
    end();
}

TEST(many_tasks_in_any_order_are_all_found)
{
    enum { TASKS = 1000 };
    numbers_begin();
    for (uint64_t i = 0; i < TASKS; i++)
        made_task(i * 7919 % TASKS, 100 + i, 200 + i);
    const struct tg_bench_tasks *tasks = tasks_of();
    CHECK_EQ_U(tasks->count, TASKS);
    for (uint64_t i = 0; i < TASKS; i++) {
        uint32_t task = tg_bench_task_find(tasks, i * 7919 % TASKS);
        if (!CHECK_EQ_U(tasks->record[tasks->first_record[task]], 2 * i) ||
            !CHECK(tg_bench_time_at(tasks, tasks->begin, tasks->first_part[task]) == (double)i))
            break;
    }
    end();
}

TEST_MAIN()
