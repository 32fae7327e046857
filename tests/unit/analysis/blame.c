/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the task where a difference began, in recordings without deps.json: the edges follow from
 * the addresses. */
#define _GNU_SOURCE 1
#include "unit/recording/made.h"

#include "analysis/diff.h"

static struct made a, b;
static struct tg_diff *diff;
static struct tg_blame *blame;
static struct tg_blame_info info;
static struct tg_error error;

static void begin(void)
{
    made_begin(&a);
    made_begin(&b);
}

/* Adds the same record to both recordings, with one value each. */
static void both(struct made_record record, float left, float right)
{
    record.n_values = 1;
    record.values = &left;
    made_add(&a, record);
    record.values = &right;
    made_add(&b, record);
}

/* Task `id` reads `from` and writes `to`. */
static void step(uint64_t id, uint64_t from, uint64_t to, const float in[2], const float out[2])
{
    both((struct made_record){.task = id, .address = from}, in[0], in[1]);
    both((struct made_record){.task = id, .arg = 1, .after = true, .address = to}, out[0], out[1]);
}

static void accuse(void)
{
    struct tg_diff_result result;
    made_end(&a);
    made_end(&b);
    REQUIRE(tg_diff_open(a.recording, b.recording, NULL, &diff, &error) == TG_OK);
    for (uint64_t i = 0; tg_diff_compare(diff, i, &result); i++)
        ;
    REQUIRE(tg_blame_open(diff, &blame, &error) == TG_OK);
    tg_blame_get_info(blame, &info);
}

static void done(void)
{
    tg_blame_close(blame);
    tg_diff_close(diff);
    tg_recording_close(a.recording);
    tg_recording_close(b.recording);
}

/* "introduced 1 > 2 > 3": a suspect's word and path. */
static const char *suspect(uint64_t number)
{
    static char text[500];
    struct tg_suspect found;
    size_t used = 0;
    if (!tg_blame_get_suspect(blame, number, &found))
        return "nobody";
    used = (size_t)snprintf(text, sizeof text, "%s", tg_guilt_name(found.guilt));
    for (size_t i = 0; i < found.n_path; i++) {
        struct tg_diff_task task;
        tg_diff_get_task(diff, found.path[i], &task);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %" PRIu64, i > 0 ? " >" : "",
                                 task.id_a);
    }
    return text;
}

#define SAME        \
    (const float[]) \
    {               \
        1, 1        \
    }
#define OFF         \
    (const float[]) \
    {               \
        1, 2        \
    }
enum { X = 0x1000, Y = 0x2000, Z = 0x3000, W = 0x4000, V = 0x5000 };

TEST(the_task_whose_inputs_agree_and_whose_output_does_not_began_it)
{
    begin();
    step(0, X, Y, SAME, SAME);
    step(1, Y, Z, SAME, OFF);
    step(2, Z, W, OFF, OFF);
    step(3, W, V, OFF, OFF);
    accuse();
    CHECK_EQ_S(info.graph, "memory_a");
    CHECK_EQ_U(info.wrong, 3);
    CHECK_EQ_U(info.inherited, 2);
    CHECK_EQ_U(info.suspects, 1);
    CHECK_EQ_S(suspect(0), "introduced 1 > 2 > 3");
    done();
}

TEST(the_path_ends_where_the_error_does)
{
    begin();
    step(0, X, Y, SAME, OFF);
    step(1, Y, Z, OFF, OFF);
    step(2, Z, W, OFF, SAME); /* here the difference disappears */
    step(3, W, V, SAME, SAME);
    accuse();
    CHECK_EQ_S(suspect(0), "introduced 0 > 1");
    done();
}

TEST(two_that_began_it_come_the_earlier_first_then_the_worse)
{
    begin();
    step(0, X, Y, SAME, (const float[]){1, 1.1f});
    step(1, X, Z, SAME, (const float[]){1, 5});
    step(2, Z, W, (const float[]){1, 5}, SAME);
    step(3, W, V, SAME, (const float[]){1, 100});
    accuse();
    CHECK_EQ_U(info.suspects, 3);
    CHECK_EQ_S(suspect(0), "introduced 1");
    CHECK_EQ_S(suspect(1), "introduced 0");
    CHECK_EQ_S(suspect(2), "introduced 3");
    done();
}

TEST(an_input_that_no_task_wrote_was_given_and_is_named_once)
{
    begin();
    step(0, X, Y, OFF, OFF);
    step(1, X, Z, OFF, OFF);
    step(2, Z, W, OFF, OFF);
    accuse();
    CHECK_EQ_U(info.suspects, 1);
    CHECK_EQ_S(suspect(0), "given 0");
    CHECK_EQ_U(info.inherited, 3);
    done();
}

TEST(an_input_that_was_not_recorded_leaves_it_open)
{
    begin();
    step(0, X, Y, SAME, SAME);
    /* argument 0 is missing */
    both((struct made_record){.task = 1, .arg = 1, .after = true, .address = Z}, 1, 2);
    step(2, Z, W, OFF, OFF);
    accuse();
    CHECK_EQ_U(info.suspects, 1);
    CHECK_EQ_S(suspect(0), "unclear 1 > 2");
    done();
}

TEST(an_input_of_which_nothing_is_known_leaves_it_open)
{
    begin();
    struct made_record unknown = {.address = X, .meta = true};
    both(unknown, 1, 1);
    both((struct made_record){.arg = 1, .after = true, .address = Y}, 1, 2);
    accuse();
    CHECK_EQ_S(suspect(0), "unclear 0");
    done();
}

TEST(hashes_are_enough_to_blame)
{
    begin();
    both((struct made_record){.address = X, .meta = true, .hash = 5}, 1, 1);
    struct made_record out = {.arg = 1, .after = true, .address = Y, .meta = true, .hash = 6};
    out.n_values = 1;
    made_add(&a, out);
    out.hash = 7;
    made_add(&b, out);
    accuse();
    CHECK_EQ_S(suspect(0), "introduced 0");
    done();
}

TEST(an_input_that_changed_on_its_way_is_no_fault_of_its_producer)
{
    begin();
    step(0, X, Y, SAME, SAME);
    step(1, Y, Z, OFF, OFF); /* no task wrote Y in between */
    accuse();
    CHECK_EQ_S(suspect(0), "changed 1");
    done();
}

TEST(an_input_that_is_another_tensor_was_rewired)
{
    begin();
    step(0, X, Y, SAME, (const float[]){3, 3});
    step(1, X, Z, SAME, (const float[]){5, 5});
    made_add(&a, (struct made_record){.task = 2, .address = Z, VALUES(5)});
    made_add(&b, (struct made_record){.task = 2, .address = Y, VALUES(3)});
    both((struct made_record){.task = 2, .arg = 1, .after = true, .address = W}, 6, 4);
    accuse();
    CHECK_EQ_S(suspect(0), "rewired 2");
    done();
}

TEST(without_addresses_tasks_are_judged_by_their_own_arguments)
{
    begin();
    step(0, 0, 0, SAME, SAME);
    step(1, 0, 0, SAME, OFF);
    step(2, 0, 0, OFF, OFF);
    accuse();
    CHECK_EQ_S(info.graph, "none");
    CHECK_EQ_S(suspect(0), "introduced 1");
    done();
}

TEST(nothing_wrong_means_no_suspect)
{
    begin();
    step(0, X, Y, SAME, SAME);
    accuse();
    CHECK_EQ_U(info.suspects, 0);
    CHECK_EQ_U(info.wrong, 0);
    CHECK_EQ_S(suspect(0), "nobody");
    done();
}

TEST(an_error_of_an_inner_step_keeps_its_own_words)
{
    begin();
    step(0, X, Y, SAME, OFF);
    accuse();
    tg_blame_close(blame);
    uint64_t n_refs = diff->a.n_refs;
    tg_flow_free(&diff->source_a.flow);
    diff->source_a.has_flow = false;
    diff->a.n_refs = UINT64_MAX; /* more records than can be followed */
    CHECK(tg_blame_open(diff, &blame, &error) == TG_NO_MEMORY);
    CHECK_EQ_S(error.text, "no memory to follow the data of a recording");
    CHECK(!blame);
    diff->a.n_refs = n_refs;
    done();
}

TEST_MAIN()
