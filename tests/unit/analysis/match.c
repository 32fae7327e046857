/* SPDX-License-Identifier: Apache-2.0 */
/* Which task of one recording corresponds to which task of another. */
#define _GNU_SOURCE 1
#include "unit/recording/made.h"

#include "analysis/match.h"

static struct made a, b;
static struct tg_diff *diff;
static struct tg_diff_info info;
static struct tg_error error;

/* Tasks as "id kernel, id kernel": each has one output. */
static struct tg_recording *tasks(struct made *made, const char *list)
{
    char text[500], *save = NULL;
    made_begin(made);
    snprintf(text, sizeof text, "%s", list);
    for (char *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        char kernel[40];
        uint64_t ring, index;
        REQUIRE(sscanf(word, "%" SCNu64 ":%" SCNu64 " %39s", &ring, &index, kernel) == 3);
        made_add(made, (struct made_record){
                           .task = ring << 32 | index, .kernel = kernel, .after = true, VALUES(1)});
    }
    return made_end(made);
}

static void match(const char *left, const char *right)
{
    tasks(&a, left);
    tasks(&b, right);
    REQUIRE(tg_diff_open(a.recording, b.recording, NULL, &diff, &error) == TG_OK);
    tg_diff_get_info(diff, &info);
}

/* The tasks as "0:1=1:1 0:2=- -=0:3". */
static const char *matched(void)
{
    static char text[1000];
    struct tg_diff_task task;
    size_t used = 0;
    text[0] = '\0';
    for (uint64_t i = 0; tg_diff_get_task(diff, i, &task); i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, i > 0 ? " " : "");
        if (task.in_a)
            used += (size_t)snprintf(text + used, sizeof text - used, "%" PRIu64 ":%" PRIu64,
                                     task.id_a >> 32, task.id_a & UINT32_MAX);
        used += (size_t)snprintf(text + used, sizeof text - used, task.in_a ? "=" : "-=");
        if (task.in_b)
            used += (size_t)snprintf(text + used, sizeof text - used, "%" PRIu64 ":%" PRIu64,
                                     task.id_b >> 32, task.id_b & UINT32_MAX);
        else
            used += (size_t)snprintf(text + used, sizeof text - used, "-");
    }
    return text;
}

static void done(void)
{
    tg_diff_close(diff);
    tg_recording_close(a.recording);
    tg_recording_close(b.recording);
}

TEST(the_same_ids_with_the_same_kernels_are_the_same_tasks)
{
    match("0:0 x,0:1 y,0:2 x", "0:2 x,0:0 x,0:1 y");
    CHECK_EQ_S(info.matched_by, "id");
    CHECK_EQ_S(matched(), "0:0=0:0 0:1=0:1 0:2=0:2");
    CHECK_EQ_U(info.matched, 3);
    done();
}

TEST(other_ids_go_by_the_position_among_their_kernel)
{
    match("0:0 x,0:1 y,0:2 x", "1:0 x,1:1 x,2:0 y");
    CHECK_EQ_S(info.matched_by, "position");
    CHECK_EQ_S(matched(), "0:0=1:0 0:1=2:0 0:2=1:1");
    done();
}

TEST(the_same_ids_with_other_kernels_go_by_position_too)
{
    match("0:0 x,0:1 y", "0:0 y,0:1 x");
    CHECK_EQ_S(info.matched_by, "position");
    CHECK_EQ_S(matched(), "0:0=0:1 0:1=0:0");
    done();
}

TEST(a_task_that_one_side_lost_leaves_the_others_where_they_are)
{
    match("0:0 x,0:1 x,0:2 x,0:3 x,0:4 x", "0:0 x,0:1 x,0:3 x,0:4 x");
    CHECK_EQ_S(info.matched_by, "id");
    CHECK_EQ_S(matched(), "0:0=0:0 0:1=0:1 0:2=- 0:3=0:3 0:4=0:4");
    CHECK_EQ_U(info.only_a, 1);
    done();
}

TEST(a_task_more_in_the_middle_shifts_nothing)
{
    match("0:0 x,0:1 y,0:2 z,0:3 x,0:4 y", "1:0 x,1:1 w,1:2 y,1:3 z,1:4 x,1:5 y");
    CHECK_EQ_S(info.matched_by, "alignment");
    CHECK_EQ_S(matched(), "0:0=1:0 0:1=1:2 0:2=1:3 0:3=1:4 0:4=1:5 -=1:1");
    CHECK_EQ_U(info.only_b, 1);
    done();
}

TEST(what_an_alignment_leaves_over_on_both_sides_goes_by_position)
{
    match("0:0 x,0:1 y,0:2 z,0:3 w", "1:0 z,1:1 x,1:2 y");
    CHECK_EQ_S(info.matched_by, "alignment");
    CHECK_EQ_S(matched(), "0:0=1:1 0:1=1:2 0:2=1:0 0:3=-");
    done();
}

TEST(recordings_without_tasks_match_nothing)
{
    match("", "0:0 x");
    CHECK_EQ_U(info.matched, 0);
    CHECK_EQ_U(info.only_b, 1);
    CHECK_EQ_U(info.pairs, 0);
    done();
    match("", "");
    CHECK_EQ_U(info.tasks, 0);
    done();
}

TEST(arguments_pair_by_stage_and_number_and_twins_in_their_order)
{
    made_begin(&a);
    made_begin(&b);
    made_add(&a, (struct made_record){.arg = 1, .after = true, VALUES(1)});
    made_add(&a, (struct made_record){.arg = 0, VALUES(2)});
    made_add(&a, (struct made_record){.arg = 2, .after = true, VALUES(3)});
    made_add(&b, (struct made_record){.arg = 0, VALUES(2)});
    made_add(&b, (struct made_record){.arg = 1, .after = true, VALUES(1)});
    made_add(&b, (struct made_record){.arg = 1, .after = true, VALUES(5)});
    made_end(&a);
    made_end(&b);
    REQUIRE(tg_diff_open(a.recording, b.recording, NULL, &diff, &error) == TG_OK);
    static const uint64_t want[][2] = {{1, 0}, {0, 1}, {TG_NONE, 2}, {2, TG_NONE}};
    struct tg_diff_pair pair;
    uint64_t i = 0;
    for (; tg_diff_get_pair(diff, i, &pair) && i < 4; i++) {
        CHECK_EQ_U(pair.record_a, want[i][0]);
        CHECK_EQ_U(pair.record_b, want[i][1]);
    }
    CHECK_EQ_U(i, 4);
    done();
}

/* --- alignments ------------------------------------------------------------------------------- */

/* Letters are names; the same letter is the same pointer. */
static uint32_t align(const char *left, const char *right, uint32_t *partner)
{
    static const char names[128];
    const char *x[64], *y[64];
    uint32_t n = (uint32_t)strlen(left), m = (uint32_t)strlen(right), kept = 0;
    for (uint32_t i = 0; i < n; i++)
        x[i] = &names[(int)left[i]];
    for (uint32_t i = 0; i < m; i++)
        y[i] = &names[(int)right[i]];
    REQUIRE(tg_align(x, n, y, m, partner));
    for (uint32_t i = 0, last = 0; i < n; i++)
        if (partner[i] != TG_NO_ROW) {
            CHECK(partner[i] < m && left[i] == right[partner[i]]);
            CHECK(kept == 0 || partner[i] > last);
            last = partner[i];
            kept++;
        }
    return kept;
}

/* The longest common subsequence, computed with the full table. */
static uint32_t longest(const char *left, const char *right)
{
    uint32_t best[65][65] = {{0}};
    size_t n = strlen(left), m = strlen(right);
    for (size_t i = 1; i <= n; i++)
        for (size_t k = 1; k <= m; k++) {
            uint32_t up = best[i - 1][k], side = best[i][k - 1];
            best[i][k] = left[i - 1] == right[k - 1] ? best[i - 1][k - 1] + 1
                         : up > side                 ? up
                                                     : side;
        }
    return best[n][m];
}

TEST(random_sequences_are_aligned_with_as_few_left_over_as_can_be)
{
    uint32_t state = 5, partner[64];
    for (int round = 0; round < 5000; round++) {
        char text[2][32];
        for (int side = 0; side < 2; side++) {
            state = state * 1664525u + 1013904223u;
            int length = (int)((state >> 16) % 30);
            for (int i = 0; i < length; i++) {
                state = state * 1664525u + 1013904223u;
                text[side][i] = (char)('a' + (state >> 16) % 3);
            }
            text[side][length] = '\0';
        }
        if (!CHECK_EQ_U(align(text[0], text[1], partner), longest(text[0], text[1])))
            break;
    }
}

TEST(an_alignment_with_too_many_left_over_keeps_what_both_begin_and_end_with)
{
    enum { N = TG_ALIGN_MOST * 2 };
    static const char names[3];
    static const char *x[N], *y[N];
    static uint32_t partner[N];
    for (int i = 0; i < N; i++) {
        x[i] = &names[i == 0 || i == N - 1 ? 0 : 1];
        y[i] = &names[i == 0 || i == N - 1 ? 0 : 2];
    }
    REQUIRE(tg_align(x, N, y, N, partner));
    CHECK_EQ_U(partner[0], 0);
    CHECK_EQ_U(partner[N - 1], N - 1);
    CHECK_EQ_U(partner[1], TG_NO_ROW);
}

TEST_MAIN()
