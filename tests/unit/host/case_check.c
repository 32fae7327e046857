/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs are compared in pieces, so that a user can stop it; the result is that of one piece. */
#include "host/case_check.h"

#include "test.h"
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 3000001 }; /* three pieces, and half a byte of a 4-bit type at the end */

static void nothing(struct tg_rt *rt, const struct tg_args *args)
{
    (void)rt;
    (void)args;
}

static void prepare(struct tg_case *c)
{
    int64_t n = ELEMENTS;
    tg_case_tensor(c, "given", TG_IN, TG_INT8, 1, &n);
    tg_case_tensor(c, "close", TG_OUT, TG_INT8, 1, &n);
    tg_case_tensor(c, "exact", TG_OUT, TG_INT4, 1, &n);
}

static void golden(struct tg_case *c)
{
    double *close = tg_case_expect(c, "close", 0.5, 0);
    memset(tg_case_expect_exact(c, "exact"), 0x11, ELEMENTS / 2 + 1);
    for (int i = 0; i < ELEMENTS; i++)
        close[i] = 3;
}

static const struct tg_case_def cases[] = {{"only", "", NULL}};
static const struct tg_workload workload = {
    TG_WORKLOAD_HEAD,   .name = "here",   .cases = cases,         .n_cases = 1,
    .prepare = prepare, .golden = golden, .orchestrate = nothing,
};

/* A case whose outputs are right. */
static struct tg_case_host *make(signed char **close, unsigned char **exact)
{
    struct tg_case_host *host = NULL;
    REQUIRE(tg_case_open(&workload, NULL, NULL, 0, 0, &host, NULL) == TG_OK);
    REQUIRE(tg_case_prepare(host, NULL, NULL) == TG_OK);
    REQUIRE(tg_case_golden(host, NULL, NULL) == TG_OK);
    *close = tg_case_tensor_at(host, 1)->output = malloc(ELEMENTS);
    *exact = tg_case_tensor_at(host, 2)->output = malloc(ELEMENTS / 2 + 1);
    memset(*close, 3, ELEMENTS);
    memset(*exact, 0x11, ELEMENTS / 2 + 1);
    return host;
}

static bool count_down(void *left)
{
    return (*(int *)left)-- == 0;
}

static void free_names(struct tg_output_check *check, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        free((char *)(uintptr_t)check[i].name);
}

TEST(differences_in_any_piece_are_counted_and_the_first_is_named)
{
    signed char *close;
    unsigned char *exact;
    struct tg_output_check check[2];
    struct tg_error error = {TG_OK, ""};
    struct tg_watch watch = {NULL, NULL};
    uint32_t n = 0;
    struct tg_case_host *host = make(&close, &exact);
    CHECK_EQ_I(tg_case_compare(host, &watch, check, &n, &error), TG_OK);
    CHECK_EQ_U(n, 2);
    CHECK_EQ_U(check[0].elements, ELEMENTS);
    CHECK_EQ_U(check[1].elements, ELEMENTS);
    free_names(check, n);
    close[1 << 20] = 9;
    close[ELEMENTS - 1] = 5;
    exact[ELEMENTS / 2] = 0x12; /* the last element */
    n = 0;
    CHECK_EQ_I(tg_case_compare(host, &watch, check, &n, &error), TG_MISMATCH);
    CHECK_HAS(error.text, "output 'close' differs in 2 of 3000001 elements, first at 1048576: 9, ");
    CHECK_EQ_U(check[0].mismatches, 2);
    CHECK(check[0].max_error == 6 && check[0].first_expected == 3);
    CHECK_EQ_U(check[1].mismatches, 1);
    CHECK_EQ_U(check[1].first, ELEMENTS - 1);
    free_names(check, n);
    tg_case_close(host);
}

TEST(a_comparison_ends_when_it_is_asked_to)
{
    signed char *close;
    unsigned char *exact;
    struct tg_case_host *host = make(&close, &exact);
    for (int pieces = 0; pieces < 4; pieces++) {
        struct tg_output_check check[2];
        struct tg_error error = {TG_OK, ""};
        int left = pieces;
        struct tg_watch watch = {count_down, &left};
        uint32_t n = 0;
        CHECK_EQ_I(tg_case_compare(host, &watch, check, &n, &error), TG_CANCELLED);
        CHECK_EQ_U(n, (unsigned)pieces / 2);
        CHECK_HAS(error.text, pieces < 2 ? "'close'" : "'exact'");
        free_names(check, n);
    }
    tg_case_close(host);
}

TEST_MAIN()
