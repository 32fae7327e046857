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

/* One step above 1, which the tolerance of float32 allows. */
#define NEAR 1.00000012f

TEST(a_rounding_difference_that_grows_leads_to_where_it_began)
{
    struct tg_suspect found;
    struct tg_diff_pair pair;
    begin();
    step(0, X, Y, SAME, SAME);
    step(1, Y, Z, SAME, (const float[]){NEAR, 1});
    step(2, Z, W, (const float[]){NEAR, 1}, (const float[]){NEAR, 1});
    step(3, W, V, (const float[]){NEAR, 1}, OFF);
    accuse();
    CHECK_EQ_U(info.suspects, 1);
    CHECK_EQ_U(info.wrong, 1);
    CHECK_EQ_S(suspect(0), "introduced 1 > 2 > 3");
    REQUIRE(tg_blame_get_suspect(blame, 0, &found));
    CHECK_EQ_U(found.ulp, 1);
    CHECK(!found.step[0].beyond && !found.step[1].beyond && found.step[2].beyond);
    REQUIRE(tg_diff_get_pair(diff, found.left, &pair));
    CHECK_EQ_U(pair.task, 3);
    done();
}

TEST(a_task_that_rounds_is_not_accused_of_what_another_one_did)
{
    begin();
    step(0, X, Y, SAME, (const float[]){NEAR, 1});
    step(1, X, Z, SAME, OFF);
    both((struct made_record){.task = 2, .address = Y}, NEAR, 1);
    both((struct made_record){.task = 2, .arg = 1, .address = Z}, 1, 2);
    both((struct made_record){.task = 2, .arg = 2, .after = true, .address = W}, 2, 3);
    accuse();
    CHECK_EQ_U(info.suspects, 1);
    CHECK_EQ_S(suspect(0), "introduced 1 > 2");
    done();
}

TEST(differences_within_the_tolerance_accuse_nobody)
{
    begin();
    step(0, X, Y, SAME, (const float[]){NEAR, 1});
    step(1, Y, Z, (const float[]){NEAR, 1}, (const float[]){NEAR, 1});
    accuse();
    CHECK_EQ_U(info.suspects, 0);
    CHECK_EQ_S(info.unknown, "");
    done();
}

TEST(the_hash_of_the_whole_settles_an_input_that_is_cut)
{
    begin();
    for (int i = 0; i < 2; i++) {
        made_add(i ? &b : &a,
                 (struct made_record){.address = X, .cut = true, .hash = 0, VALUES(1, 1)});
        made_add(i ? &b : &a,
                 (struct made_record){.arg = 1,
                                      .after = true,
                                      .address = Y,
                                      .values = i ? (const float[]){1} : (const float[]){2},
                                      .n_values = 1});
    }
    accuse();
    CHECK_EQ_S(suspect(0), "introduced 0"); /* hashes are of the whole tensor */
    done();
}

TEST(a_task_that_only_one_side_ran_is_a_suspect_where_its_data_go)
{
    begin();
    step(0, X, Y, SAME, SAME);
    made_add(&a, (struct made_record){
                     .task = 1, .kernel = "extra", .address = Y, .inout = true, VALUES(1)});
    made_add(
        &a,
        (struct made_record){
            .task = 1, .kernel = "extra", .after = true, .inout = true, .address = Y, VALUES(7)});
    step(2, Y, Z, (const float[]){7, 1}, (const float[]){7, 1});
    accuse();
    CHECK_EQ_U(info.suspects, 1);
    CHECK_EQ_S(suspect(0), "extra 1 > 2");
    done();
}

TEST(a_task_that_one_side_lacks_is_missing_there)
{
    begin();
    step(0, X, Y, SAME, SAME);
    made_add(&b, (struct made_record){
                     .task = 1, .kernel = "more", .address = Y, .inout = true, VALUES(1)});
    made_add(
        &b,
        (struct made_record){
            .task = 1, .kernel = "more", .after = true, .inout = true, .address = Y, VALUES(7)});
    step(2, Y, Z, (const float[]){1, 7}, (const float[]){1, 7});
    accuse();
    CHECK_EQ_U(info.suspects, 1);
    struct tg_suspect found;
    struct tg_diff_task task;
    REQUIRE(tg_blame_get_suspect(blame, 0, &found) && tg_diff_get_task(diff, found.task, &task));
    CHECK_EQ_S(tg_guilt_name(found.guilt), "missing");
    CHECK(!task.in_a && task.in_b && task.id_b == 1);
    done();
}

/* The orchestration was given a tensor of `count` elements. */
static void given(uint64_t address, int64_t count)
{
    struct made_record record = {
        .orchestration = true, .address = address, .count = count, .meta = true};
    made_add(&a, record);
    made_add(&b, record);
}

TEST(another_scalar_is_no_fault_of_the_task)
{
    begin();
    both((struct made_record){.address = X}, 1, 1);
    made_add(&a, (struct made_record){.arg = 2, .scalar = "4"});
    made_add(&b, (struct made_record){.arg = 2, .scalar = "3"});
    both((struct made_record){.arg = 1, .after = true, .address = Y}, 4, 3);
    accuse();
    CHECK_EQ_U(info.suspects, 1);
    CHECK_EQ_S(suspect(0), "scalar 0");
    done();
}

TEST(every_task_that_was_given_another_view_is_named)
{
    begin();
    given(X, 8);
    for (uint64_t i = 0; i < 3; i++) {
        int64_t off = i == 1 ? 0 : 1;
        float value = (float)(2 * i + 1);
        made_add(&a, (struct made_record){.task = i,
                                          .address = X,
                                          .start = (int64_t)(2 * i) + off,
                                          .values = &(float){value + (float)off},
                                          .n_values = 1});
        made_add(&b, (struct made_record){.task = i,
                                          .address = X,
                                          .start = (int64_t)(2 * i),
                                          .values = &value,
                                          .n_values = 1});
        both((struct made_record){.task = i, .arg = 1, .after = true, .address = Y + 0x1000 * i},
             value + (float)off, value);
    }
    accuse();
    CHECK_EQ_U(info.suspects, 2);
    CHECK_EQ_S(suspect(0), "view 0");
    CHECK_EQ_S(suspect(1), "view 2");
    struct tg_suspect found;
    REQUIRE(tg_blame_get_suspect(blame, 1, &found));
    CHECK_EQ_U(found.part_a.first, 5);
    CHECK_EQ_U(found.part_b.first, 4);
    done();
}

TEST(a_result_in_the_wrong_place_is_a_view_although_its_values_are_right)
{
    begin();
    given(Y, 8);
    both((struct made_record){.address = X}, 1, 1);
    struct made_record out = {.arg = 1, .after = true, .address = Y, VALUES(5)};
    made_add(&b, out);
    out.start = 3;
    made_add(&a, out);
    accuse();
    CHECK_EQ_S(suspect(0), "view 0");
    done();
}

TEST(tasks_that_changed_places_with_each_other_are_no_difference)
{
    struct tg_diff_summary summary;
    begin();
    given(Y, 8);
    for (uint64_t i = 0; i < 2; i++) {
        both((struct made_record){.task = i, .address = X}, 1, 1);
        struct made_record out = {
            .task = i, .arg = 1, .after = true, .address = Y, .start = (int64_t)i, VALUES(5)};
        made_add(&b, out);
        out.start = 1 - (int64_t)i;
        made_add(&a, out);
    }
    accuse();
    tg_diff_summarize(diff, &summary);
    CHECK_EQ_U(summary.pairs[TG_VERDICT_DIFFERS], 0);
    CHECK_EQ_U(info.suspects, 0);
    done();
}

TEST(what_a_task_left_in_its_output_on_purpose_is_not_its_doing)
{
    begin();
    for (int i = 0; i < 2; i++) {
        struct made *made = i ? &b : &a;
        float old = i ? 8 : 7;
        made_add(made, (struct made_record){.task = 0, .address = X, VALUES(1)});
        made_add(made, (struct made_record){
                           .task = 0, .arg = 1, .after = true, .address = Y, VALUES(3, old)});
        made_add(made, (struct made_record){.task = 1, .address = X, VALUES(1)});
        made_add(made, (struct made_record){
                           .task = 1, .arg = 1, .after = true, .address = Y, VALUES(5, old)});
    }
    accuse();
    CHECK_EQ_U(info.suspects, 1);
    CHECK_EQ_S(suspect(0), "introduced 0 > 1");
    done();
}

TEST(a_task_that_writes_over_the_tensor_of_another_is_the_one_that_was_rewired)
{
    begin();
    both((struct made_record){.task = 0, .address = X}, 1, 1);
    both((struct made_record){.task = 0, .arg = 1, .after = true, .address = Y}, 3, 3);
    both((struct made_record){.task = 1, .address = X}, 1, 1);
    struct made_record out = {.task = 1, .arg = 1, .after = true, .address = Y, VALUES(5)};
    made_add(&a, out);
    out.address = Z;
    made_add(&b, out);
    step(2, Y, W, (const float[]){5, 3}, (const float[]){5, 3});
    accuse();
    CHECK_EQ_U(info.suspects, 1);
    CHECK_EQ_S(suspect(0), "rewired 1");
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
