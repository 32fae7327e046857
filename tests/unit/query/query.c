/* SPDX-License-Identifier: Apache-2.0 */
/* query_words.c tests what the words mean. */
#define _GNU_SOURCE 1
#include "unit/recording/recording.h"

#include <taskglass/query.h>

static struct tg_query *query;

static uint64_t count(const struct tg_query *which, const struct tg_recording *recording)
{
    struct tg_entry entry;
    uint64_t n = 0;
    for (uint64_t i = 0; tg_query_next(which, recording, &i, &entry); i++)
        n++;
    return n;
}

static struct tg_recording *ten_tensors(void)
{
    dump_make(10, 4);
    return dump_open(dump_dir);
}

TEST(no_query_and_an_empty_one_select_everything)
{
    struct tg_recording *recording = ten_tensors();
    REQUIRE(tg_query_create(&query, &dump_error) == TG_OK);
    CHECK_EQ_U(count(NULL, recording), 10);
    CHECK_EQ_U(count(query, recording), 10);
    tg_query_destroy(query);
    tg_recording_close(recording);
}

TEST(a_query_keeps_its_texts)
{
    struct tg_recording *recording = ten_tensors();
    char kernel[] = "a*", task[] = "2-4,7";
    REQUIRE(tg_query_create(&query, &dump_error) == TG_OK);
    CHECK_EQ_I(tg_query_add(query, "kernel", kernel, &dump_error), TG_OK);
    CHECK_EQ_I(tg_query_add(query, "task", task, &dump_error), TG_OK);
    memset(kernel, 'x', sizeof kernel - 1);
    memset(task, 'x', sizeof task - 1);
    CHECK_EQ_U(count(query, recording), 4);
    tg_query_destroy(query);
    tg_recording_close(recording);
}

TEST(words_that_make_no_sense_are_refused)
{
    REQUIRE(tg_query_create(&query, &dump_error) == TG_OK);
    CHECK_EQ_I(tg_query_add(query, "stage", "during", &dump_error), TG_BAD_ARGUMENT);
    CHECK_HAS(dump_error.text, "during");
    CHECK_EQ_I(tg_query_add(query, "colour", "red", &dump_error), TG_NOT_FOUND);
    tg_query_destroy(query);
}

TEST(destroying_nothing_is_allowed)
{
    tg_query_destroy(NULL);
}

TEST_MAIN()
