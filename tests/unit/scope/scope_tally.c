/* SPDX-License-Identifier: Apache-2.0 */
/* Adding up samples: peaks, pairs of samples, and the order of the rows. */
#define _GNU_SOURCE 1
#include "unit/scope/scope.h"

static struct tg_scope_tally tally;

static void start(void)
{
    tg_scope_tally_free(&tally);
    tg_scope_tally_init(&tally, &scope_limits);
}

TEST(a_scope_has_the_peak_that_its_end_tells)
{
    start();
    scope_add(&tally, scope_begin("a", 0, 1));
    scope_add(&tally, scope_end("a", 0, 3, 9));
    tg_scope_tally_end(&tally);
    CHECK_EQ_U(scope_row(&tally, "a", 0)->peak[TG_SCOPE_TASK_WINDOW], 9);
    CHECK_EQ_U(tally.ring_peak[0].of[TG_SCOPE_TASK_WINDOW], 9);
}

TEST(without_measured_peaks_begin_and_end_count)
{
    start();
    scope_add(&tally, scope_begin("falls", 0, 7));
    scope_add(&tally, scope_end("falls", 0, 2, 0));
    scope_add(&tally, scope_begin("rises", 0, 2));
    scope_add(&tally, scope_end("rises", 0, 5, 0));
    tg_scope_tally_end(&tally);
    CHECK_EQ_U(scope_row(&tally, "falls", 0)->peak[TG_SCOPE_TASK_WINDOW], 7);
    CHECK_EQ_U(scope_row(&tally, "rises", 0)->peak[TG_SCOPE_TASK_WINDOW], 5);
}

TEST(a_scope_has_what_scopes_inside_it_on_its_ring_had)
{
    start();
    scope_add(&tally, scope_begin("outer", 3, 1));
    scope_add(&tally, scope_begin("inner", 4, 2));
    scope_add(&tally, scope_end("inner", 4, 50, 0));
    scope_add(&tally, scope_end("outer", 3, 4, 0));
    tg_scope_tally_end(&tally);
    CHECK_EQ_U(scope_row(&tally, "outer", 3)->peak[TG_SCOPE_TASK_WINDOW], 50);
}

TEST(what_scopes_inside_it_had_on_other_rings_is_not_a_scopes_own)
{
    start();
    scope_add(&tally, scope_begin("outer", 1, 1));
    scope_add(&tally, scope_begin("inner", 2, 2));
    scope_add(&tally, scope_end("inner", 2, 50, 60));
    scope_add(&tally, scope_end("outer", 1, 4, 0));
    tg_scope_tally_end(&tally);
    CHECK_EQ_U(scope_row(&tally, "outer", 1)->peak[TG_SCOPE_TASK_WINDOW], 4);
    CHECK_EQ_U(scope_row(&tally, "inner", 2)->peak[TG_SCOPE_TASK_WINDOW], 60);
}

TEST(the_ring_in_between_does_not_hide_the_ring_further_out)
{
    start();
    struct tg_scope_sample inner = scope_end("inner", 2, 50, 0);
    scope_add(&tally, scope_begin("outer", 1, 1));
    scope_add(&tally, scope_begin("middle", 2, 1));
    inner.ring = 1;
    inner.depth = 3;
    scope_add(&tally, inner);
    scope_add(&tally, scope_end("middle", 2, 1, 0));
    scope_add(&tally, scope_end("outer", 1, 1, 0));
    tg_scope_tally_end(&tally);
    CHECK_EQ_U(scope_row(&tally, "outer", 1)->peak[TG_SCOPE_TASK_WINDOW], 50);
    CHECK_EQ_U(scope_row(&tally, "middle", 2)->peak[TG_SCOPE_TASK_WINDOW], 1);
}

TEST(the_tensor_map_is_every_open_scopes)
{
    start();
    scope_add(&tally, scope_sample("outer", false, 0, 0, 0, 0, 5));
    scope_add(&tally, scope_sample("inner", false, 1, 0, 0, 0, 90));
    scope_add(&tally, scope_sample("inner", true, 1, 0, 0, 0, 6));
    scope_add(&tally, scope_sample("outer", true, 0, 0, 0, 0, 4));
    tg_scope_tally_end(&tally);
    CHECK_EQ_U(scope_row(&tally, "outer", 0)->peak[TG_SCOPE_TENSORMAP], 90);
    CHECK_EQ_U(tally.tensormap_peak, 90);
}

TEST(a_site_is_counted_on_each_ring_with_its_depths)
{
    start();
    for (uint32_t depth = 0; depth < 6; depth++)
        scope_add(&tally, scope_begin("recursive", depth, depth));
    for (uint32_t depth = 6; depth-- > 0;)
        scope_add(&tally, scope_end("recursive", depth, depth, 0));
    tg_scope_tally_end(&tally);
    CHECK_EQ_U(tally.n_rows, 4);
    CHECK_EQ_U(tally.n_sites, 1);
    CHECK_EQ_U(scope_row(&tally, "recursive", 0)->count, 1);
    CHECK_EQ_U(scope_row(&tally, "recursive", 3)->count, 3);
    CHECK_EQ_U(scope_row(&tally, "recursive", 3)->depth_min, 3);
    CHECK_EQ_U(scope_row(&tally, "recursive", 3)->depth_max, 5);
}

/* Cursors near 2^63, in a ring of 8 KiB that has wrapped 2^50 times. */
TEST(totals_far_beyond_32_bits_and_many_rounds_are_exact)
{
    start();
    uint64_t start_of = (UINT64_C(1) << 63) + 12345;
    struct tg_scope_sample sample = scope_sample("far", false, 1, 0, 0, 0, 0);
    sample.heap_start = start_of;
    sample.heap_end = start_of + 8191;
    sample.task_window_start = UINT64_MAX - 31;
    sample.task_window_end = UINT64_MAX;
    scope_add(&tally, sample);
    sample.end = true;
    sample.heap_start = start_of + 8191;
    sample.heap_end = start_of + 8191 + 7000;
    scope_add(&tally, sample);
    tg_scope_tally_end(&tally);
    CHECK_EQ_U(scope_row(&tally, "far", 1)->peak[TG_SCOPE_HEAP], 8191);
    CHECK_EQ_U(scope_row(&tally, "far", 1)->peak[TG_SCOPE_TASK_WINDOW], 31);
    CHECK_EQ_U(tally.heap_step[1], 7000);
}

TEST(a_ring_that_goes_round_and_round_has_the_peak_of_its_fullest_moment)
{
    start();
    uint64_t head = UINT64_C(0xfffffff0), tail = head; /* crosses 2^32 too */
    for (uint64_t round = 0; round < 100000; round++) {
        struct tg_scope_sample sample = scope_begin("loop", 1, 0);
        uint64_t take = round == 77777 ? 31 : 1 + round % 29;
        sample.task_window_start = tail;
        sample.task_window_end = head;
        scope_add(&tally, sample);
        head += take;
        sample.end = true;
        sample.task_window_end = head;
        scope_add(&tally, sample);
        tail = head;
    }
    tg_scope_tally_end(&tally);
    CHECK_EQ_U(scope_row(&tally, "loop", 1)->peak[TG_SCOPE_TASK_WINDOW], 31);
    CHECK_EQ_U(scope_row(&tally, "loop", 1)->count, 100000);
}

TEST(the_heaps_step_is_the_largest_between_two_samples_of_its_ring)
{
    start();
    scope_add(&tally, scope_sample("a", false, 0, 0, 100, 0, 0));
    scope_add(&tally, scope_sample("b", false, 1, 0, 4000, 0, 0)); /* another ring */
    scope_add(&tally, scope_sample("b", true, 1, 0, 4064, 0, 0));
    scope_add(&tally, scope_sample("a", true, 0, 0, 700, 0, 0));
    tg_scope_tally_end(&tally);
    CHECK_EQ_U(tally.heap_step[0], 600);
    CHECK_EQ_U(tally.heap_step[1], 64);
    CHECK_EQ_U(tally.heap_step[2], 0);
}

TEST(a_step_is_never_more_than_was_in_use)
{
    start();
    struct tg_scope_sample sample = scope_sample("a", false, 0, 0, 100, 0, 0);
    scope_add(&tally, sample);
    sample.heap_start += 1000000; /* as if samples were missing in between */
    sample.heap_end += 1000000;
    scope_add(&tally, sample);
    tg_scope_tally_end(&tally);
    CHECK_EQ_U(tally.heap_step[0], 100);
}

TEST(a_scope_that_never_ends_counts_with_what_is_known)
{
    start();
    scope_add(&tally, scope_begin("main", 0, 1));
    scope_add(&tally, scope_begin("stuck", 1, 12));
    tg_scope_tally_end(&tally);
    CHECK_EQ_U(tally.left_open, 2);
    CHECK_EQ_U(tally.without_end, 0);
    CHECK_EQ_U(scope_row(&tally, "stuck", 1)->peak[TG_SCOPE_TASK_WINDOW], 12);
    CHECK_EQ_U(scope_row(&tally, "main", 0)->count, 1);
}

TEST(a_missing_end_does_not_take_the_next_scopes_end)
{
    start();
    scope_add(&tally, scope_begin("a", 1, 12));
    scope_add(&tally, scope_begin("b", 1, 2));
    scope_add(&tally, scope_end("b", 1, 3, 4));
    tg_scope_tally_end(&tally);
    CHECK_EQ_U(tally.without_end, 1);
    CHECK_EQ_U(scope_row(&tally, "a", 1)->count, 1);
    CHECK_EQ_U(scope_row(&tally, "b", 1)->peak[TG_SCOPE_TASK_WINDOW], 4);
}

TEST(a_missing_begin_leaves_a_scope_all_the_same)
{
    start();
    scope_add(&tally, scope_begin("outer", 3, 1));
    scope_add(&tally, scope_end("lost", 4, 3, 40));
    scope_add(&tally, scope_end("outer", 3, 2, 2));
    tg_scope_tally_end(&tally);
    CHECK_EQ_U(tally.without_begin, 1);
    CHECK_EQ_U(tally.without_end, 0);
    CHECK_EQ_U(scope_row(&tally, "lost", 3)->count, 1);
    CHECK_EQ_U(scope_row(&tally, "outer", 3)->peak[TG_SCOPE_TASK_WINDOW], 40);
}

TEST(an_end_of_another_site_at_that_depth_is_no_pair)
{
    start();
    scope_add(&tally, scope_begin("a", 1, 9));
    scope_add(&tally, scope_end("b", 1, 3, 0));
    tg_scope_tally_end(&tally);
    CHECK_EQ_U(tally.without_begin, 1);
    CHECK_EQ_U(tally.without_end, 1);
    CHECK_EQ_U(scope_row(&tally, "b", 1)->peak[TG_SCOPE_TASK_WINDOW], 3);
}

TEST(nesting_deeper_than_any_device_is_survived)
{
    start();
    for (uint32_t depth = 0; depth < 10000; depth++)
        scope_add(&tally, scope_begin("deep", depth, depth % 100));
    for (uint32_t depth = 10000; depth-- > 0;)
        scope_add(&tally, scope_end("deep", depth, 0, 0));
    tg_scope_tally_end(&tally);
    CHECK_EQ_U(tally.samples, 20000);
    CHECK_EQ_U(scope_row(&tally, "deep", 3)->peak[TG_SCOPE_TASK_WINDOW], 99);
}

TEST(names_are_clean_and_the_same_name_is_one_site)
{
    start();
    uint32_t a, b, c, d;
    CHECK(tg_scope_tally_site(&tally, "x\x1b[31m", 6, &a));
    CHECK(tg_scope_tally_site(&tally, "x\x1b[31m", 6, &b));
    CHECK(tg_scope_tally_site(&tally, "x?[31m", 6, &c));
    CHECK(tg_scope_tally_site(&tally, "", 0, &d));
    CHECK_EQ_U(a, b);
    CHECK_EQ_U(a, c);
    CHECK_EQ_S(tally.site[a].name, "x?[31m");
    CHECK_EQ_S(tally.site[d].name, TG_SCOPE_NO_SITE);
}

TEST(many_sites_are_found_again_and_too_many_become_one)
{
    start();
    char name[32];
    uint32_t site;
    for (uint32_t i = 0; i < TG_SCOPE_MOST_SITES + 100; i++) {
        snprintf(name, sizeof name, "file.c:%u", (unsigned)i);
        REQUIRE(tg_scope_tally_site(&tally, name, strlen(name), &site));
        if (i < TG_SCOPE_MOST_SITES)
            CHECK_EQ_U(site, i);
    }
    CHECK_EQ_U(tally.n_sites, TG_SCOPE_MOST_SITES + 1);
    CHECK_EQ_S(tally.site[site].name, "(others)");
    CHECK(tg_scope_tally_site(&tally, "file.c:4711", 11, &site));
    CHECK_EQ_U(site, 4711);
}

TEST(rows_are_in_order_of_what_is_nearest_to_full)
{
    start();
    scope_add(&tally, scope_sample("half", true, 0, 8, 0, 0, 0));
    scope_add(&tally, scope_sample("most", true, 0, 0, 0, 90, 0));
    scope_add(&tally, scope_sample("b_little", true, 0, 1, 0, 0, 0));
    scope_add(&tally, scope_sample("a_little", true, 0, 1, 0, 0, 0));
    tg_scope_tally_end(&tally);
    static const char *const order[] = {"most", "half", "a_little", "b_little"};
    for (int i = 0; i < 4; i++)
        CHECK_EQ_S(tally.site[tally.row[i].site].name, order[i]);
    CHECK_EQ_U(tg_scope_nearest(&tally.limits, &tally.row[0]), TG_SCOPE_DEP_POOL);
}

TEST(what_failed_was_in_use_even_without_a_sample)
{
    start();
    struct tg_scope_fatal fatal = {.on = true,
                                   .resource = TG_SCOPE_TASK_WINDOW,
                                   .ring = 1,
                                   .site = "guilty",
                                   .used = 32,
                                   .capacity = 32,
                                   .wanted = 1};
    CHECK(tg_scope_tally_fatal(&tally, &fatal));
    tg_scope_tally_end(&tally);
    CHECK_EQ_U(scope_row(&tally, "guilty", 1)->peak[TG_SCOPE_TASK_WINDOW], 32);
    CHECK_EQ_U(scope_row(&tally, "guilty", 1)->count, 0);
    CHECK_EQ_U(scope_row(&tally, "guilty", 1)->depth_min, 0);
    CHECK_EQ_U(tally.ring_peak[1].of[TG_SCOPE_TASK_WINDOW], 32);
}

TEST(the_share_of_what_is_not_there_is_all_or_nothing)
{
    CHECK_NEAR(tg_scope_share(0, 0), 0, 0);
    CHECK_NEAR(tg_scope_share(5, 0), 1, 0);
    CHECK_NEAR(tg_scope_share(5, 10), 0.5, 0);
    CHECK_NEAR(tg_scope_share(UINT64_MAX, UINT64_MAX), 1, 0);
    tg_scope_tally_free(&tally);
}

TEST(waits_add_up_per_site_and_per_ring)
{
    start();
    scope_add(&tally, scope_begin("outer", 0, 0));
    for (int i = 0; i < 2; i++) {
        scope_add(&tally, scope_begin("inner", 1, 0));
        scope_add(&tally, scope_waited(scope_end("inner", 1, 32, 32), TG_SCOPE_TASK_WINDOW, 3));
    }
    scope_add(&tally, scope_waited(scope_end("outer", 0, 0, 0), TG_SCOPE_TENSORMAP, 5));
    tg_scope_tally_end(&tally);
    CHECK_EQ_U(tally.ends_with_waits, 3);
    CHECK_EQ_U(tally.waits[1][TG_SCOPE_TASK_WINDOW], 6);
    CHECK_EQ_U(tally.waits[0][TG_SCOPE_TASK_WINDOW], 0);
    CHECK_EQ_U(tally.waits[0][TG_SCOPE_TENSORMAP], 5);
    CHECK_EQ_U(scope_row(&tally, "inner", 1)->waits[TG_SCOPE_TASK_WINDOW], 6);
    CHECK_EQ_U(scope_row(&tally, "inner", 1)->wait_ns, 6000);
    CHECK_EQ_U(scope_row(&tally, "outer", 0)->waits[TG_SCOPE_TASK_WINDOW], 0);
    CHECK_EQ_U(scope_row(&tally, "outer", 0)->wait_ns, 5000);
}

/* Four scopes in each other; the innermost two share ring 3. */
static void add_nest(uint32_t rings)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    for (uint32_t depth = 0; depth < 5; depth++)
        scope_add(&tally, scope_begin(names[depth], depth, 0));
    for (uint32_t depth = 5; depth-- > 0;) {
        struct tg_scope_sample sample = scope_end(names[depth], depth, 1, 10 + depth);
        sample.rings = rings;
        scope_add(&tally, sample);
    }
    tg_scope_tally_end(&tally);
}

TEST(a_scope_has_a_row_for_every_ring_that_scopes_inside_it_used)
{
    start();
    add_nest(8 | 4 | 1); /* no scope took anything of ring 1 */
    CHECK_EQ_U(scope_row(&tally, "a", 0)->count, 1);
    CHECK_EQ_U(scope_row(&tally, "a", 0)->touched, 0);
    CHECK_EQ_U(scope_row(&tally, "a", 3)->count, 0);
    CHECK_EQ_U(scope_row(&tally, "a", 3)->touched, 1);
    CHECK_EQ_U(scope_row(&tally, "a", 3)->peak[TG_SCOPE_TASK_WINDOW], 14);
    CHECK_EQ_U(scope_row(&tally, "a", 2)->peak[TG_SCOPE_TASK_WINDOW], 12);
    CHECK_EQ_U(scope_row(&tally, "b", 3)->depth_max, 1);
    uint64_t scopes = 0;
    for (uint32_t i = 0; i < tally.n_rows; i++)
        scopes += tally.row[i].count;
    CHECK_EQ_U(scopes, 5);
}

TEST(without_being_told_a_scope_has_a_row_for_its_own_ring_alone)
{
    start();
    add_nest(0);
    CHECK_EQ_U(tally.n_rows, 5);
}

TEST(the_fanin_pool_of_another_implementation_has_its_peak)
{
    start();
    struct tg_scope_sample sample = scope_begin("a", 0, 1);
    sample.fanin_start = 10;
    sample.fanin_end = 17;
    scope_add(&tally, sample);
    sample.end = true;
    sample.fanin_start = 15;
    scope_add(&tally, sample);
    tg_scope_tally_end(&tally);
    CHECK_EQ_U(scope_row(&tally, "a", 0)->fanin, 7);
}

TEST(long_names_keep_their_end_and_stay_apart)
{
    static char long_name[2][5000];
    start();
    for (int i = 0; i < 2; i++) {
        memset(long_name[i], 'x', sizeof long_name[i]);
        strcpy(long_name[i] + sizeof long_name[i] - 12, "/room.c:123");
        long_name[i][0] = (char)('a' + i);
        for (int twice = 0; twice < 2; twice++)
            scope_add(&tally, scope_begin(long_name[i], 0, 1));
    }
    tg_scope_tally_end(&tally);
    CHECK_EQ_U(tally.n_sites, 2);
    for (uint32_t i = 0; i < 2; i++)
        CHECK_HAS(tally.site[i].name, "/room.c:123 (path ");
    CHECK(strcmp(tally.site[0].name, tally.site[1].name) != 0);
}

TEST_MAIN()
