/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules as text. */
#include "test.h"

#include <taskglass/schedule.h>

static struct tg_schedule *parse(const char *text)
{
    struct tg_schedule *schedule;
    struct tg_error error = {TG_OK, ""};
    CHECK_EQ_I(tg_schedule_parse(text, &schedule, &error), TG_OK);
    CHECK_EQ_S(error.text, "");
    return schedule;
}

TEST(every_policy_is_read_and_written)
{
    static const struct {
        const char *text;
        uint32_t policy;
        uint64_t seed;
    } rows[] = {
        {"", TG_SCHEDULE_NONE, 0},
        {"fifo", TG_SCHEDULE_FIFO, 0},
        {"lifo", TG_SCHEDULE_LIFO, 0},
        {"random:0", TG_SCHEDULE_RANDOM, 0},
        {"random:18446744073709551615", TG_SCHEDULE_RANDOM, UINT64_MAX},
        {"adversarial:17", TG_SCHEDULE_ADVERSARIAL, 17},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tg_schedule *schedule = parse(rows[i].text);
        char text[64];
        CHECK_EQ_U(schedule->policy, rows[i].policy);
        CHECK_EQ_U(schedule->seed, rows[i].seed);
        CHECK_EQ_U(schedule->n_pairs, 0);
        CHECK_EQ_U(schedule->keep_starts, 0);
        CHECK_EQ_U(tg_schedule_text(schedule, text, sizeof text), strlen(rows[i].text));
        CHECK_EQ_S(text, rows[i].text);
        tg_schedule_destroy(schedule);
    }
}

TEST(pairs_name_tasks_as_other_options_do_and_chains_are_short_for_pairs)
{
    struct tg_schedule *schedule = parse("order:22-21,0x10000000c-1:7-3");
    char text[64];
    CHECK_EQ_U(schedule->policy, TG_SCHEDULE_ORDER);
    CHECK_EQ_U(schedule->n_pairs, 3);
    CHECK_EQ_U(schedule->pairs[0].before, 22);
    CHECK_EQ_U(schedule->pairs[0].after, 21);
    CHECK_EQ_U(schedule->pairs[1].before, UINT64_C(0x10000000c));
    CHECK_EQ_U(schedule->pairs[1].after, UINT64_C(0x100000007));
    CHECK_EQ_U(schedule->pairs[2].before, UINT64_C(0x100000007));
    CHECK_EQ_U(schedule->pairs[2].after, 3);
    CHECK_EQ_U(tg_schedule_text(schedule, text, sizeof text), 22);
    CHECK_EQ_S(text, "order:22-21,1:12-1:7-3");
    CHECK_EQ_U(tg_schedule_text(schedule, text, 9), 22);
    CHECK_EQ_S(text, "order:22");
    CHECK_EQ_U(tg_schedule_text(schedule, NULL, 0), 22);
    tg_schedule_destroy(schedule);
}

TEST(other_texts_are_refused_in_one_line)
{
    static const char *const bad[] = {
        "first",       "FIFO",        "fifo:1",    "lifo:",      "random",
        "random:",     "random:x",    "random:1x", "random:-1",  "order",
        "order:",      "order:1",     "order:1-",  "order:-1",   "order:1-2,",
        "order:1--2",  "order:1-2,x", "order:1-1", "order:1 2",  "order:1-2;",
        "adversarial", " fifo",       ":",         "random:1:2", "random:18446744073709551616",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tg_schedule *schedule = (struct tg_schedule *)&bad;
        struct tg_error error = {TG_OK, ""};
        CHECK_EQ_I(tg_schedule_parse(bad[i], &schedule, &error), TG_BAD_ARGUMENT);
        CHECK(schedule == NULL);
        CHECK(strncmp(error.text, "schedule: ", 10) == 0);
        CHECK(strchr(error.text, '\n') == NULL);
    }
    CHECK_EQ_I(tg_schedule_parse(NULL, &(struct tg_schedule *){NULL}, NULL), TG_BAD_ARGUMENT);
    CHECK_EQ_I(tg_schedule_parse("fifo", NULL, NULL), TG_BAD_ARGUMENT);
    tg_schedule_destroy(NULL);
}

TEST_MAIN()
