/* SPDX-License-Identifier: Apache-2.0 */
/* tests/e2e checks that NumPy reads these files. */
#include "test.h"

#include "export/export.h"
#include "export/export_zip.h"
#include "query/npy_write.h"

#include <stdlib.h>

static struct tg_error error;

static char *text_of_npy(const struct tg_array *array, size_t *size)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, size);
    REQUIRE(tg_export_npy(file, array, NULL, &error) == TG_OK);
    fclose(file);
    CHECK_EQ_U(*size, tg_npy_size(array));
    return text;
}

TEST(an_npy_is_a_padded_head_and_the_bytes)
{
    static const float values[6] = {1, 2, 3, 4, 5, 6};
    const struct tg_array array = {.dtype = TG_FLOAT32,
                                   .ndim = 2,
                                   .shape = {2, 3},
                                   .elements = 6,
                                   .bytes = values,
                                   .size = sizeof values};
    size_t size;
    char *text = text_of_npy(&array, &size);
    CHECK_EQ_U(size, 128 + sizeof values);
    CHECK_EQ_MEM(
        text, "\x93NUMPY\1\0\x76\0{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 68);
    CHECK_EQ_I(text[127], '\n');
    CHECK_EQ_MEM(text + 128, values, sizeof values);
    free(text);
}

static void check_head(const struct tg_array *array, const char *part)
{
    size_t size;
    char *text = text_of_npy(array, &size);
    text[127] = '\0';
    CHECK_HAS(text + 10, part);
    free(text);
}

TEST(one_dimension_and_none_are_tuples_too)
{
    const struct tg_array none = {.dtype = TG_INT8, .elements = 1, .bytes = "\7", .size = 1};
    const struct tg_array one = {
        .dtype = TG_BOOL, .ndim = 1, .shape = {1}, .elements = 1, .bytes = "\1", .size = 1};
    check_head(&none, "'|i1', 'fortran_order': False, 'shape': (), }");
    check_head(&one, "'|b1', 'fortran_order': False, 'shape': (1,), }");
}

TEST(eight_huge_dimensions_fit_in_the_head)
{
    struct tg_array array = {.dtype = TG_FLOAT64, .ndim = 8};
    size_t size;
    for (int i = 0; i < 8; i++)
        array.shape[i] = INT64_MAX;
    array.shape[0] = 0;
    char *text = text_of_npy(&array, &size);
    CHECK_EQ_U(size % 64, 0);
    CHECK_EQ_I(text[size - 1], '\n');
    free(text);
}

TEST(types_that_numpy_has_not_become_integers)
{
    CHECK_EQ_S(tg_export_type(TG_FLOAT32), "float32");
    CHECK_EQ_S(tg_export_type(TG_BFLOAT16), "uint16");
    CHECK_EQ_S(tg_export_type(TG_FLOAT8_E8M0FNU), "uint8");
    CHECK_EQ_S(tg_export_type(TG_INT4), "uint8");
}

TEST(nibbles_become_bytes_the_low_one_first)
{
    static const unsigned char packed[2] = {0x21, 0xf3};
    const struct tg_array array = {
        .dtype = TG_INT4, .ndim = 1, .shape = {3}, .elements = 3, .bytes = packed, .size = 2};
    size_t size;
    char *text = text_of_npy(&array, &size);
    CHECK_EQ_U(size, 128 + 3);
    CHECK_EQ_MEM(text + 128, "\1\2\3", 3);
    free(text);
}

TEST(a_file_that_is_full_is_an_error)
{
    static const char bytes[1 << 16];
    const struct tg_array array = {.dtype = TG_UINT8,
                                   .ndim = 1,
                                   .shape = {sizeof bytes},
                                   .elements = sizeof bytes,
                                   .bytes = bytes,
                                   .size = sizeof bytes};
    FILE *full = fopen("/dev/full", "wb");
    if (!full)
        SKIP("no /dev/full");
    CHECK_EQ_I(tg_export_npy(full, &array, NULL, &error), TG_IO_ERROR);
    CHECK_HAS(error.text, "No space left");
    fclose(full);
}

TEST(the_checksum_is_that_of_zip)
{
    struct tg_crc crc;
    tg_crc_init(&crc);
    CHECK_EQ_U(tg_crc_update(&crc, 0, "123456789", 9), 0xcbf43926);
    uint32_t half = tg_crc_update(&crc, 0, "1234567", 7);
    CHECK_EQ_U(tg_crc_update(&crc, half, "89", 2), 0xcbf43926);
    CHECK_EQ_U(tg_crc_update(&crc, 0, "", 0), 0);
}

TEST(small_archives_need_no_extension)
{
    const struct tg_zip_entry entry = {.name = "a.npy", .crc = 0x12345678, .size = 192};
    unsigned char part[TG_ZIP_PART], end[TG_ZIP_END];
    CHECK_EQ_U(tg_zip_local_head(&entry, part), 30 + 5);
    CHECK_EQ_MEM(part, "PK\3\4\x14\0", 6);
    CHECK_EQ_MEM(part + 14, "\x78\x56\x34\x12\xc0\0\0\0\xc0\0\0\0\5\0\0\0a.npy", 21);
    CHECK_EQ_U(tg_zip_central_head(&entry, part), 46 + 5);
    CHECK_EQ_U(tg_zip_end(1, 227, 51, end), 22);
}

/* Fields that need 64 bits are all ones, and the numbers are in the zip64 extension. */
TEST(large_entries_far_away_have_the_extension)
{
    const struct tg_zip_entry entry = {
        .name = "a.npy", .size = UINT64_C(0x123456789), .offset = UINT64_C(0x1ffffffff)};
    unsigned char part[TG_ZIP_PART];
    CHECK_EQ_U(tg_zip_local_head(&entry, part), 30 + 5 + 20);
    CHECK_EQ_MEM(part + 18, "\xff\xff\xff\xff\xff\xff\xff\xff\5\0\x14\0", 12);
    CHECK_EQ_MEM(part + 35, "\1\0\x10\0\x89\x67\x45\x23\1\0\0\0\x89\x67\x45\x23\1\0\0\0", 20);
    CHECK_EQ_U(tg_zip_central_head(&entry, part), 46 + 5 + 28);
    CHECK_EQ_MEM(part + 42,
                 "\xff\xff\xff\xff"
                 "a.npy",
                 9);
    CHECK_EQ_MEM(part + 71, "\xff\xff\xff\xff\1\0\0\0", 8);
}

TEST(many_entries_have_the_long_end)
{
    unsigned char end[TG_ZIP_END];
    CHECK_EQ_U(tg_zip_end(65535, 100, 50, end), 56 + 20 + 22);
    CHECK_EQ_MEM(end, "PK\6\6\x2c\0\0\0\0\0\0\0", 12);
    CHECK_EQ_MEM(end + 56, "PK\6\7\0\0\0\0\x96\0\0\0\0\0\0\0\1\0\0\0", 20);
    CHECK_EQ_MEM(end + 76, "PK\5\6\0\0\0\0\xff\xff\xff\xff", 12);
    CHECK_EQ_U(tg_zip_end(65534, 100, 50, end), 22);
}

static const char *name_of(struct tg_export_names *names, uint64_t index, uint64_t task,
                           uint8_t stage, uint8_t arg)
{
    static struct tg_export_name name;
    struct tg_entry entry = {.record = {.task_id = task, .stage = stage, .arg_index = arg}};
    REQUIRE(tg_export_names_make(names, index, &entry, &name));
    return name.text;
}

TEST(names_have_task_stage_and_argument)
{
    struct tg_export_names *names = tg_export_names_create();
    CHECK_EQ_S(name_of(names, 0, 12, 0, 3), "task_0_12_before_arg3");
    CHECK_EQ_S(name_of(names, 1, 0x10000000c, 1, 0), "task_1_12_after_arg0");
    CHECK_EQ_S(name_of(names, 2, TG_TASK_NONE, TG_STAGE_ORCHESTRATION, 1), "orchestration_arg1");
    tg_export_names_destroy(names);
}

TEST(no_two_names_are_the_same)
{
    struct tg_export_names *names = tg_export_names_create();
    CHECK_EQ_S(name_of(names, 0, 1, 0, 0), "task_0_1_before_arg0");
    CHECK_EQ_S(name_of(names, 5, 1, 0, 0), "task_0_1_before_arg0_record5");
    CHECK_EQ_S(name_of(names, 9, 1, 0, 0), "task_0_1_before_arg0_record9");
    for (uint64_t i = 0; i < 5000; i++)
        CHECK(!strstr(name_of(names, 10 + i, 2 + i / 8, i % 2, (uint8_t)(i / 2 % 4)), "record"));
    CHECK_HAS(name_of(names, 9999, 2, 0, 0), "record9999");
    tg_export_names_destroy(names);
}

TEST_MAIN()
