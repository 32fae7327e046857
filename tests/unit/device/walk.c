/* SPDX-License-Identifier: Apache-2.0 */
/* Walks with one lane, as loops: what tests/gpu/lanes.cu compares 32 lanes with. */
#include "test.h"
#include "walk_scene.h"
#include <stdlib.h>

static struct scene scene;

static void try_all(enum scene_kind kind)
{
    void *memory = NULL;
    REQUIRE(posix_memalign(&memory, TG_LINE, tg_engine_size(1, 0)) == 0);
    memset(memory, 0, tg_engine_size(1, 0));
    scene_open(&scene, memory);
    for (uint32_t count = 0; count < SCENE_COUNTS; count++)
        CHECK_EQ_I(scene_try(&scene, kind, count), 0); /* or a line of walk_scene.h */
    free(memory);
}

TEST(a_walk_over_fixed_edges_offers_every_successor_that_is_ready)
{
    try_all(SCENE_FIXED);
}

TEST(a_walk_over_fixed_edges_keeps_the_first_successor_that_the_worker_can_run)
{
    try_all(SCENE_FIXED_KEEP);
}

TEST(a_walk_over_growing_edges_offers_every_successor_that_is_ready)
{
    try_all(SCENE_GROWING);
}

TEST(a_walk_over_growing_edges_keeps_the_first_successor_that_the_worker_can_run)
{
    try_all(SCENE_GROWING_KEEP);
}

TEST(a_batch_from_the_queue_arrives_in_order)
{
    try_all(SCENE_FETCH);
}

TEST(half_of_a_victims_tasks_are_stolen_wherever_it_is)
{
    try_all(SCENE_STEAL);
}

TEST(a_worker_sees_how_many_tasks_follow_one_by_one)
{
    try_all(SCENE_AHEAD);
}

TEST(tasks_that_followed_one_by_one_are_closed_and_what_else_waits_is_offered)
{
    try_all(SCENE_CLOSE);
}

TEST(a_worker_claims_its_heir_and_sees_what_comes_after_it)
{
    try_all(SCENE_HEIR);
}

TEST_MAIN()
