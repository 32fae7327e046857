/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes take batches of tasks; the caller gets their results in order, whatever the lanes do. */
#include "host/batches.h"
#include "base/error.h"
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

struct lane {
    struct tg_batches *batches;
    uint32_t number;
    int fails_at; /* hands in an error for the batch with this task; -1: never */
};

struct told {
    uint64_t next, stop_at;
    int cancels_at;
};

/* The result of a task is its number plus 1000. Lanes differ in speed. */
static void *run_lane(void *argument)
{
    struct lane *lane = argument;
    struct tg_batch *batch;
    while ((batch = tg_batches_take(lane->batches)) != NULL) {
        struct tg_error error = {TG_OK, ""};
        tg_status status = TG_OK;
        uint64_t *result = batch->result;
        for (uint32_t i = 0; i < batch->n; i++) {
            result[i] = lane->batches->record[batch->begin[i]].task + 1000;
            if ((int64_t)result[i] - 1000 == lane->fails_at)
                status = tg_error_set(&error, TG_NO_MEMORY, "lane gave up");
        }
        if (lane->number % 2)
            usleep(500);
        tg_batches_hand_in(lane->batches, batch, status, &error);
    }
    tg_batches_leave(lane->batches);
    return NULL;
}

static int tell(void *context, struct tg_batch *batch, uint32_t i)
{
    struct told *told = context;
    CHECK_EQ_U(((uint64_t *)batch->result)[i], told->next + 1000);
    told->next++;
    return told->next == told->stop_at;
}

static int progress(void *context, uint64_t done)
{
    const struct told *told = context;
    CHECK_EQ_U(done, told->next);
    return told->cancels_at >= 0 && done >= (uint64_t)told->cancels_at;
}

enum { TASKS = 5000, LANES = 4 };

static tg_status run(struct told *told, int fails_at, struct tg_error *error)
{
    struct tg_task_records records = {calloc(2 * TASKS, sizeof *records.record), 2 * TASKS, TASKS};
    struct tg_batch_sink sink = {tell, progress, told};
    struct lane lane[LANES];
    struct tg_batches batches;
    for (uint64_t i = 0; i < records.count; i++)
        records.record[i] = (struct tg_task_record){.task = i / 2, .index = i, .bytes = 64};
    CHECK_EQ_U(tg_batches_lanes(&records, LANES), LANES);
    REQUIRE(tg_batches_begin(&batches, &records, LANES, sizeof(uint64_t), error) == TG_OK);
    for (uint32_t i = 0; i < LANES; i++)
        lane[i] = (struct lane){&batches, i, fails_at};
    tg_status status =
        tg_batches_run(&batches, run_lane, lane, sizeof lane[0], LANES, &sink, error);
    tg_batches_end(&batches);
    tg_task_records_free(&records);
    return status;
}

TEST(results_are_told_in_order_and_each_once)
{
    struct told told = {.cancels_at = -1};
    struct tg_error error = {TG_OK, ""};
    CHECK_EQ_I(run(&told, -1, &error), TG_OK);
    CHECK_EQ_U(told.next, TASKS);
}

TEST(the_caller_can_have_enough)
{
    struct told told = {.stop_at = 700, .cancels_at = -1};
    struct tg_error error = {TG_OK, ""};
    CHECK_EQ_I(run(&told, -1, &error), TG_OK);
    CHECK_EQ_U(told.next, 700);
}

TEST(the_caller_can_cancel)
{
    struct told told = {.cancels_at = 300};
    struct tg_error error = {TG_OK, ""};
    CHECK_EQ_I(run(&told, -1, &error), TG_CANCELLED);
    CHECK_HAS(error.text, "of 5000 tasks");
    CHECK(told.next >= 300 && told.next < TASKS);
}

TEST(an_error_of_a_lane_ends_all_of_them)
{
    struct told told = {.cancels_at = -1};
    struct tg_error error = {TG_OK, ""};
    CHECK_EQ_I(run(&told, 2000, &error), TG_NO_MEMORY);
    CHECK_EQ_S(error.text, "lane gave up");
    CHECK(told.next <= 2000);
}

TEST(few_tasks_get_few_lanes)
{
    struct tg_task_record one = {.task = 1};
    struct tg_task_records records = {&one, 1, 1};
    CHECK_EQ_U(tg_batches_lanes(&records, 8), 1);
}

TEST_MAIN()
