/* SPDX-License-Identifier: Apache-2.0 */
/* The reducer, with made-up predicates on the order that a model of the device gives. */
#include "test.h"

#include "model.h"
#include "shake/reduce.h"

struct trial {
    struct model *model;
    bool (*broken)(const struct model *model); /* looks at the order */
    uint32_t runs;
    uint32_t stop_at; /* 0: never */
    unsigned flaky;   /* every so many runs pass although they are broken; 0: none */
};

static enum tg_reduce_answer fails(void *context, const struct tg_order *constraint, uint32_t n)
{
    struct trial *trial = context;
    trial->runs++;
    if (trial->stop_at && trial->runs >= trial->stop_at)
        return TG_REDUCE_STOP;
    model_run(trial->model, constraint, n);
    if (trial->flaky && trial->runs % trial->flaky == 0)
        return TG_REDUCE_PASSES;
    return trial->broken(trial->model) ? TG_REDUCE_FAILS : TG_REDUCE_PASSES;
}

/* Finds a random order that is broken, and reduces it. */
static uint32_t failing[MODEL_TASKS];

static bool find_failing(struct trial *trial)
{
    for (unsigned seed = 1; seed < 20000; seed++) {
        model_shuffle(trial->model, seed);
        if (trial->broken(trial->model)) {
            memcpy(failing, trial->model->order, sizeof failing);
            return true;
        }
    }
    return false;
}

static struct tg_reduce_input input_of(struct trial *trial)
{
    return (struct tg_reduce_input){.graph = model_graph(trial->model),
                                    .failing = failing,
                                    .most = 1000,
                                    .budget = 300,
                                    .confirm = 1,
                                    .fails = fails,
                                    .context = trial};
}

static void independent(struct model *m, uint32_t n)
{
    memset(m, 0, sizeof *m);
    for (uint32_t t = 0; t < n; t++)
        model_add(m, 0, NULL);
}

static bool has(const struct tg_reduce_result *result, uint32_t first, uint32_t second)
{
    for (uint32_t i = 0; i < result->n; i++)
        if (result->constraint[i].first == first && result->constraint[i].second == second)
            return true;
    return false;
}

static struct model model;

static bool one_inversion(const struct model *m)
{
    return m->place[22] < m->place[21];
}

TEST(one_inverted_pair_among_a_hundred_tasks_is_named)
{
    struct trial trial = {.model = &model, .broken = one_inversion};
    struct tg_reduce_result result;
    independent(&model, 100);
    REQUIRE(find_failing(&trial));
    struct tg_reduce_input input = input_of(&trial);
    CHECK_EQ_I(tg_reduce(&input, &result, NULL), TG_OK);
    CHECK_EQ_U(result.n, 1);
    CHECK(has(&result, 22, 21));
    CHECK(!result.spent && !result.flaky);
    CHECK_EQ_U(result.runs, trial.runs);
    CHECK(result.runs < 60);
    free(result.constraint);
}

TEST(a_suspect_that_is_guilty_takes_one_run)
{
    struct trial trial = {.model = &model, .broken = one_inversion};
    struct tg_order suspect[] = {{21, 22}};
    struct tg_reduce_result result;
    independent(&model, 100);
    REQUIRE(find_failing(&trial));
    struct tg_reduce_input input = input_of(&trial);
    input.suspect = suspect;
    input.n_suspects = 1;
    CHECK_EQ_I(tg_reduce(&input, &result, NULL), TG_OK);
    CHECK_EQ_U(result.n, 1);
    CHECK(has(&result, 22, 21));
    CHECK(result.runs < 10);
    free(result.constraint);
}

TEST(innocent_suspects_and_pairs_that_are_not_inverted_do_not_mislead)
{
    struct trial trial = {.model = &model, .broken = one_inversion};
    struct tg_order suspect[] = {{3, 90}, {90, 3}, {7, 7}, {4000, 1}, {50, 60}, {60, 50}};
    struct tg_reduce_result result;
    independent(&model, 100);
    REQUIRE(find_failing(&trial));
    struct tg_reduce_input input = input_of(&trial);
    input.suspect = suspect;
    input.n_suspects = 6;
    CHECK_EQ_I(tg_reduce(&input, &result, NULL), TG_OK);
    CHECK_EQ_U(result.n, 1);
    CHECK(has(&result, 22, 21));
    free(result.constraint);
}

static bool two_inversions(const struct model *m)
{
    return m->place[30] < m->place[10] && m->place[80] < m->place[70];
}

TEST(two_inversions_that_are_both_needed_are_two_constraints)
{
    struct trial trial = {.model = &model, .broken = two_inversions};
    struct tg_reduce_result result;
    independent(&model, 100);
    REQUIRE(find_failing(&trial));
    struct tg_reduce_input input = input_of(&trial);
    CHECK_EQ_I(tg_reduce(&input, &result, NULL), TG_OK);
    CHECK_EQ_U(result.n, 2);
    CHECK(has(&result, 30, 10) && has(&result, 80, 70));
    free(result.constraint);
}

static bool three_inversions(const struct model *m)
{
    return m->place[5] < m->place[4] && m->place[30] < m->place[20] && m->place[59] < m->place[40];
}

TEST(three_inversions_that_are_all_needed_are_three_constraints)
{
    struct trial trial = {.model = &model, .broken = three_inversions};
    struct tg_reduce_result result;
    independent(&model, 60);
    REQUIRE(find_failing(&trial));
    struct tg_reduce_input input = input_of(&trial);
    CHECK_EQ_I(tg_reduce(&input, &result, NULL), TG_OK);
    CHECK_EQ_U(result.n, 3);
    CHECK(has(&result, 5, 4) && has(&result, 30, 20) && has(&result, 59, 40));
    free(result.constraint);
}

/* Task 599 is the end of a chain of 598 tasks; task 0 waits for nothing. */
static bool starved(const struct model *m)
{
    return m->place[599] < m->place[0];
}

TEST(a_task_that_is_starved_behind_hundreds_is_one_constraint)
{
    struct trial trial = {.model = &model, .broken = starved};
    struct tg_reduce_result result;
    memset(&model, 0, sizeof model);
    model_add(&model, 0, NULL);
    model_add(&model, 0, NULL);
    for (uint32_t t = 2; t < 600; t++)
        model_add(&model, 1, &(uint32_t){t - 1});
    for (uint32_t i = 0; i < 600; i++)
        failing[i] = i + 1 < 600 ? i + 1 : 0;
    struct tg_reduce_input input = input_of(&trial);
    CHECK_EQ_I(tg_reduce(&input, &result, NULL), TG_OK);
    CHECK_EQ_U(result.n, 1);
    CHECK(has(&result, 599, 0));
    free(result.constraint);
}

/* 0 -> 1 -> 2 -> 3 is a chain, and so is 4 -> 5 -> 6. Task 5 collides with task 2. */
static bool collides_inside(const struct model *m)
{
    return m->place[5] < m->place[2];
}

TEST(the_pair_that_collides_is_named_and_not_the_tasks_that_were_moved)
{
    struct trial trial = {.model = &model, .broken = collides_inside};
    struct tg_reduce_result result;
    memset(&model, 0, sizeof model);
    for (uint32_t t = 0; t < 7; t++)
        model_add(&model, t != 0 && t != 4, &(uint32_t){t - 1});
    memcpy(failing, (uint32_t[]){4, 5, 6, 0, 1, 2, 3}, 7 * sizeof *failing);
    struct tg_reduce_input input = input_of(&trial);
    CHECK_EQ_I(tg_reduce(&input, &result, NULL), TG_OK);
    CHECK_EQ_U(result.n, 1);
    CHECK(has(&result, 5, 2));
    free(result.constraint);
}

/* More constraints can repair it: 9 before 8 breaks it, unless 7 comes before 6. */
static bool repaired_by_more(const struct model *m)
{
    return m->place[9] < m->place[8] && m->place[6] < m->place[7];
}

TEST(what_more_constraints_repair_is_found_all_the_same)
{
    struct trial trial = {.model = &model, .broken = repaired_by_more};
    struct tg_order suspect[] = {{7, 6}, {9, 8}};
    struct tg_reduce_result result;
    independent(&model, 30);
    REQUIRE(find_failing(&trial));
    struct tg_reduce_input input = input_of(&trial);
    input.suspect = suspect;
    input.n_suspects = 2;
    CHECK_EQ_I(tg_reduce(&input, &result, NULL), TG_OK);
    CHECK_EQ_U(result.n, 1);
    CHECK(has(&result, 9, 8));
    free(result.constraint);
}

static bool never(const struct model *m)
{
    (void)m;
    return false;
}

TEST(an_order_that_does_not_fail_again_gives_nothing)
{
    struct trial trial = {.model = &model, .broken = never};
    struct tg_reduce_result result;
    independent(&model, 20);
    model_shuffle(&model, 5);
    memcpy(failing, model.order, sizeof failing);
    struct tg_reduce_input input = input_of(&trial);
    CHECK_EQ_I(tg_reduce(&input, &result, NULL), TG_OK);
    CHECK_EQ_U(result.n, 0);
    CHECK(!result.spent);
    free(result.constraint);
}

TEST(a_spent_budget_gives_the_smallest_set_so_far_and_says_so)
{
    for (uint32_t budget = 1; budget < 20; budget++) {
        struct trial trial = {.model = &model, .broken = three_inversions};
        struct tg_reduce_result result;
        independent(&model, 60);
        REQUIRE(find_failing(&trial));
        struct tg_reduce_input input = input_of(&trial);
        input.budget = budget;
        CHECK_EQ_I(tg_reduce(&input, &result, NULL), TG_OK);
        CHECK(result.spent);
        CHECK_EQ_U(result.runs, budget);
        REQUIRE(result.n >= 3);
        model_run(&model, result.constraint, result.n);
        CHECK(three_inversions(&model));
        free(result.constraint);
    }
}

TEST(a_set_that_does_not_fail_every_time_is_not_taken_and_makes_the_result_flaky)
{
    struct trial trial = {.model = &model, .broken = one_inversion, .flaky = 4};
    struct tg_reduce_result result;
    independent(&model, 40);
    trial.flaky = 0;
    REQUIRE(find_failing(&trial));
    trial.flaky = 4;
    struct tg_reduce_input input = input_of(&trial);
    input.confirm = 5;
    CHECK_EQ_I(tg_reduce(&input, &result, NULL), TG_OK);
    CHECK_EQ_U(result.n, 0);
    CHECK(result.flaky);
    free(result.constraint);
}

TEST(a_predicate_that_stops_cancels_at_once)
{
    struct trial trial = {.model = &model, .broken = one_inversion};
    struct tg_reduce_result result;
    struct tg_error error;
    independent(&model, 40);
    REQUIRE(find_failing(&trial));
    trial.stop_at = 3;
    struct tg_reduce_input input = input_of(&trial);
    CHECK_EQ_I(tg_reduce(&input, &result, &error), TG_CANCELLED);
    CHECK_EQ_U(trial.runs, 3);
    free(result.constraint);
}

TEST(an_order_with_more_constraints_than_a_run_takes_is_not_run)
{
    struct trial trial = {.model = &model, .broken = one_inversion};
    struct tg_reduce_result result;
    independent(&model, 100);
    REQUIRE(find_failing(&trial));
    struct tg_reduce_input input = input_of(&trial);
    input.most = 10;
    CHECK_EQ_I(tg_reduce(&input, &result, NULL), TG_OK);
    CHECK(result.too_many);
    CHECK_EQ_U(result.n, 0);
    CHECK_EQ_U(result.runs, 0);
    free(result.constraint);
}

TEST_MAIN()
