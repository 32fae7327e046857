/* SPDX-License-Identifier: Apache-2.0 */
/* The exact text of the manifest, and that values survive writing and reading it. */
#define _GNU_SOURCE 1
#include "unit/recording/recording.h"

#include "recording/manifest.h"

#include <locale.h>
#include <sys/mman.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

/* The manifest of these records, as text; the caller frees it. */
static char *manifest_of(const struct tg_record *records, uint64_t n)
{
    struct tg_dump_writer *writer = dump_create();
    size_t size;
    CHECK_EQ_I(tg_dump_add_kernel(writer, 0, TG_AIC, "mat\"mul"), TG_OK);
    CHECK_EQ_I(tg_dump_add_kernel(writer, 1, TG_AIV, "add"), TG_OK);
    uint64_t position = tg_dump_reserve(writer, 4096);
    static const char zeros[4096];
    CHECK(tg_dump_payload(writer, position, zeros, sizeof zeros));
    for (uint64_t i = 0; i < n; i++)
        CHECK(tg_dump_append(writer, &records[i]));
    CHECK_EQ_I(tg_dump_finish(writer, &dump_error), TG_OK);
    tg_dump_destroy(writer);
    return dump_read_file(dump_path("tensor_dump.json"), &size);
}

TEST(a_tensor_has_every_field)
{
    struct tg_record record = {.type = TG_RECORD_ARGUMENT,
                               .flags = TG_RECORD_HASHED | TG_RECORD_PAYLOAD | TG_RECORD_PARTIAL |
                                        TG_RECORD_MARKED,
                               .task_id = UINT64_C(0x100000007),
                               .kernel = {0, 1, TG_NO_KERNEL},
                               .stage = TG_AFTER_COMPLETION,
                               .role = TG_INOUT,
                               .dtype = TG_BFLOAT16,
                               .ndim = 2,
                               .arg_index = 5,
                               .data_ptr = UINT64_C(0x7f00deadbeef),
                               .start = -3,
                               .shape = {4, 3},
                               .strides = {-8, 1},
                               .hash = UINT64_C(0x0123456789abcdef),
                               .bytes = 24,
                               .stored = 24,
                               .position = 100};
    char *text = manifest_of(&record, 1);
    CHECK_HAS(text,
              "\n{\"task_id\":\"0x0000000100000007\",\"func_id\":[0,1],\"kernel\":"
              "[\"mat\\\"mul\",\"add\"],\"arg_index\":5,\"role\":\"inout\",\"stage\":"
              "\"after_completion\",\"kind\":\"tensor\",\"dtype\":\"bfloat16\","
              "\"is_contiguous\":false,\"shape\":[4,3],\"strides\":[-8,1],\"truncated\":false,"
              "\"overwritten\":false,\"partial\":true,\"marked\":true,\"start_offset\":-3,"
              "\"bin_offset\":100,\"bin_size\":24,\"hash\":\"0x0123456789abcdef\","
              "\"data_ptr\":\"0x7f00deadbeef\",\"sum\":\"NFaP\"}\n");
    free(text);
}

TEST(a_scalar_has_a_value_and_its_bits)
{
    struct tg_record record = dump_scalar(1, TG_FLOAT32, 0x3fc00000);
    char *text = manifest_of(&record, 1);
    CHECK_HAS(
        text,
        "\n{\"task_id\":\"0x0000000000000001\",\"func_id\":[0],\"kernel\":[\"mat\\\"mul\"],"
        "\"arg_index\":3,\"role\":\"input\",\"stage\":\"before_dispatch\",\"kind\":\"scalar\","
        "\"dtype\":\"float32\",\"is_contiguous\":true,\"ndims\":0,\"shape\":[],\"strides\":[],"
        "\"truncated\":false,\"overwritten\":false,\"start_offset\":0,\"bin_offset\":0,"
        "\"bin_size\":0,\"value\":1.5,\"raw\":\"0x000000003fc00000\",\"hash\":null,"
        "\"data_ptr\":\"0x0\",\"sum\":\"zyTH\"}\n");
    free(text);
}

TEST(the_head_has_the_counters_and_how_it_was_recorded)
{
    struct tg_record records[3] = {dump_tensor(1, 4, 0), dump_scalar(1, TG_INT32, 1),
                                   dump_tensor(2, 4, 16)};
    records[0].stage = TG_STAGE_ORCHESTRATION;
    records[0].task_id = TG_TASK_NONE;
    records[0].kernel[1] = TG_NO_KERNEL;
    records[2].stage = TG_AFTER_COMPLETION;
    records[2].role = TG_OUT;
    records[2].stored = 8;
    records[2].flags |= TG_RECORD_TRUNCATED;
    char *text = manifest_of(records, 3);
    CHECK_HAS(text, "{\n  \"version\": 2,\n  \"run_dir\": \"taskglass_test_");
    CHECK_HAS(text, "  \"bin_format\": {\"type\": \"logical_contiguous\", \"byte_order\": "
                    "\"little_endian\"},\n");
    CHECK_HAS(text,
              "  \"hash_algorithm\": \"tg64\",\n  \"level\": \"full\",\n  \"policy\": "
              "\"block\",\n  \"complete\": true,\n  \"total_tensors\": 3,\n  "
              "\"before_dispatch\": 1,\n  \"after_completion\": 1,\n  \"orchestration\": 1,\n"
              "  \"input_tensors\": 1,\n  \"output_tensors\": 1,\n  \"inout_tensors\": 0,\n"
              "  \"scalars\": 1,\n  \"truncated_tensors\": 1,\n  \"overwritten_tensors\": 0,\n"
              "  \"dropped_records\": 0,\n  \"dropped_overwrite\": 0,\n");
    CHECK_HAS(text, "  \"lost\": {\"full\": 0, \"gave_up\": 0, \"overwritten\": 0, \"disk\": 0, "
                    "\"corrupt\": 0, \"unfinished\": 0},\n");
    CHECK_HAS(text, "  \"payload_bytes\": 4096,\n  \"bin_file\": \"tensor_dump.bin\",\n  "
                    "\"check\": \"0x");
    CHECK_HAS(text, "\",\n  \"tensors\": [\n");
    CHECK_HAS(text, "{\"task_id\":\"0xffffffffffffffff\",\"func_id\":[],\"kernel\":[],");
    CHECK_HAS(text, "}\n  ]\n}\n");
    free(text);
}

TEST(an_empty_recording_has_an_empty_list)
{
    char *text = manifest_of(NULL, 0);
    CHECK_HAS(text, "  \"tensors\": []\n}\n");
    free(text);
    struct tg_recording *recording = dump_open(dump_path("tensor_dump.json"));
    CHECK_EQ_U(dump_info(recording).records, 0);
    tg_recording_close(recording);
}

static void check_value(unsigned dtype, uint64_t bits, const char *want)
{
    struct tg_record record = dump_scalar(1, dtype, bits);
    char *text = manifest_of(&record, 1), value[100];
    snprintf(value, sizeof value, "\"value\":%s,\"raw\":\"0x%016llx\"", want,
             (unsigned long long)bits);
    CHECK_HAS(text, value);
    free(text);
}

static uint64_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

TEST(values_are_typed_and_64_bit_integers_are_strings)
{
    check_value(TG_INT64, (uint64_t)INT64_MIN, "\"-9223372036854775808\"");
    check_value(TG_INT64, 5, "\"5\"");
    check_value(TG_UINT64, UINT64_MAX, "\"18446744073709551615\"");
    check_value(TG_INT32, 0xffffffff, "-1");
    check_value(TG_UINT32, 0xffffffff, "4294967295");
    check_value(TG_INT16, 0x8000, "-32768");
    check_value(TG_UINT16, 0x8000, "32768");
    check_value(TG_INT8, 0x80, "-128");
    check_value(TG_UINT8, 0xff, "255");
    check_value(TG_INT4, 0x9, "-7");
    check_value(TG_BOOL, 1, "true");
    check_value(TG_BOOL, 0, "false");
    check_value(TG_FLOAT64, tg_double_bits(0.1), "0.1");
    check_value(TG_FLOAT64, tg_double_bits(-0.0), "-0.0");
    check_value(TG_FLOAT64, tg_double_bits(1e300), "1e+300");
    check_value(TG_FLOAT64, tg_double_bits(NAN), "\"NaN\"");
    check_value(TG_FLOAT64, tg_double_bits(-INFINITY), "\"-Infinity\"");
    check_value(TG_FLOAT32, float_bits(0.1f), "0.1");
    check_value(TG_FLOAT32, float_bits(16777216.f), "16777216.0");
    check_value(TG_FLOAT32, float_bits(-123456.f), "-123456.0");
    check_value(TG_FLOAT32, float_bits(INFINITY), "\"Infinity\"");
    check_value(TG_FLOAT16, 0x3c00, "1.0");
    check_value(TG_BFLOAT16, 0x4049, "3.140625");
    check_value(TG_FLOAT8_E4M3FN, 0x7e, "448.0");
    check_value(TG_FLOAT8_E5M2, 0xfc, "\"-Infinity\"");
    check_value(TG_FLOAT8_E8M0FNU, 0, "5.877472e-39");
    check_value(TG_FLOAT4_E2M1FN, 0xf, "-6.0");
}

/* Without "raw", the bits must follow from the value alone. Without "check" and "sum", as in a manifest
 * of an older version, the change is not noticed. */
static void remove_raw(char *text)
{
    for (char *at = text; *at; at++)
        if (strncmp(at, "\"raw\"", 5) == 0)
            memcpy(at, "\"rax\"", 5);
        else if (strncmp(at, "\"check\"", 7) == 0)
            memcpy(at, "\"chexk\"", 7);
        else if (strncmp(at, "\"sum\"", 5) == 0)
            memcpy(at, "\"sux\"", 5);
}

/* Writes the records, reads the manifest without the raw bits, and compares. */
static void check_survives(const struct tg_record *records, uint64_t n)
{
    char *text = manifest_of(records, n);
    struct tg_entry entry;
    remove_raw(text);
    struct tg_recording *recording = dump_from(text, strlen(text), 4096);
    REQUIRE(recording);
    for (uint64_t i = 0; i < n; i++) {
        REQUIRE(tg_recording_get(recording, i, &entry));
        CHECK_EQ_U(entry.record.dtype, records[i].dtype);
        double got = tg_decode(entry.record.dtype, entry.record.value);
        double want = tg_decode(entry.record.dtype, records[i].value);
        if (!isnan(want) && !CHECK_EQ_U(entry.record.value, records[i].value))
            fprintf(stderr, "  for %s\n", tg_dtype_name(records[i].dtype));
        CHECK_EQ_I(isnan(got), isnan(want));
    }
    tg_recording_close(recording);
    free(text);
}

/* Of the types with 16 bits, a sanitizer gets one value of seven: enough for all threads of the writer. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STEP_OF_16_BITS = 7 };
#else
enum { STEP_OF_16_BITS = 1 };
#endif

TEST(every_value_of_the_small_types_survives)
{
    enum { MOST = 70000 };
    struct tg_record *records = calloc(MOST, sizeof *records);
    for (unsigned dtype = TG_DTYPE_NONE + 1; dtype < TG_DTYPE_END; dtype++) {
        unsigned bits = tg_dtype_bits((int)dtype);
        uint64_t values = bits > 16 ? 0 : dtype == TG_BOOL ? 2 : (uint64_t)1 << bits, n = 0;
        for (uint64_t value = 0; value < values; value += bits == 16 ? STEP_OF_16_BITS : 1, n++)
            records[n] = dump_scalar(n, dtype, value);
        if (n > 0)
            check_survives(records, n);
    }
    free(records);
}

TEST(values_of_the_large_types_survive)
{
    static const unsigned dtypes[] = {TG_FLOAT64, TG_FLOAT32, TG_INT64,
                                      TG_UINT64,  TG_INT32,   TG_UINT32};
    enum { EACH = 3000 };
    struct tg_record *records = calloc(6 * EACH, sizeof *records);
    uint64_t seed = 12345;
    for (int i = 0; i < 6 * EACH; i++) {
        unsigned dtype = dtypes[i % 6];
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t bits = seed ^ seed >> 29;
        records[i] = dump_scalar(1, dtype, tg_dtype_bits((int)dtype) == 32 ? bits >> 32 : bits);
    }
    check_survives(records, 6 * EACH);
    free(records);
}

TEST(the_locale_of_the_program_does_not_matter)
{
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        SKIP("no German locale here");
    check_value(TG_FLOAT64, tg_double_bits(0.1), "0.1");
    struct tg_record record = dump_scalar(1, TG_FLOAT64, tg_double_bits(0.1));
    check_survives(&record, 1);
    setlocale(LC_ALL, "C");
}

TEST_MAIN()
