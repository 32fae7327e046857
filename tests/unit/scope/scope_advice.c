/* SPDX-License-Identifier: Apache-2.0 */
/* Advice on the sizes of rings. */
#define _GNU_SOURCE 1
#include "unit/scope/scope.h"

static struct tg_scope_stats stats;
static struct tg_scope_advice advice;
static struct tg_scope_option option;

static void start(const struct tg_scope_limits *limits)
{
    tg_scope_stats_free(&stats);
    memset(&stats, 0, sizeof stats);
    tg_scope_tally_init(&stats.tally, limits);
}

static void finish(void)
{
    stats.total = stats.tally.samples;
    if (stats.guilty.known)
        CHECK(tg_scope_tally_fatal(&stats.tally, &stats.guilty.fatal));
    tg_scope_tally_end(&stats.tally);
    tg_scope_advise(&stats, &advice);
}

static const struct tg_scope_need *need(unsigned resource, uint32_t ring)
{
    return &advice.need[resource][ring];
}

TEST(the_smallest_safe_setting_is_the_peak)
{
    start(&scope_limits);
    scope_add(&stats.tally, scope_sample("a", false, 1, 7, 0, 20, 30));
    scope_add(&stats.tally, scope_sample("a", true, 1, 11, 0, 25, 28));
    finish();
    CHECK_EQ_U(need(TG_SCOPE_TASK_WINDOW, 1)->smallest, 11);
    CHECK_EQ_U(need(TG_SCOPE_TASK_WINDOW, 1)->capacity, 32);
    CHECK_EQ_I(need(TG_SCOPE_TASK_WINDOW, 1)->verdict, TG_SCOPE_LARGER);
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_TASK_WINDOW, &option),
               "--ring-task-window 4,11,4,4");
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_DEP_POOL, &option), "--ring-dep-pool 4,25,4,4");
    /* What the map held between two samples is not known without a measured peak. */
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_TENSORMAP, &option), "");
    stats.ends_with_peak = 1;
    finish();
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_TENSORMAP, &option), "--tensormap 30");
}

TEST(the_heap_gets_its_largest_step_on_top_and_is_rounded)
{
    start(&scope_limits);
    scope_add(&stats.tally, scope_sample("a", false, 1, 0, 1000, 0, 0));
    scope_add(&stats.tally, scope_sample("a", true, 1, 0, 3000, 0, 0));
    finish();
    CHECK_EQ_U(need(TG_SCOPE_HEAP, 1)->peak, 3000);
    CHECK_EQ_U(need(TG_SCOPE_HEAP, 1)->smallest, 5120); /* 3000 + 2000, in whole KiB */
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_HEAP, &option), "--ring-heap 256,5K,256,256");
}

/* 20 are in use, then 30 more are taken while 25 are freed: the order is unknown. */
static void add_unclear(uint64_t measured)
{
    struct tg_scope_sample sample = scope_begin("a", 1, 20);
    scope_add(&stats.tally, sample);
    sample.end = true;
    sample.task_window_start += 25;
    sample.task_window_end += 10;
    sample.peak[TG_SCOPE_TASK_WINDOW] = measured;
    stats.ends_with_peak = measured > 0;
    scope_add(&stats.tally, sample);
    finish();
}

TEST(without_measured_peaks_the_most_that_can_have_been_in_use_counts)
{
    start(&scope_limits);
    add_unclear(0);
    CHECK_EQ_U(need(TG_SCOPE_TASK_WINDOW, 1)->peak, 20);
    CHECK_EQ_U(need(TG_SCOPE_TASK_WINDOW, 1)->smallest, 30);
    start(&scope_limits);
    add_unclear(22);
    CHECK_EQ_U(need(TG_SCOPE_TASK_WINDOW, 1)->smallest, 22);
}

TEST(no_more_can_have_been_in_use_than_there_is)
{
    struct tg_scope_limits small = scope_limits;
    small.task_window[1] = 24;
    start(&small);
    add_unclear(0);
    CHECK_EQ_U(need(TG_SCOPE_TASK_WINDOW, 1)->smallest, 24);
    CHECK_EQ_I(need(TG_SCOPE_TASK_WINDOW, 1)->verdict, TG_SCOPE_FITS);
}

TEST(equal_rings_are_one_number)
{
    start(&scope_limits);
    finish();
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_TASK_WINDOW, &option), "--ring-task-window 4");
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_HEAP, &option), "--ring-heap 256");
}

TEST(what_is_set_now_has_the_same_words)
{
    start(&scope_limits);
    finish();
    CHECK_EQ_S(tg_scope_present(&advice, TG_SCOPE_TASK_WINDOW, &option), "16,32,64,128");
    CHECK_EQ_S(tg_scope_present(&advice, TG_SCOPE_HEAP, &option), "4K,8K,16K,32K");
    CHECK_EQ_S(tg_scope_present(&advice, TG_SCOPE_TENSORMAP, &option), "1000");
}

TEST(a_run_with_one_ring_is_advised_about_one)
{
    static const struct tg_scope_limits one = {
        .n_rings = 1, .task_window = {64}, .heap = {1 << 20}, .dep_pool = {64}};
    start(&one);
    scope_add(&stats.tally, scope_sample("a", true, 0, 9, 0, 0, 0));
    finish();
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_TASK_WINDOW, &option), "--ring-task-window 9");
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_TENSORMAP, &option), "");
    CHECK_EQ_I(need(TG_SCOPE_TENSORMAP, 0)->verdict, TG_SCOPE_ABSENT);
}

TEST(without_rings_there_is_nothing_to_set)
{
    start(&(struct tg_scope_limits){0});
    finish();
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++)
        CHECK_EQ_S(tg_scope_option(&advice, resource, &option), "");
}

TEST(a_ring_that_was_full_says_so)
{
    start(&scope_limits);
    scope_add(&stats.tally, scope_sample("a", true, 0, 16, 0, 0, 0));
    finish();
    CHECK_EQ_I(need(TG_SCOPE_TASK_WINDOW, 0)->verdict, TG_SCOPE_FULL);
    CHECK_EQ_I(tg_scope_overall(&advice, TG_SCOPE_TASK_WINDOW), TG_SCOPE_FULL);
}

TEST(a_heap_without_its_margin_is_tight)
{
    start(&scope_limits);
    scope_add(&stats.tally, scope_sample("a", false, 1, 0, 0, 0, 0));
    scope_add(&stats.tally, scope_sample("a", true, 1, 0, 8000, 0, 0));
    finish();
    CHECK_EQ_I(need(TG_SCOPE_HEAP, 1)->verdict, TG_SCOPE_TIGHT);
    CHECK_EQ_U(need(TG_SCOPE_HEAP, 1)->smallest, 16384); /* 16000 */
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_HEAP, &option), "--ring-heap 256,16K,256,256");
}

TEST(exactly_enough_is_just_right)
{
    static const struct tg_scope_limits least = {.n_rings = 1, .task_window = {4}, .dep_pool = {4}};
    start(&least);
    scope_add(&stats.tally, scope_sample("a", true, 0, 2, 0, 1, 0));
    finish();
    CHECK_EQ_I(tg_scope_overall(&advice, TG_SCOPE_TASK_WINDOW), TG_SCOPE_FITS);
}

static void fail_with(const char *text)
{
    stats.fatal = stats.guilty.known = true;
    stats.guilty.fatal = (struct tg_scope_fatal){.on = true,
                                                 .resource = TG_SCOPE_TASK_WINDOW,
                                                 .ring = 1,
                                                 .site = "a",
                                                 .used = 32,
                                                 .capacity = 32,
                                                 .wanted = 8,
                                                 .advice = text};
}

TEST(a_failed_run_is_advised_what_it_counted_and_to_keep_the_rest)
{
    start(&scope_limits);
    scope_add(&stats.tally, scope_sample("a", false, 1, 32, 0, 5, 0));
    fail_with("--ring-task-window 391");
    finish();
    CHECK_EQ_U(need(TG_SCOPE_TASK_WINDOW, 1)->smallest, 391);
    CHECK_EQ_I(need(TG_SCOPE_TASK_WINDOW, 1)->verdict, TG_SCOPE_TOO_SMALL);
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_TASK_WINDOW, &option),
               "--ring-task-window 16,391,64,128");
    CHECK_EQ_I(tg_scope_overall(&advice, TG_SCOPE_DEP_POOL), TG_SCOPE_SO_FAR);
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_DEP_POOL, &option), "");
}

TEST(without_a_number_in_its_advice_what_was_wanted_counts)
{
    static const char *const texts[] = {NULL,
                                        "",
                                        "close scopes earlier",
                                        "--ring-heap 5G",
                                        "--ring-task-windows 99",
                                        "--ring-task-window",
                                        "--ring-task-window 99999999999T"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        start(&scope_limits);
        fail_with(texts[i]);
        finish();
        CHECK_EQ_U(need(TG_SCOPE_TASK_WINDOW, 1)->smallest, 40);
    }
}

TEST(sizes_in_the_advice_are_understood)
{
    start(&scope_limits);
    fail_with("--ring-heap 3M");
    stats.guilty.fatal.resource = TG_SCOPE_HEAP;
    finish();
    CHECK_EQ_U(need(TG_SCOPE_HEAP, 1)->smallest, 3 << 20);
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_HEAP, &option), "--ring-heap 4K,3M,16K,32K");
}

TEST(a_full_tensor_map_is_raised_whatever_the_ring)
{
    start(&scope_limits);
    fail_with(NULL);
    stats.guilty.fatal.resource = TG_SCOPE_TENSORMAP;
    stats.guilty.fatal.ring = 3;
    stats.guilty.fatal.used = 1000;
    finish();
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_TENSORMAP, &option), "--tensormap 1008");
}

TEST(where_samples_are_missing_nothing_is_made_smaller)
{
    start(&scope_limits);
    scope_add(&stats.tally, scope_sample("a", true, 0, 1, 0, 0, 0));
    stats.dropped = 1;
    finish();
    CHECK(advice.partial);
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++)
        CHECK_EQ_S(tg_scope_option(&advice, resource, &option), "");
}

/* --- waiting ----------------------------------------------------------------------------------- */

static const struct tg_scope_limits one_ring = {
    .n_rings = 1, .task_window = {14}, .heap = {1024}, .dep_pool = {4}, .tensormap = 0};

/* One scope that waited, after the run had taken and asked for this much in all. */
static void wait_for(const struct tg_scope_limits *limits, unsigned resource, uint64_t all)
{
    start(limits);
    struct tg_scope_sample sample = scope_begin("a", 0, 0);
    scope_add(&stats.tally, sample);
    sample.end = true;
    sample.task_window_start = sample.task_window_end += resource == TG_SCOPE_TASK_WINDOW ? all : 9;
    sample.heap_start = sample.heap_end += resource == TG_SCOPE_HEAP ? all : 9;
    sample.asked_dep_pool[0] = resource == TG_SCOPE_DEP_POOL ? all : 9;
    sample.asked_tensormap = resource == TG_SCOPE_TENSORMAP ? all : 9;
    sample.peak[resource] = tg_scope_capacity(limits, resource, 0) - 1;
    scope_add(&stats.tally, scope_waited(sample, resource, 7));
    finish();
}

TEST(a_ring_that_was_waited_for_is_full_and_gets_room_for_all_that_the_run_took)
{
    wait_for(&one_ring, TG_SCOPE_TASK_WINDOW, 300);
    const struct tg_scope_need *slots = need(TG_SCOPE_TASK_WINDOW, 0);
    CHECK_EQ_I(slots->verdict, TG_SCOPE_FULL);
    CHECK_EQ_U(slots->peak, 14);
    CHECK_EQ_U(slots->waits, 7);
    CHECK_EQ_U(slots->larger, 300);
    CHECK(slots->never);
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_TASK_WINDOW, &option), "--ring-task-window 300");
}

TEST(while_it_waited_for_one_resource_the_others_are_not_made_smaller)
{
    wait_for(&one_ring, TG_SCOPE_TASK_WINDOW, 300);
    CHECK_EQ_I(need(TG_SCOPE_HEAP, 0)->verdict, TG_SCOPE_SO_FAR);
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_HEAP, &option), "");
    wait_for(&scope_limits, TG_SCOPE_TASK_WINDOW, 300);
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_TASK_WINDOW, &option),
               "--ring-task-window 300,32,64,128");
}

TEST(what_would_be_full_next_is_enlarged_too)
{
    wait_for(&one_ring, TG_SCOPE_TASK_WINDOW, 300); /* and 9 dependencies were asked for */
    CHECK_EQ_I(need(TG_SCOPE_DEP_POOL, 0)->verdict, TG_SCOPE_SO_FAR);
    CHECK_EQ_U(need(TG_SCOPE_DEP_POOL, 0)->larger, 9);
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_DEP_POOL, &option), "--ring-dep-pool 9");
}

TEST(a_run_whose_samples_are_missing_promises_nothing)
{
    wait_for(&one_ring, TG_SCOPE_TASK_WINDOW, 300);
    stats.dropped = 1;
    tg_scope_advise(&stats, &advice);
    CHECK_EQ_U(need(TG_SCOPE_TASK_WINDOW, 0)->larger, 300);
    CHECK(!need(TG_SCOPE_TASK_WINDOW, 0)->never);
}

TEST(every_resource_that_was_waited_for_is_enlarged)
{
    wait_for(&one_ring, TG_SCOPE_HEAP, 30001);
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_HEAP, &option), "--ring-heap 30K");
    CHECK(need(TG_SCOPE_HEAP, 0)->never);
    wait_for(&one_ring, TG_SCOPE_DEP_POOL, 50);
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_DEP_POOL, &option), "--ring-dep-pool 50");
    CHECK(need(TG_SCOPE_DEP_POOL, 0)->never);
    wait_for(&scope_limits, TG_SCOPE_TENSORMAP, 5000);
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_TENSORMAP, &option), "--tensormap 5000");
    CHECK(need(TG_SCOPE_TENSORMAP, 0)->never);
}

TEST(edges_that_the_tensor_map_finds_may_be_more_in_another_run)
{
    wait_for(&scope_limits, TG_SCOPE_DEP_POOL, 150);
    CHECK_EQ_U(need(TG_SCOPE_DEP_POOL, 0)->larger, 300);
    CHECK(!need(TG_SCOPE_DEP_POOL, 0)->never);
}

TEST(a_long_run_is_advised_the_default_or_twice_the_size)
{
    wait_for(&one_ring, TG_SCOPE_TASK_WINDOW, 1000000);
    CHECK_EQ_U(need(TG_SCOPE_TASK_WINDOW, 0)->larger, 16384);
    CHECK(!need(TG_SCOPE_TASK_WINDOW, 0)->never);
    struct tg_scope_limits large = one_ring;
    large.task_window[0] = 100000;
    wait_for(&large, TG_SCOPE_TASK_WINDOW, 1000000);
    CHECK_EQ_U(need(TG_SCOPE_TASK_WINDOW, 0)->larger, 200000);
    large.task_window[0] = (1 << 20) - 5;
    wait_for(&large, TG_SCOPE_TASK_WINDOW, 5000000);
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_TASK_WINDOW, &option),
               "--ring-task-window 1048576"); /* the most that the option takes */
}

TEST(a_ring_that_was_full_and_never_waited_for_stays_as_it_is)
{
    start(&one_ring);
    scope_add(&stats.tally, scope_begin("a", 0, 3));
    scope_add(&stats.tally, scope_waited(scope_end("a", 0, 3, 14), TG_SCOPE_TASK_WINDOW, 0));
    finish();
    CHECK_EQ_I(need(TG_SCOPE_TASK_WINDOW, 0)->verdict, TG_SCOPE_FULL);
    CHECK(need(TG_SCOPE_TASK_WINDOW, 0)->waits_known);
    CHECK_EQ_U(need(TG_SCOPE_TASK_WINDOW, 0)->larger, 0);
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_TASK_WINDOW, &option), "--ring-task-window 14");
}

/* --- limits ------------------------------------------------------------------------------------ */

TEST(rings_that_outgrow_the_device_need_more_memory)
{
    struct tg_scope_limits small = one_ring;
    small.memory = (struct tg_scope_memory){
        .size = 64 << 20, .used = 60 << 20, .task = 1000, .dep = 8, .entry = 216};
    wait_for(&small, TG_SCOPE_HEAP, 100 << 20);
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_HEAP, &option), "--ring-heap 100M");
    CHECK_EQ_S(tg_scope_memory_option(&advice, &option), "--device-memory 192M");
    wait_for(&small, TG_SCOPE_TASK_WINDOW, 10000);
    CHECK_EQ_S(tg_scope_memory_option(&advice, &option), "--device-memory 128M");
    wait_for(&small, TG_SCOPE_TASK_WINDOW, 300);
    CHECK_EQ_S(tg_scope_memory_option(&advice, &option), "");
    wait_for(&one_ring, TG_SCOPE_HEAP, 100 << 20); /* it is unknown how much there is */
    CHECK_EQ_S(tg_scope_memory_option(&advice, &option), "");
}

TEST(what_no_option_accepts_is_not_advised)
{
    start(&scope_limits);
    fail_with("--ring-task-window 2000000");
    finish();
    CHECK_EQ_I(need(TG_SCOPE_TASK_WINDOW, 1)->verdict, TG_SCOPE_TOO_SMALL);
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_TASK_WINDOW, &option), "");
}

TEST(the_advice_of_a_failed_run_is_understood_ring_by_ring_and_option_by_option)
{
    start(&scope_limits);
    fail_with("--ring-task-window 16,50,64,300 --ring-heap 9K --ring-dep-pool 100,200,500,400");
    finish();
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_TASK_WINDOW, &option),
               "--ring-task-window 16,50,64,300");
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_HEAP, &option), "--ring-heap 9K,9K,16K,32K");
    CHECK_EQ_S(tg_scope_option(&advice, TG_SCOPE_DEP_POOL, &option),
               "--ring-dep-pool 100,200,500,400");
}

TEST(the_largest_numbers_do_not_overflow)
{
    start(&scope_limits);
    struct tg_scope_sample sample = scope_sample("a", true, 0, 0, 0, 0, UINT64_MAX);
    sample.heap_start = sample.task_window_start = 0;
    sample.heap_end = sample.task_window_end = UINT64_MAX;
    scope_add(&stats.tally, sample);
    fail_with("--ring-heap 18446744073709551615");
    stats.guilty.fatal.resource = TG_SCOPE_HEAP;
    stats.guilty.fatal.ring = 0;
    stats.guilty.fatal.wanted = UINT64_MAX;
    finish();
    CHECK(need(TG_SCOPE_HEAP, 0)->smallest > UINT64_MAX - 1024);
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++)
        CHECK(strlen(tg_scope_option(&advice, resource, &option)) < sizeof option.text - 1);
    tg_scope_stats_free(&stats);
}

TEST_MAIN()
