/* SPDX-License-Identifier: Apache-2.0 */
/* How two runs differ: outcomes that were made up. */
#include "test.h"

#include "analysis/deps.h"
#include "shake/outcome.h"
#include <taskglass/wire/record.h>

#define TASK(id, kernel) \
    "{\"task_id\": \"" id "\", \"func_id\": [0], \"kernel\": [\"" kernel "\"], \"after\": []}"
#define DEPS(tasks) "{\"tasks\": [" tasks "]}"

static const char three[] = DEPS(TASK("0x0", "a") ", " TASK("0x1", "b") ", " TASK("0x2", "c"));
static const char two[] = DEPS(TASK("0x0", "a") ", " TASK("0x1", "b"));
static const char other[] = DEPS(TASK("0x0", "a") ", " TASK("0x1", "x") ", " TASK("0x2", "c"));

enum { B = TG_BEFORE_DISPATCH, A = TG_AFTER_COMPLETION };

/* A run that went well, with three tasks that started in this order. */
struct run {
    struct tg_outcome outcome;
    struct tg_outcome_place by_id[3];
    uint64_t start[3];
    struct tg_outcome_record record[6];
    struct tg_outcome_output output[2];
};

static struct run *make(struct run *run, const char *deps)
{
    static const struct tg_outcome_record records[] = {{0, 10, B, 0}, {0, 11, A, 1}, {1, 20, B, 0},
                                                       {1, 21, A, 1}, {2, 30, B, 0}, {2, 31, A, 1}};
    memset(run, 0, sizeof *run);
    memcpy(run->record, records, sizeof records);
    run->start[1] = 1;
    run->start[2] = 2;
    run->output[0] = (struct tg_outcome_output){"y", 100, 8, true};
    run->output[1] = (struct tg_outcome_output){"z", 101, 8, true};
    for (uint32_t i = 0; i < 3; i++)
        run->by_id[i] = (struct tg_outcome_place){i, i};
    run->outcome = (struct tg_outcome){.status = TG_OK,
                                       .by_id = run->by_id,
                                       .start = run->start,
                                       .n_starts = 3,
                                       .record = run->record,
                                       .n_records = 6,
                                       .output = run->output,
                                       .n_outputs = 2};
    CHECK_EQ_I(tg_deps_parse(deps, strlen(deps), "deps.json", &run->outcome.deps, NULL), TG_OK);
    return run;
}

static void end(struct run *a, struct run *b)
{
    tg_deps_free(a->outcome.deps);
    tg_deps_free(b->outcome.deps);
}

static struct tg_shake_difference compare(const struct run *a, const struct run *b)
{
    struct tg_shake_difference difference;
    tg_outcome_compare(&a->outcome, &b->outcome, &difference);
    return difference;
}

TEST(equal_runs_do_not_differ_whatever_their_order)
{
    struct run a, b;
    make(&a, three);
    make(&b, three);
    b.start[0] = 2;
    b.start[2] = 0;
    struct tg_shake_difference d = compare(&a, &b);
    CHECK_EQ_U(d.change, TG_CHANGE_NONE);
    CHECK(!d.has_task);
    end(&a, &b);
}

TEST(the_first_task_in_the_order_of_the_run_is_named)
{
    struct run a, b;
    make(&a, three);
    make(&b, three);
    b.start[0] = 2;
    b.start[2] = 0;
    b.record[1].hash++; /* task 0 wrote other bytes */
    b.record[4].hash++; /* task 2, which ran before it, read other bytes */
    b.record[5].hash++;
    struct tg_shake_difference d = compare(&a, &b);
    CHECK_EQ_U(d.change, TG_CHANGE_TASK);
    CHECK(d.has_task && d.reads);
    CHECK_EQ_U(d.task.id, 2);
    CHECK_EQ_S(d.task.kernel, "c");
    CHECK_EQ_U(d.argument, 0);
    CHECK_EQ_U(d.tasks, 2);
    end(&a, &b);
}

TEST(a_read_of_other_bytes_that_changes_nothing_is_no_change)
{
    struct run a, b;
    make(&a, three);
    make(&b, three);
    b.record[2].hash++;
    CHECK_EQ_U(compare(&a, &b).change, TG_CHANGE_NONE);
    end(&a, &b);
}

TEST(the_worst_change_wins)
{
    struct run a, b;
    make(&a, three);
    make(&b, three);
    b.output[0].hash++;
    CHECK_EQ_U(compare(&a, &b).change, TG_CHANGE_OUTPUT);
    CHECK_EQ_S(compare(&a, &b).output, "y");
    b.output[1].hash++;
    b.output[1].is_golden = false;
    b.outcome.status = TG_MISMATCH;
    CHECK_EQ_U(compare(&a, &b).change, TG_CHANGE_GOLDEN);
    CHECK_EQ_S(compare(&a, &b).output, "z");
    b.outcome.status = TG_KERNEL_FAULT;
    CHECK_EQ_U(compare(&a, &b).change, TG_CHANGE_DEVICE);
    end(&a, &b);
}

TEST(tasks_that_only_one_run_has_are_a_change_and_the_first_is_named)
{
    struct run a, b;
    make(&a, three);
    make(&b, two);
    CHECK_EQ_U(compare(&a, &b).change, TG_CHANGE_TASKS);
    CHECK_EQ_U(compare(&a, &b).task.id, 2);
    CHECK_EQ_U(compare(&b, &a).task.id, 2);
    end(&a, &b);
    make(&a, three);
    make(&b, other);
    CHECK_EQ_U(compare(&a, &b).change, TG_CHANGE_TASKS);
    CHECK_EQ_U(compare(&a, &b).task.id, 1);
    CHECK_EQ_S(compare(&a, &b).task.kernel, "x");
    end(&a, &b);
}

TEST(a_run_that_failed_may_lack_tasks_and_records)
{
    struct run a, b;
    make(&a, three);
    make(&b, two);
    b.outcome.status = TG_HANG;
    b.outcome.n_records = 3;
    b.outcome.n_starts = 2;
    struct tg_shake_difference d = compare(&a, &b);
    CHECK_EQ_U(d.change, TG_CHANGE_DEVICE);
    CHECK(!d.has_task);
    end(&a, &b);
}

TEST(a_run_that_failed_alike_repeats)
{
    struct run a, b;
    struct tg_shake_difference d;
    make(&a, three);
    make(&b, three);
    a.outcome.status = b.outcome.status = TG_HANG;
    CHECK(tg_outcome_repeats(&a.outcome, &b.outcome, true, &d));
    b.outcome.status = TG_KERNEL_FAULT;
    CHECK(!tg_outcome_repeats(&a.outcome, &b.outcome, false, &d));
    end(&a, &b);
}

TEST(what_does_not_repeat_is_blamed_on_the_task_that_read_the_same)
{
    struct run a, b;
    struct tg_shake_difference d;
    make(&a, three);
    make(&b, three);
    b.record[2].hash++; /* task 1 read other bytes */
    b.record[3].hash++;
    b.record[5].hash++; /* task 2 did not */
    b.output[0].hash++;
    CHECK(!tg_outcome_repeats(&a.outcome, &b.outcome, false, &d));
    CHECK_EQ_U(d.change, TG_CHANGE_OUTPUT);
    CHECK(d.has_task);
    CHECK_EQ_U(d.task.id, 2);
    end(&a, &b);
}

TEST(bytes_in_between_need_to_repeat_only_if_they_count)
{
    struct run a, b;
    struct tg_shake_difference d;
    make(&a, three);
    make(&b, three);
    b.record[3].hash++;
    CHECK(tg_outcome_repeats(&a.outcome, &b.outcome, false, &d));
    CHECK(!tg_outcome_repeats(&a.outcome, &b.outcome, true, &d));
    end(&a, &b);
}

TEST(an_order_has_every_task_once_and_those_that_did_not_start_last)
{
    struct run a, b;
    uint32_t order[3];
    make(&a, three);
    make(&b, three);
    b.start[0] = 2;
    b.start[1] = 77; /* a task that the baseline did not have */
    b.start[2] = 2;
    REQUIRE(tg_outcome_order(&b.outcome, &a.outcome, order));
    CHECK(order[0] == 2 && order[1] == 0 && order[2] == 1);
    end(&a, &b);
}

TEST_MAIN()
