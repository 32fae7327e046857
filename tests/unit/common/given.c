/* SPDX-License-Identifier: Apache-2.0 */
#include "common/given.h"
#include "test.h"

/* An output, an empty input that begins where the output ends, and another input behind both. */
static void give(struct tg_args *args)
{
    int64_t n = 8, none = 0;
    tg_args_init(args);
    tg_args_out(args, tg_tensor_make(4096, TG_INT64, 1, &n));
    tg_args_in(args, tg_tensor_make(4096 + 64, TG_INT64, 1, &none));
    tg_args_in(args, tg_tensor_make(4096 + 64, TG_INT64, 1, &n));
}

TEST(an_empty_tensor_is_not_taken_for_its_neighbour)
{
    struct tg_args args = {0}; /* gcc thinks that unused tensors are read */
    struct tg_given given;
    int64_t index = 0, offset;
    give(&args);
    tg_given_init(&given, &args);
    CHECK_EQ_I(tg_given_look(&given, &args.tensor[1], &index, 1, &offset), TG_TABLE_RANGE);
    CHECK_EQ_U(given.found, 1);
    CHECK_EQ_I(tg_given_look(&given, &args.tensor[2], &index, 1, &offset), TG_TABLE_GOOD);
    CHECK_EQ_U(given.found, 2);
}

TEST(an_empty_view_belongs_to_its_tensor)
{
    struct tg_args args = {0}; /* gcc thinks that unused tensors are read */
    struct tg_given given;
    struct tg_tensor view;
    int64_t index = 0, offset;
    give(&args);
    tg_given_init(&given, &args);
    view = tg_tensor_slice(args.tensor[2], 0, 8, 8, 1);
    CHECK_EQ_I(tg_given_look(&given, &view, &index, 1, &offset), TG_TABLE_RANGE);
    CHECK_EQ_U(given.found, 2);
}

TEST_MAIN()
