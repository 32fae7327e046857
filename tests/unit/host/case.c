/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of a workload that is in this file. The mistakes that a workload can make are tested from
 * end to end, with tests/workloads/broken. */
#include "host/case.h"

#include "test.h"
#include <string.h>
#include <taskglass/tensor.h>

static void nothing(struct tg_rt *rt, const struct tg_args *args)
{
    (void)rt;
    (void)args;
}

static void prepare(struct tg_case *c)
{
    int64_t n = tg_case_int(c, "n"), shape[2] = {n, 3};
    uint8_t *x = tg_case_tensor(c, "x", TG_IN, TG_UINT8, 1, &n);
    tg_case_scalar(c, "k", TG_INT16, (uint64_t)-1);
    tg_case_tensor(c, "y", TG_OUT, TG_INT4, 2, shape);
    tg_case_tensor(c, "z", TG_INOUT, TG_FLOAT64, 0, NULL);
    tg_case_scalar(c, "x", TG_FLOAT64, 7); /* scalars and tensors may have the same name */
    memset(x, 42, (size_t)n);
}

static void golden(struct tg_case *c)
{
    const uint8_t *x = tg_case_input(c, "x");
    uint8_t *y = tg_case_expect_exact(c, "y");
    double *z = tg_case_expect(c, "z", 0.5, 0.25);
    y[0] = x[0];
    z[0] = tg_case_real(c, "real");
}

static const struct tg_case_def cases[] = {
    {"first", "", "n=5 real=2.5 word=abc"},
    {"second", "", " n=7\t real=1e3  word= "},
    {"plain", "", NULL},
    {"torn", "", "n=5 real"},
    {"twice", "", "n=5 n=6"},
};

static const struct tg_workload workload = {
    TG_WORKLOAD_HEAD,   .name = "here",   .cases = cases,         .n_cases = 5,
    .prepare = prepare, .golden = golden, .orchestrate = nothing,
};

static struct tg_case_host *open_case(const char *name, const char *set)
{
    struct tg_case_host *host = NULL;
    struct tg_error error = {0};
    if (!CHECK_EQ_I(tg_case_open(&workload, name, &set, set != NULL, 0, &host, &error), TG_OK))
        fprintf(stderr, "%s\n", error.text);
    REQUIRE(host != NULL);
    return host;
}

static struct tg_case_host *prepared(const char *set)
{
    struct tg_case_host *host = open_case("first", set);
    CHECK_EQ_I(tg_case_prepare(host, NULL, NULL), TG_OK);
    return host;
}

static tg_status refusal(const char *name, const char *set, struct tg_error *error)
{
    struct tg_case_host *host = NULL;
    tg_status status = tg_case_open(&workload, name, &set, set != NULL, 0, &host, error);
    CHECK(host == NULL);
    tg_case_close(host);
    return status;
}

TEST(no_name_means_the_first_case)
{
    struct tg_case_host *host = open_case(NULL, NULL);
    CHECK_EQ_S(tg_case_name(host), "first");
    tg_case_close(host);
}

TEST(parameters_are_read_in_their_order)
{
    struct tg_case_host *host = open_case("first", NULL);
    CHECK_EQ_U(tg_case_param_count(host), 3);
    CHECK_EQ_S(tg_case_param(host, 1)->key, "real");
    CHECK_EQ_S(tg_case_param(host, 1)->value, "2.5");
    tg_case_close(host);
}

TEST(white_space_between_parameters_does_not_matter)
{
    struct tg_case_host *host = open_case("second", NULL);
    CHECK_EQ_U(tg_case_param_count(host), 3);
    CHECK_EQ_S(tg_case_param(host, 0)->value, "7");
    CHECK_EQ_S(tg_case_param(host, 2)->value, "");
    tg_case_close(host);
}

TEST(a_case_may_have_no_parameters)
{
    struct tg_case_host *host = open_case("plain", NULL);
    CHECK_EQ_U(tg_case_param_count(host), 0);
    tg_case_close(host);
}

TEST(set_changes_a_parameter_up_to_the_first_equals_sign)
{
    struct tg_case_host *host = open_case("first", "word=a=b");
    CHECK_EQ_S(tg_case_param(host, 2)->value, "a=b");
    tg_case_close(host);
}

TEST(an_unknown_case_is_refused_with_those_there_are)
{
    struct tg_error error;
    CHECK_EQ_I(refusal("third", NULL, &error), TG_NOT_FOUND);
    CHECK_HAS(error.text, "'third'");
    CHECK_HAS(error.text, "first, second");
}

TEST(an_unknown_parameter_is_refused_with_those_there_are)
{
    struct tg_error error;
    CHECK_EQ_I(refusal("first", "m=1", &error), TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, "n, real, word");
}

TEST(the_beginning_of_a_parameters_name_is_not_its_name)
{
    struct tg_error error;
    CHECK_EQ_I(refusal("first", "rea=1", &error), TG_BAD_ARGUMENT);
}

TEST(parameters_of_the_module_that_make_no_sense_are_refused)
{
    struct tg_error error;
    CHECK_EQ_I(refusal("torn", NULL, &error), TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, "'real'");
    CHECK_EQ_I(refusal("twice", NULL, &error), TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, "'n'");
}

TEST(prepare_declares_tensors_in_their_order)
{
    struct tg_case_host *host = prepared(NULL);
    CHECK_EQ_U(tg_case_tensor_count(host), 3);
    CHECK_EQ_S(tg_case_tensor_at(host, 0)->name, "x");
    CHECK_EQ_I(tg_case_tensor_at(host, 1)->role, TG_OUT);
    CHECK_EQ_I(tg_case_tensor_at(host, 2)->tensor.dtype, TG_FLOAT64);
    tg_case_close(host);
}

TEST(a_tensor_has_its_packed_size)
{
    struct tg_case_host *host = prepared(NULL);
    CHECK_EQ_U(tg_case_tensor_at(host, 1)->elements, 15);
    CHECK_EQ_U(tg_case_tensor_at(host, 1)->size, 8);
    CHECK_EQ_U(tg_case_tensor_at(host, 2)->elements, 1);
    tg_case_close(host);
}

TEST(a_tensor_may_be_empty)
{
    struct tg_case_host *host = open_case("first", "n=0");
    CHECK_EQ_I(tg_case_prepare(host, NULL, NULL), TG_OK);
    CHECK_EQ_U(tg_case_tensor_at(host, 0)->size, 0);
    CHECK(tg_case_tensor_at(host, 0)->bytes != NULL);
    tg_case_close(host);
}

TEST(the_bits_above_a_scalars_type_are_zero)
{
    struct tg_case_host *host = prepared(NULL);
    CHECK_EQ_U(tg_case_scalar_count(host), 2);
    CHECK_EQ_U(tg_case_scalar_at(host, 0)->scalar.bits, 0xffff);
    tg_case_close(host);
}

TEST(golden_sees_the_inputs_and_says_what_it_expects)
{
    struct tg_case_host *host = prepared(NULL);
    CHECK_EQ_I(tg_case_golden(host, NULL, NULL), TG_OK);
    CHECK_EQ_I(*(uint8_t *)tg_case_tensor_at(host, 1)->exact, 42);
    CHECK_NEAR(tg_case_tensor_at(host, 2)->expected[0], 2.5, 0);
    CHECK_NEAR(tg_case_tensor_at(host, 2)->atol, 0.5, 0);
    CHECK_NEAR(tg_case_tensor_at(host, 2)->rtol, 0.25, 0);
    tg_case_close(host);
}

TEST(tensors_beyond_the_limit_are_refused)
{
    struct tg_error error;
    struct tg_case_host *host = NULL;
    REQUIRE(tg_case_open(&workload, "first", NULL, 0, 512, &host, &error) == TG_OK);
    CHECK_EQ_I(tg_case_prepare(host, NULL, &error), TG_NO_MEMORY); /* three pieces of 256 bytes */
    CHECK_HAS(error.text, "'z'");
    tg_case_close(host);
}

TEST(tensors_within_the_limit_are_not)
{
    struct tg_case_host *host = NULL;
    REQUIRE(tg_case_open(&workload, "first", NULL, 0, 768, &host, NULL) == TG_OK);
    CHECK_EQ_I(tg_case_prepare(host, NULL, NULL), TG_OK);
    tg_case_close(host);
}

TEST(a_number_that_is_none_is_an_error)
{
    struct tg_error error;
    struct tg_case_host *host = open_case("first", "n=5.5");
    CHECK_EQ_I(tg_case_prepare(host, NULL, &error), TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, "n=5.5");
    tg_case_close(host);
}

TEST_MAIN()
