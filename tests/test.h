/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The harness of every C test: one file is one program.
 *
 *     #include "test.h"
 *
 *     TEST(an_empty_ring_has_nothing_to_take)
 *     {
 *         CHECK(ring_empty(&ring));
 *         CHECK_EQ_I(ring_count(&ring), 0);
 *     }
 *
 *     TEST_MAIN()
 *
 * A failing CHECK prints where and what, and the test goes on; a failing REQUIRE ends the test, and
 * so does SKIP("why"). Any thread may use CHECK, but only the test's own thread REQUIRE and SKIP.
 * Without arguments the program runs all tests, with one those whose name contains it. Exit status:
 * 0 passed, 1 failed, 77 if every test was skipped.
 */
#ifndef TASKGLASS_TEST_H
#define TASKGLASS_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TEST_FN_ static __attribute__((unused))

struct test_case {
    const char *name;
    void (*run)(void);
    struct test_case *next;
};

static struct test_case *test_first_, **test_last_ = &test_first_;
static int test_failures_; /* failed checks of the current test; __atomic */
static const char *test_skipped_;
static jmp_buf test_end_;

TEST_FN_ void test_register_(struct test_case *test)
{
    *test_last_ = test;
    test_last_ = &test->next;
}

#define TEST(sentence)                                                      \
    static void test_##sentence(void);                                      \
    __attribute__((constructor)) static void test_register_##sentence(void) \
    {                                                                       \
        static struct test_case test = {#sentence, test_##sentence, NULL};  \
        test_register_(&test);                                              \
    }                                                                       \
    static void test_##sentence(void)

/* Prints one failure. Returns false, so that checks are expressions: if (!CHECK(x)) … */
#define TEST_FAIL_(...) \
    (__atomic_fetch_add(&test_failures_, 1, __ATOMIC_RELAXED), fprintf(stderr, __VA_ARGS__), false)

TEST_FN_ bool test_true_(bool good, const char *file, int line, const char *text)
{
    return good || TEST_FAIL_("%s:%d: not true: %s\n", file, line, text);
}

TEST_FN_ bool test_eq_i_(long long got, long long want, const char *file, int line,
                         const char *text)
{
    return got == want ||
           TEST_FAIL_("%s:%d: %s is %lld, expected %lld\n", file, line, text, got, want);
}

TEST_FN_ bool test_eq_u_(unsigned long long got, unsigned long long want, const char *file,
                         int line, const char *text)
{
    return got == want || TEST_FAIL_("%s:%d: %s is %llu (0x%llx), expected %llu (0x%llx)\n", file,
                                     line, text, got, got, want, want);
}

TEST_FN_ bool test_eq_s_(const char *got, const char *want, const char *file, int line,
                         const char *text)
{
    return (got && want ? strcmp(got, want) == 0 : got == want) ||
           TEST_FAIL_("%s:%d: %s is \"%s\", expected \"%s\"\n", file, line, text,
                      got ? got : "(null)", want ? want : "(null)");
}

TEST_FN_ bool test_has_(const char *got, const char *part, const char *file, int line,
                        const char *text)
{
    return (got && strstr(got, part)) || TEST_FAIL_("%s:%d: %s is \"%s\", which lacks \"%s\"\n",
                                                    file, line, text, got ? got : "(null)", part);
}

TEST_FN_ bool test_near_(double got, double want, double tolerance, const char *file, int line,
                         const char *text)
{
    return fabs(got - want) <= tolerance || got == want || (isnan(got) && isnan(want)) ||
           TEST_FAIL_("%s:%d: %s is %.17g, expected %.17g within %g\n", file, line, text, got, want,
                      tolerance);
}

TEST_FN_ bool test_eq_mem_(const void *got, const void *want, size_t bytes, const char *file,
                           int line, const char *text)
{
    const unsigned char *a = got, *b = want;
    for (size_t i = 0; i < bytes; i++)
        if (a[i] != b[i])
            return TEST_FAIL_("%s:%d: %s: byte %zu of %zu is 0x%02x, expected 0x%02x\n", file, line,
                              text, i, bytes, a[i], b[i]);
    return true;
}

/* The computed value comes first, the expected one second. */
#define CHECK(cond) test_true_((cond), __FILE__, __LINE__, #cond)
#define CHECK_EQ_I(got, want) test_eq_i_((got), (want), __FILE__, __LINE__, #got)
#define CHECK_EQ_U(got, want) test_eq_u_((got), (want), __FILE__, __LINE__, #got)
#define CHECK_EQ_S(got, want) test_eq_s_((got), (want), __FILE__, __LINE__, #got)
#define CHECK_HAS(got, part) test_has_((got), (part), __FILE__, __LINE__, #got)
#define CHECK_EQ_MEM(got, want, n) test_eq_mem_((got), (want), (n), __FILE__, __LINE__, #got)
#define CHECK_NEAR(got, want, tolerance) \
    test_near_((got), (want), (tolerance), __FILE__, __LINE__, #got)

#define REQUIRE(cond)              \
    do {                           \
        if (!CHECK(cond))          \
            longjmp(test_end_, 1); \
    } while (0)

#define SKIP(why) (test_skipped_ = (why), longjmp(test_end_, 1))

TEST_FN_ int test_main_(int argc, char **argv)
{
    static struct test_case *test; /* static, so that it keeps its value across longjmp */
    static int passed, failed, skipped;
    setvbuf(stdout, NULL, _IOLBF, 0); /* a crash then comes after the last good test's name */
    for (test = test_first_; test; test = test->next) {
        if (argc > 1 && !strstr(test->name, argv[1]))
            continue;
        test_failures_ = 0;
        test_skipped_ = NULL;
        if (setjmp(test_end_) == 0)
            test->run();
        if (test_failures_)
            failed++, printf("FAILED  %s\n", test->name);
        else if (test_skipped_)
            skipped++, printf("skipped %s: %s\n", test->name, test_skipped_);
        else
            passed++, printf("ok      %s\n", test->name);
    }
    printf("%d passed, %d failed", passed, failed);
    if (skipped)
        printf(", %d skipped", skipped);
    printf("\n");
    if (passed + failed + skipped == 0) {
        fprintf(stderr, "no test is called like that\n");
        return 1;
    }
    return failed ? 1 : passed ? 0 : 77;
}

#define TEST_MAIN()                    \
    int main(int argc, char **argv)    \
    {                                  \
        return test_main_(argc, argv); \
    }

#endif
