/* SPDX-License-Identifier: Apache-2.0 */
/* Answers: the bytes that a client gets. */
#include "test.h"

#include <stdlib.h>

#include "base/error.h"
#include "workbench/answer.h"

static struct tg_error error;

static uint32_t u32_at(const struct tg_workbench_answer *made, size_t at)
{
    uint32_t value;
    memcpy(&value, (const char *)made->part[0].bytes + at, sizeof value);
    return value;
}

TEST(json_is_one_document)
{
    struct tg_answer answer = {0};
    struct tg_workbench_answer made;
    CHECK_EQ_I(tg_answer_json(&answer, &error), TG_OK);
    tg_json_put_uint(&answer.json, "n", 3);
    tg_answer_finish(&answer, TG_OK, &error, &made);
    CHECK_EQ_I(made.status, 200);
    CHECK_EQ_S(made.type, "application/json");
    CHECK_EQ_U(made.part[1].size, 0);
    CHECK(made.part[0].size == 13 && memcmp(made.part[0].bytes, "{\n  \"n\": 3\n}\n", 13) == 0);
    tg_workbench_answer_free(&made);
}

TEST(columns_lie_where_the_header_says)
{
    struct tg_answer answer = {0};
    struct tg_workbench_answer made;
    uint8_t *small = tg_answer_column(&answer, "small", TG_COLUMN_U8, 3, &error);
    memcpy(small, "abc", 3);
    double *real = tg_answer_column(&answer, "real", TG_COLUMN_F64, 2, &error);
    real[0] = 1.5;
    real[1] = -2;
    CHECK_EQ_I(tg_answer_json(&answer, &error), TG_OK);
    tg_answer_finish(&answer, TG_OK, &error, &made);
    CHECK_EQ_I(made.status, 200);
    CHECK_EQ_S(made.type, "application/octet-stream");
    CHECK_EQ_U(u32_at(&made, 0), 0x43574754);
    CHECK_EQ_U(u32_at(&made, 4), 1);
    CHECK_EQ_U(u32_at(&made, 12), 0);
    CHECK_EQ_U(made.part[0].size % 8, 0);
    CHECK_EQ_U((16 + u32_at(&made, 8) + 7) / 8 * 8, made.part[0].size);
    char *text = strndup((const char *)made.part[0].bytes + 16, u32_at(&made, 8));
    CHECK_HAS(text, "{\"name\": \"small\", \"type\": \"u8\", \"offset\": 0, \"count\": 3}");
    CHECK_HAS(text, "{\"name\": \"real\", \"type\": \"f64\", \"offset\": 8, \"count\": 2}");
    free(text);
    CHECK_EQ_U(made.part[1].size, 24);
    CHECK(memcmp(made.part[1].bytes, "abc\0\0\0\0\0", 8) == 0);
    tg_workbench_answer_free(&made);
}

static int http_of(tg_status status)
{
    struct tg_answer answer = {0};
    struct tg_workbench_answer made;
    tg_error_set(&error, status, "because <b>");
    tg_answer_finish(&answer, status, &error, &made);
    char *text = strndup(made.part[0].bytes, made.part[0].size);
    CHECK_HAS(text, tg_status_name(status));
    CHECK_HAS(text, "\"text\": \"because <b>\"");
    free(text);
    int http = made.status;
    tg_workbench_answer_free(&made);
    return http;
}

TEST(an_error_has_the_status_of_http_that_fits)
{
    CHECK_EQ_I(http_of(TG_BAD_ARGUMENT), 400);
    CHECK_EQ_I(http_of(TG_NOT_FOUND), 404);
    CHECK_EQ_I(http_of(TG_UNSUPPORTED), 409);
    CHECK_EQ_I(http_of(TG_NO_MEMORY), 500);
    CHECK_EQ_I(http_of(TG_IO_ERROR), 500);
}

TEST(an_answer_that_is_too_large_is_413)
{
    struct tg_answer answer = {0};
    struct tg_workbench_answer made;
    CHECK(!tg_answer_column(&answer, "large", TG_COLUMN_U64, TG_ANSWER_MOST, &error));
    CHECK(!tg_answer_column(&answer, "larger", TG_COLUMN_U8, UINT64_MAX, &error));
    tg_answer_finish(&answer, error.status, &error, &made);
    CHECK_EQ_I(made.status, 413);
    tg_workbench_answer_free(&made);
}

TEST(a_freed_answer_can_be_freed_again)
{
    struct tg_answer answer = {0};
    struct tg_workbench_answer made;
    CHECK_EQ_I(tg_answer_json(&answer, &error), TG_OK);
    tg_answer_finish(&answer, TG_OK, &error, &made);
    tg_workbench_answer_free(&made);
    tg_workbench_answer_free(&made);
    tg_workbench_answer_free(NULL);
}

TEST_MAIN()
