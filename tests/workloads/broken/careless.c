/* SPDX-License-Identifier: Apache-2.0 */
/* A workload whose prepare or golden makes one mistake per case. */
#include "broken.h"

#include <stdlib.h>
#include <string.h>
#include <taskglass/workload.h>

/*      name               what it does */
#define MISTAKES(X)                                                 \
    X(none, "nothing wrong")                                        \
    X(unknown_parameter, "asks for a parameter that is not there")  \
    X(nameless_tensor, "declares a tensor without a name")          \
    X(two_tensors, "declares a name twice")                         \
    X(bad_dtype, "a type that does not exist")                      \
    X(bad_role, "a role that does not exist")                       \
    X(nine_dimensions, "a dimension too many")                      \
    X(null_shape, "a shape that is not there")                      \
    X(negative, "a negative dimension")                             \
    X(overflow, "a product of dimensions beyond 64 bits")           \
    X(huge, "more memory than the device has")                      \
    X(too_many_tensors, "17 tensors")                               \
    X(too_many_scalars, "17 scalars")                               \
    X(two_scalars, "declares a scalar's name twice")                \
    X(nibble_scalar, "a scalar of 4 bits")                          \
    X(gives_up, "fails on purpose")                                 \
    X(expects_early, "expects something in prepare")                \
    X(declares_late, "declares a tensor in golden")                 \
    X(unknown_tensor, "expects something of a name never declared") \
    X(expects_of_input, "expects something of an input")            \
    X(input_of_output, "reads an output as an input")               \
    X(expects_twice, "expects something twice")                     \
    X(expects_nothing, "says nothing about its output")             \
    X(bad_tolerance, "a negative tolerance")                        \
    X(gives_up_late, "fails on purpose in golden")                  \
    X(wrong_close, "expects 2 where the kernel gives 1")            \
    X(wrong_exact, "the same, bit for bit")                         \
    X(wrong_nan, "expects NaN where the kernel gives 1")

#define ENUM(name, text) MISTAKE_##name,
enum mistake { MISTAKES(ENUM) N_MISTAKES };
#undef ENUM

#define CASE(name, text) {#name, text, "mistake=" #name " n=4 real=0.5"},
static const struct tg_case_def cases[] = {MISTAKES(CASE)};
#undef CASE

static const struct tg_kernel_def kernels[] = {
    {"copy", broken_copy, TG_AIV, "in:float32 out:float32"},
};

static enum mistake mistake_of(struct tg_case *c)
{
    const char *name = tg_case_text(c, "mistake");
    int i = 0;
    while (i < N_MISTAKES && strcmp(name, cases[i].name) != 0)
        i++;
    return (enum mistake)i;
}

static void bad_tensor(struct tg_case *c, enum mistake mistake)
{
    static const int64_t nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const int64_t large[3] = {(int64_t)1 << 40, (int64_t)1 << 40, (int64_t)1 << 40};
    int64_t one = 1, minus = -1, terabytes = (int64_t)1 << 42;
    switch (mistake) {
    case MISTAKE_nameless_tensor:
        tg_case_tensor(c, NULL, TG_IN, TG_FLOAT32, 1, &one);
        break;
    case MISTAKE_two_tensors:
        tg_case_tensor(c, "x", TG_IN, TG_FLOAT32, 1, &one);
        break;
    case MISTAKE_bad_dtype:
        tg_case_tensor(c, "z", TG_IN, 99, 1, &one);
        break;
    case MISTAKE_bad_role:
        tg_case_tensor(c, "z", (enum tg_role)0, TG_FLOAT32, 1, &one);
        break;
    case MISTAKE_nine_dimensions:
        tg_case_tensor(c, "z", TG_IN, TG_FLOAT32, 9, nine);
        break;
    case MISTAKE_null_shape:
        tg_case_tensor(c, "z", TG_IN, TG_FLOAT32, 1, NULL);
        break;
    case MISTAKE_negative:
        tg_case_tensor(c, "z", TG_IN, TG_FLOAT32, 1, &minus);
        break;
    case MISTAKE_overflow:
        tg_case_tensor(c, "z", TG_IN, TG_FLOAT32, 3, large);
        break;
    case MISTAKE_huge: /* filled at once, as workloads do: the call must not return */
        memset(tg_case_tensor(c, "z", TG_IN, TG_UINT8, 1, &terabytes), 1, (size_t)terabytes);
        break;
    default: { /* too_many_tensors */
        char name[] = "a";
        for (; name[0] <= 'q'; name[0]++)
            tg_case_tensor(c, name, TG_IN, TG_FLOAT32, 1, &one);
    }
    }
}

static void bad_scalar(struct tg_case *c, enum mistake mistake)
{
    char name[] = "a";
    switch (mistake) {
    case MISTAKE_too_many_scalars:
        for (; name[0] <= 'q'; name[0]++)
            tg_case_scalar(c, name, TG_INT64, 0);
        break;
    case MISTAKE_two_scalars:
        tg_case_scalar(c, name, TG_INT64, 0);
        tg_case_scalar(c, name, TG_INT64, 0);
        break;
    default: /* nibble_scalar */
        tg_case_scalar(c, name, TG_INT4, 0);
    }
}

static void prepare(struct tg_case *c)
{
    enum mistake mistake = mistake_of(c);
    int64_t n = tg_case_int(c, "n");
    (void)tg_case_real(c, "real");
    if (mistake == MISTAKE_unknown_parameter && 12 / tg_case_int(c, "divisor") > 0)
        abort(); /* for a missing parameter the call must not return */
    float *x = tg_case_tensor(c, "x", TG_IN, TG_FLOAT32, 1, &n);
    tg_case_tensor(c, "y", TG_OUT, TG_FLOAT32, 1, &n);
    for (int64_t i = 0; i < n; i++)
        x[i] = 1;
    if (mistake >= MISTAKE_nameless_tensor && mistake <= MISTAKE_too_many_tensors)
        bad_tensor(c, mistake);
    if (mistake >= MISTAKE_too_many_scalars && mistake <= MISTAKE_nibble_scalar)
        bad_scalar(c, mistake);
    if (mistake == MISTAKE_gives_up)
        tg_case_fail(c, "this case gives up\non purpose");
    if (mistake == MISTAKE_expects_early)
        tg_case_expect(c, "y", 0, 0)[0] = 1;
}

static void expect(struct tg_case *c, double value)
{
    double *y = tg_case_expect(c, "y", 1e-3, 1e-3);
    for (int64_t i = 0; i < tg_case_int(c, "n"); i++)
        y[i] = value;
}

static void golden(struct tg_case *c)
{
    int64_t n = tg_case_int(c, "n");
    switch (mistake_of(c)) {
    case MISTAKE_declares_late:
        tg_case_tensor(c, "z", TG_IN, TG_FLOAT32, 1, &n);
        break;
    case MISTAKE_unknown_tensor:
        tg_case_expect(c, "z", 0, 0)[0] = 1;
        break;
    case MISTAKE_expects_of_input:
        tg_case_expect(c, "x", 0, 0)[0] = 1;
        break;
    case MISTAKE_input_of_output:
        (void)tg_case_input(c, "y");
        break;
    case MISTAKE_expects_twice:
        expect(c, 1);
        tg_case_expect_exact(c, "y");
        break;
    case MISTAKE_expects_nothing:
        break;
    case MISTAKE_bad_tolerance:
        tg_case_expect(c, "y", -1, 0)[0] = 1;
        break;
    case MISTAKE_gives_up_late:
        tg_case_fail(c, "this golden gives up on purpose");
        break;
    case MISTAKE_wrong_close:
        expect(c, 2);
        break;
    case MISTAKE_wrong_exact:
        tg_case_expect_exact(c, "y"); /* zeros */
        break;
    case MISTAKE_wrong_nan:
        expect(c, __builtin_nan(""));
        break;
    default:
        expect(c, 1);
    }
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "careless",
    .summary = "one mistake per case",
    .kernels = kernels,
    .n_kernels = 1,
    .cases = cases,
    .n_cases = N_MISTAKES,
    .orchestrate = broken_orchestrate,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
};
