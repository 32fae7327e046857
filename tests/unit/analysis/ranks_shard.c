/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <taskglass/ranks_answers.h>
#include <unistd.h>

#include "unit/recording/made.h"

static struct tg_shard shard;
static struct tg_error error;

/* ── the text of a shard ───────────────────────────────────────────────────────────────── */

TEST(a_split_names_the_dimension_that_ranks_share)
{
    REQUIRE(tg_shard_parse("mlp.2=b s(rank) h", &shard, &error) == TG_OK);
    CHECK_EQ_S(shard.kernel[0], "mlp");
    CHECK_EQ_S(shard.kernel[1], "mlp");
    CHECK(shard.how == TG_SHARD_SPLIT && shard.ndim == 3 && shard.argument[1] == 2);
    CHECK(shard.divide[0] == 0 && shard.divide[1] == 1 && shard.divide[2] == 0);
}

TEST(a_grid_divides_the_rank_in_two_ways)
{
    REQUIRE(tg_shard_parse("step.1=y(rank/4) x(rank%4)", &shard, &error) == TG_OK);
    CHECK(shard.divide[0] == 4 && shard.divide[1] == 1 && shard.modulo[1] == 4);
    REQUIRE(tg_shard_parse("step.1=y(rank/4%2)", &shard, &error) == TG_OK);
    CHECK(shard.divide[0] == 4 && shard.modulo[0] == 2);
}

TEST(the_ranks_may_have_other_kernels_and_tasks)
{
    REQUIRE(tg_shard_parse("gemm.2:part.0*=partial(max)", &shard, &error) == TG_OK);
    CHECK_EQ_S(shard.kernel[1], "part");
    CHECK(shard.argument[0] == 2 && shard.argument[1] == 0 && shard.operation == TG_MAX);
    CHECK(!shard.is_joined[0] && shard.is_joined[1]);
    REQUIRE(tg_shard_parse("@12.2:@1:7.3=replicated", &shard, &error) == TG_OK);
    CHECK(shard.task[0] == 12 && shard.task[1] == (UINT64_C(1) << 32 | 7));
    CHECK(shard.how == TG_SHARD_REPLICATED && shard.argument[1] == 3);
}

TEST(a_shard_that_means_nothing_says_why)
{
    static const char *const bad[] = {"",
                                      "x",
                                      "x.1",
                                      "x.1=",
                                      "x.1=a b",
                                      "x.1=a(rank",
                                      "x.1=a(rank/)",
                                      "x.1=(rank)",
                                      "x.99=a(rank)",
                                      "=a(rank)",
                                      ".1=replicated",
                                      "@z.1=replicated",
                                      "x.1:=replicated",
                                      "x.1=a(rank)b",
                                      "x.1=partial(mean)"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(tg_shard_parse(bad[i], &shard, &error) == TG_BAD_ARGUMENT);
        CHECK(strstr(error.text, "--shard"));
    }
}

/* ── one device beside two ranks ───────────────────────────────────────────────────────── */

enum { RANKS = 2, MOST_RESULTS = 8 };

static struct made one, rank[RANKS];
static bool is_absent[RANKS]; /* its folder is not there */
static char dir[256];
static struct tg_shard_result found[MOST_RESULTS];
static int n_found;

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *walk)
{
    (void)status;
    (void)flag;
    (void)walk;
    return remove(path);
}

static void make_sides(void)
{
    made_begin(&one);
    for (int r = 0; r < RANKS; r++) {
        made_begin(&rank[r]);
        is_absent[r] = false;
    }
}

static FILE *create(const char *folder, const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    REQUIRE(file);
    return file;
}

static void write_rank(int r)
{
    char folder[300], dump[400];
    snprintf(folder, sizeof folder, "%s/rank%d", dir, r);
    snprintf(dump, sizeof dump, "%s/tensor_dump", folder);
    REQUIRE(mkdir(folder, 0700) == 0 && mkdir(dump, 0700) == 0);
    FILE *file = create(dump, "tensor_dump.json");
    fprintf(file,
            "{\"version\": 1, \"level\": \"full\", \"complete\": true, "
            "\"bin_file\": \"tensor_dump.bin\", \"tensors\": [%s]}",
            rank[r].text);
    fclose(file);
    file = create(dump, "tensor_dump.bin");
    fwrite(rank[r].payload, 1, rank[r].size, file);
    fclose(file);
}

static int keep(void *context, const struct tg_shard_result *result)
{
    (void)context;
    if (n_found < MOST_RESULTS)
        found[n_found++] = *result;
    return 0;
}

static struct tg_ranks_sameness compare(const char *text)
{
    struct tg_ranks_sameness sum = {0};
    struct tg_ranks *ranks;
    const char *base = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/taskglass_test_XXXXXX", base ? base : "/tmp");
    REQUIRE(mkdtemp(dir));
    FILE *file = create(dir, "ranks.json");
    fprintf(file, "{\"version\": 1, \"ranks\": %d, \"rank\": []}", RANKS);
    fclose(file);
    for (int r = 0; r < RANKS; r++)
        if (!is_absent[r])
            write_rank(r);
    n_found = 0;
    REQUIRE(tg_shard_parse(text, &shard, &error) == TG_OK);
    REQUIRE(tg_ranks_open(dir, &ranks, &error) == TG_OK);
    CHECK(tg_ranks_compare(made_end(&one), ranks, &shard, 1, NULL, keep, NULL, &sum, &error) ==
          TG_OK);
    tg_ranks_close(ranks);
    tg_recording_close(one.recording);
    nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return sum;
}

static void add(struct made *side, struct made_record record)
{
    record.after = true;
    made_add(side, record);
}

TEST(a_difference_stays_one_although_another_part_is_not_known)
{
    make_sides();
    add(&one, (struct made_record){VALUES(1, 2), .task = 1});
    add(&rank[0], (struct made_record){VALUES(9, 2), .task = 1});
    add(&rank[1], (struct made_record){VALUES(1, 2), .task = 1, .dtype = "int32"});
    CHECK_EQ_U(compare("k.0=replicated").differ, 1);
    CHECK(found[0].verdict == TG_VERDICT_DIFFERS && found[0].has_rank && found[0].rank == 0);
    CHECK(strstr(found[0].text, "rank 1: its part has another type"));
}

TEST(a_rank_that_is_missing_hides_no_difference_of_the_others)
{
    make_sides();
    add(&one, (struct made_record){VALUES(1, 2, 3, 4), .task = 1});
    add(&rank[1], (struct made_record){VALUES(3, 9), .task = 5});
    is_absent[0] = true;
    CHECK_EQ_U(compare("k.0=a(rank)").differ, 1);
    CHECK(found[0].rank == 1 && found[0].first[0] == 3 && found[0].task_rank == 5);
    CHECK(strstr(found[0].text, "rank 0: its folder"));
}

TEST(where_uneven_parts_lie_is_not_known_without_the_missing_one)
{
    make_sides();
    add(&one, (struct made_record){VALUES(1, 2, 3, 4), .task = 1});
    add(&rank[1], (struct made_record){VALUES(9), .task = 1});
    is_absent[0] = true;
    CHECK_EQ_U(compare("k.0=a(rank)").unknown, 1);
    CHECK(found[0].verdict == TG_VERDICT_UNKNOWN && !found[0].has_first);
}

TEST(all_ranks_whose_part_is_not_known_are_counted)
{
    make_sides();
    add(&one, (struct made_record){VALUES(1, 2), .task = 1});
    is_absent[0] = is_absent[1] = true;
    CHECK_EQ_U(compare("k.0=replicated").unknown, 1);
    CHECK(strstr(found[0].text, "rank 0: ") && strstr(found[0].text, "(and 1 more rank)"));
}

TEST(a_rank_without_such_tensors_hides_no_difference_of_the_others)
{
    make_sides();
    add(&one, (struct made_record){VALUES(1, 2), .task = 1});
    add(&rank[0], (struct made_record){VALUES(1, 9), .task = 1});
    CHECK_EQ_U(compare("k.0=replicated").differ, 1);
    CHECK(strstr(found[0].text, "rank 1: it has fewer such tensors"));
}

TEST(a_tensor_that_the_one_device_lacks_has_no_task_there)
{
    make_sides();
    add(&one, (struct made_record){VALUES(1, 2), .task = 1});
    for (int r = 0; r < RANKS; r++)
        for (uint64_t task = 1; task <= 2; task++)
            add(&rank[r], (struct made_record){VALUES(1, 2), .task = task});
    CHECK_EQ_U(compare("k.0=replicated").unknown, 1);
    CHECK(n_found == 1 && found[0].task_one == TG_TASK_NONE);
    CHECK(strstr(found[0].text, "the one device has 1 such tensor, and rank 0 has 2"));
}

TEST(of_joined_tiles_the_task_that_wrote_the_element_is_named)
{
    make_sides();
    add(&one, (struct made_record){VALUES(1, 2), .task = 3, .address = 64});
    add(&one, (struct made_record){VALUES(3, 4), .task = 4, .address = 64, .start = 2});
    for (int r = 0; r < RANKS; r++) {
        float last = r == 1 ? 9 : 4;
        add(&rank[r], (struct made_record){VALUES(1, 2, 0), .task = 7, .address = 64});
        add(&rank[r], (struct made_record){VALUES(3, last), .task = 8, .address = 64, .start = 2});
    }
    CHECK_EQ_U(compare("k.0*=replicated").differ, 1);
    CHECK(found[0].rank == 1 && found[0].first[0] == 3);
    CHECK_EQ_U(found[0].task_one, 4);
    CHECK_EQ_U(found[0].task_rank, 8);
}

TEST(of_tiles_that_overlap_the_last_is_named)
{
    make_sides();
    add(&one, (struct made_record){VALUES(1, 2, 3, 4), .task = 3});
    for (int r = 0; r < RANKS; r++) {
        add(&rank[r], (struct made_record){VALUES(1, 2, 3), .task = 7, .address = 64});
        add(&rank[r], (struct made_record){VALUES(9, 4), .task = 8, .address = 64, .start = 2});
    }
    CHECK_EQ_U(compare("k.0:k.0*=replicated").differ, 1);
    CHECK(found[0].first[0] == 2 && found[0].task_one == 3);
    CHECK_EQ_U(found[0].task_rank, 8);
}

TEST_MAIN()
