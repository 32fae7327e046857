/* SPDX-License-Identifier: Apache-2.0 */
#include "host/signature.h"

#include <taskglass/recording.h>
#include "common/task_check.h"
#include "test.h"

static struct tg_kernel_desc parsed(const char *text)
{
    struct tg_kernel_desc s;
    struct tg_error error = {TG_OK, ""};
    CHECK_EQ_I(tg_signature_parse(&s, text, &error), TG_OK);
    CHECK_EQ_S(error.text, "");
    return s;
}

static void refused(const char *text, const char *why)
{
    struct tg_kernel_desc s;
    struct tg_error error = {TG_OK, ""};
    CHECK_EQ_I(tg_signature_parse(&s, text, &error), TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, why);
}

static struct tg_args args_of(const char *kinds, unsigned dtype)
{
    struct tg_args args;
    struct tg_tensor t = tg_tensor_none();
    tg_args_init(&args);
    t.dtype = (uint8_t)dtype;
    for (; *kinds; kinds++) {
        if (*kinds == 's')
            tg_args_bits(&args, dtype, 0);
        else
            tg_args_tensor(&args, *kinds == 'i' ? TG_IN : *kinds == 'o' ? TG_OUT : TG_INOUT, t);
    }
    return args;
}

TEST(no_signature_takes_anything)
{
    struct tg_kernel_desc s = parsed(NULL);
    struct tg_args args = args_of("iosx", TG_INT8);
    CHECK(!s.given);
    CHECK(tg_signature_fits(&s, &args));
}

TEST(an_empty_signature_takes_nothing)
{
    struct tg_kernel_desc s = parsed(""), blank = parsed("   ");
    struct tg_args none = args_of("", TG_INT8), one = args_of("i", TG_INT8);
    CHECK(s.given && blank.given);
    CHECK(tg_signature_fits(&s, &none));
    CHECK(!tg_signature_fits(&s, &one));
    CHECK(!tg_signature_fits(&blank, &one));
}

TEST(roles_and_types_are_read)
{
    struct tg_kernel_desc s = parsed("in:float32 out inout:bfloat16 scalar:int64 scalar");
    CHECK_EQ_U(s.n_tensors, 3);
    CHECK_EQ_U(s.n_scalars, 2);
    CHECK_EQ_U(s.role[0], TG_IN);
    CHECK_EQ_U(s.role[1], TG_OUT);
    CHECK_EQ_U(s.role[2], TG_INOUT);
    CHECK_EQ_U(s.tensor_dtype[0], TG_FLOAT32);
    CHECK_EQ_U(s.tensor_dtype[1], TG_DTYPE_NONE);
    CHECK_EQ_U(s.tensor_dtype[2], TG_BFLOAT16);
    CHECK_EQ_U(s.scalar_dtype[0], TG_INT64);
    CHECK_EQ_U(s.scalar_dtype[1], TG_DTYPE_NONE);
}

TEST(every_type_name_is_read)
{
    char text[64];
#define ONE(constant, number, bits, name, kind) \
    snprintf(text, sizeof text, "in:%s", name); \
    CHECK_EQ_U(parsed(text).tensor_dtype[0], TG_##constant);
    TG_DTYPE_MAP(ONE)
#undef ONE
}

TEST(spaces_around_words_do_not_matter)
{
    struct tg_kernel_desc s = parsed("  in   out  ");
    CHECK_EQ_U(s.n_tensors, 2);
}

TEST(words_that_are_none_are_refused_by_name)
{
    refused("input", "'input'");
    refused("in ou", "'ou'");
    refused("in:", "'in:'");
    refused("in:float31", "'in:float31'");
    refused(":float32", "':float32'");
    refused("in:float32:float32", "'in:float32:float32'");
    refused("IN", "'IN'");
    refused("in\tout", "'in out'"); /* the message is on one line */
    refused("in,out", "'in,out'");
    refused("scalar:float32x", "'scalar:float32x'");
    refused("in:a_name_of_a_type_that_is_far_too_long_to_be_one", "a_name_of_a_type");
}

TEST(a_type_with_a_longer_name_that_begins_with_a_known_one_is_none)
{
    refused("in:float8_e4m3fn_and_then_some_more_x", "'in:float8_e4m3fn_and_then_some_more_x'");
}

TEST(tensors_come_before_scalars)
{
    refused("scalar in", "tensors must come before scalars");
}

TEST(sixteen_of_each_are_the_limit)
{
    char text[17 * 8 + 17 * 8] = "";
    for (int i = 0; i < 16; i++)
        strcat(text, "in ");
    CHECK_EQ_U(parsed(text).n_tensors, 16);
    for (int i = 0; i < 16; i++)
        strcat(text, "scalar ");
    CHECK_EQ_U(parsed(text).n_scalars, 16);
    strcat(text, "scalar");
    refused(text, "at most 16 tensors and 16 scalars");
    text[0] = '\0';
    for (int i = 0; i < 17; i++)
        strcat(text, "out ");
    refused(text, "at most 16 tensors and 16 scalars");
}

TEST(arguments_match_by_count_role_and_type)
{
    struct tg_kernel_desc s = parsed("in:int8 out:int8 scalar:int8"), any = parsed("in out scalar");
    struct tg_args right = args_of("ios", TG_INT8), other_type = args_of("ios", TG_INT16),
                   other_role = args_of("iis", TG_INT8), fewer = args_of("io", TG_INT8),
                   more = args_of("ioss", TG_INT8);
    CHECK(tg_signature_fits(&s, &right));
    CHECK(!tg_signature_fits(&s, &other_type));
    CHECK(tg_signature_fits(&any, &other_type));
    CHECK(!tg_signature_fits(&any, &other_role));
    CHECK(!tg_signature_fits(&s, &fewer));
    CHECK(!tg_signature_fits(&s, &more));
}

static void explains(const char *text, const char *kinds, unsigned dtype, const char *why)
{
    struct tg_kernel_desc s = parsed(text);
    struct tg_args args = args_of(kinds, dtype);
    struct tg_error error = {TG_OK, ""};
    CHECK(!tg_signature_fits(&s, &args));
    CHECK_EQ_I(tg_signature_explain(&s, &args, &error), TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, why);
}

TEST(what_does_not_match_is_explained_with_both_sides)
{
    explains("in:int8", "i", TG_INT16, "argument 0: the kernel wants in:int8, got in:int16");
    explains("in out", "ii", TG_INT8, "argument 1: the kernel wants out, got in:int8");
    explains("in scalar:int8", "is", TG_FLOAT64,
             "argument 1: the kernel wants scalar:int8, got scalar:float64");
    explains("in", "", TG_INT8, "the kernel wants 1 tensor and 0 scalars, got 0 and 0");
    explains("", "iss", TG_INT8, "the kernel wants 0 tensors and 0 scalars, got 1 and 2");
    explains("scalar", "sss", TG_INT8, "the kernel wants 0 tensors and 1 scalar, got 0 and 3");
}

/* Random arguments: if the quick check refuses them there is always an explanation, and otherwise
 * never one. */
TEST(everything_that_does_not_match_has_an_explanation)
{
    static const char *const texts[] = {"in out scalar", "in:int8 inout:int16", "scalar:int8", "",
                                        "in:int8 out scalar:int8 scalar"};
    uint64_t seed = 9;
    for (int round = 0; round < 5000; round++) {
        struct tg_kernel_desc s = parsed(texts[round % 5]);
        struct tg_error error = {TG_OK, ""};
        char kinds[6] = "";
        for (int i = 0; i < 5; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            kinds[i] = "iox\0s\0"[(seed >> 40) % 6];
        }
        struct tg_args args = args_of(kinds, seed >> 62 ? TG_INT8 : TG_INT16);
        CHECK_EQ_I(tg_signature_explain(&s, &args, &error),
                   tg_signature_fits(&s, &args) ? TG_OK : TG_BAD_ARGUMENT);
    }
}

TEST(roles_have_names)
{
    CHECK_EQ_S(tg_role_name(0), "scalar");
    CHECK_EQ_S(tg_role_name(TG_IN), "in");
    CHECK_EQ_S(tg_role_name(TG_OUT), "out");
    CHECK_EQ_S(tg_role_name(TG_INOUT), "inout");
    CHECK_EQ_S(tg_role_name(4), "nothing");
    CHECK_EQ_S(tg_role_name(UINT32_MAX), "nothing");
}

TEST_MAIN()
