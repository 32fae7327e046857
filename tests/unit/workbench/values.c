/* SPDX-License-Identifier: Apache-2.0 */
/* `values`, `tensor` and `npy`: what is written of a tensor's elements. */
#define _GNU_SOURCE 1
#include "unit/workbench/numbers.h"

#include <taskglass/array.h>

#include "export/export.h"

/* --- values ------------------------------------------------------------------------------------- */

/* The texts of a list of lists, one after the other, without quotes. Returns where the lists begin. */
static const char *next_text(const char *at, char *text, size_t room)
{
    const char *begin = at ? strchr(at, '"') : NULL, *end = begin ? strchr(begin + 1, '"') : NULL;
    text[0] = '\0';
    if (end)
        snprintf(text, room, "%.*s", (int)(end - begin - 1), begin + 1);
    return end ? end + 1 : NULL;
}

TEST(a_block_has_the_digits_and_the_bits_of_every_type)
{
    for (unsigned dtype = 1; dtype < TG_DTYPE_END; dtype++) {
        struct tensor tensor = tensor_random(dtype, 2, (int64_t[]){35, 67});
        numbers_open_one(&tensor);
        struct reply reply = ask("values?record=0&row=1&col=2");
        const char *decimal = strstr(reply.text, "\"decimal\": "),
                   *hex = strstr(reply.text, "\"hex\": ");
        char text[80], want[80];
        bool good = CHECK_EQ_I(reply.answer.status, 200) && CHECK(decimal && hex) &&
                    CHECK_HAS(reply.text, "\"height\": 3") && CHECK_HAS(reply.text, "\"width\": 3");
        decimal += strlen("\"decimal\": ");
        hex += strlen("\"hex\": ");
        for (int64_t row = 32; good && row < 35; row++)
            for (int64_t col = 64; good && col < 67; col++) {
                struct tg_value_text value;
                const uint64_t bits = tg_load_bits(dtype, tensor.bytes, row * 67 + col);
                decimal = next_text(decimal, text, sizeof text);
                good = CHECK_EQ_S(text, tg_value_format(dtype, bits, &value));
                hex = next_text(hex, text, sizeof text);
                snprintf(want, sizeof want, "%0*" PRIx64, (int)tg_bits_of(dtype) / 4, bits);
                good = good && CHECK_EQ_S(text, want);
            }
        reply_free(&reply);
        numbers_close();
        free(tensor.bytes);
    }
}

TEST(a_block_may_be_of_any_plane)
{
    struct tensor tensor = tensor_make(TG_INT32, 3, (int64_t[]){2, 3, 4});
    for (int64_t i = 0; i < 24; i++)
        tg_store(TG_INT32, tensor.bytes, i, (double)i);
    numbers_open_one(&tensor);
    CHECK_REPLY(200, "[\"2\", \"14\"],\n    [\"6\", \"18\"],\n    [\"10\", \"22\"]",
                "values?record=0&rows=1&cols=0&at=0,0,2");
    CHECK_REPLY(200, "[\"12\", \"13\", \"14\", \"15\"]\n",
                "values?record=0&rows=-1&cols=2&at=1,0,0");
    CHECK_REPLY(400, "'row'", "values?record=0&row=1");
    numbers_close();
    free(tensor.bytes);
}

TEST(a_tensor_without_elements_has_an_empty_block)
{
    struct tensor tensor = tensor_make(TG_INT32, 2, (int64_t[]){5, 0});
    numbers_open_one(&tensor);
    CHECK_REPLY(200, "\"height\": 0", "values?record=0");
    numbers_close();
    free(tensor.bytes);
}

/* --- tensor ------------------------------------------------------------------------------------- */

TEST(a_tensor_says_how_it_is_shown)
{
    struct tensor tensor = tensor_make(TG_FLOAT16, 3, (int64_t[]){2, 300, 5});
    numbers_open_one(&tensor);
    struct reply reply = ask("tensor?record=0");
    CHECK_EQ_I(reply.answer.status, 200);
    CHECK_HAS(reply.text, "\"index\": 0");
    CHECK_HAS(reply.text, "\"readable\": true");
    CHECK_HAS(reply.text, "\"why\": \"\"");
    CHECK_HAS(reply.text, "\"elements\": 3000");
    CHECK_HAS(reply.text, "\"cut\": false");
    CHECK_HAS(reply.text, "\"view\": [2, 300, 5]");
    CHECK_HAS(reply.text, "\"rows\": 1");
    CHECK_HAS(reply.text, "\"cols\": 2");
    CHECK_HAS(reply.text, "\"levels\": 3");
    CHECK_HAS(reply.text, "tensor_dump.bin', '<f2', 'r', 0, (2, 300, 5))");
    reply_free(&reply);
    numbers_close();
    free(tensor.bytes);
}

TEST(a_tensor_that_is_cut_is_shown_in_one_dimension)
{
    struct tensor tensor = tensor_random(TG_INT4, 2, (int64_t[]){7, 9});
    numbers_begin();
    numbers_add_part(&tensor, 13, TG_RECORD_TRUNCATED);
    numbers_open();
    CHECK_REPLY(200, "\"cut\": true", "tensor?record=0");
    CHECK_REPLY(200, "\"view\": [26]", "tensor?record=0");
    CHECK_REPLY(200, "\"rows\": -1", "tensor?record=0");
    CHECK_REPLY(200, "\"plane\": [1, 26]", "heatmap?record=0");
    CHECK_REPLY(400, "'cols'", "heatmap?record=0&rows=0&cols=1");
    CHECK_REPLY(200, "\"looked_at\": 26", "stats?record=0");
    numbers_close();
    free(tensor.bytes);
}

TEST(a_record_without_values_says_why_and_what_to_do)
{
    struct tensor tensor = tensor_make(TG_FLOAT32, 1, (int64_t[]){4});
    numbers_begin();
    struct tg_record record = tensor_record(&tensor);
    record.stored = 0;
    record.flags = TG_RECORD_CONTIGUOUS;
    CHECK(tg_dump_append(numbers_writer, &record));
    numbers_add_part(&tensor, 0, TG_RECORD_OVERWRITTEN);
    record.task_id = TG_TASK_NONE;
    record.stage = TG_STAGE_ORCHESTRATION;
    numbers_task++;
    CHECK(tg_dump_append(numbers_writer, &record));
    numbers_open();
    CHECK_REPLY(200, "look at the records of the tasks", "tensor?record=2");
    CHECK_REPLY(200, "record with --dump-tensor full", "tensor?record=0");
    CHECK_REPLY(200, "\"readable\": false", "tensor?record=0");
    CHECK_REPLY(200, "\"numpy\": \"\"", "tensor?record=0");
    CHECK_REPLY(200, "record with --dump-policy block", "tensor?record=1");
    static const char *const requests[] = {"heatmap", "values", "stats", "histogram", "npy"};
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        CHECK_REPLY(409, "--dump-tensor full", "%s?record=0", requests[i]);
    numbers_close();
    free(tensor.bytes);
}

TEST(a_path_cannot_leave_the_text_of_the_python_line)
{
    char odd[600];
    struct tensor tensor = tensor_make(TG_INT8, 1, (int64_t[]){4});
    struct tg_error error = {0};
    numbers_open_one(&tensor);
    numbers_close();
    snprintf(odd, sizeof odd, "%s/it's \\ \xc3\xa9", dump_dir);
    REQUIRE(mkdir(odd, 0700) == 0);
    char from[600], to[700];
    snprintf(from, sizeof from, "%s/tensor_dump", dump_dir);
    snprintf(to, sizeof to, "%s/tensor_dump", odd);
    REQUIRE(rename(from, to) == 0);
    REQUIRE(tg_workbench_open(&(struct tg_workbench_config){.path = odd}, &numbers_bench, &error) ==
            TG_OK);
    struct reply reply = ask("tensor?record=0");
    CHECK_HAS(reply.text, "memmap(b'/");
    CHECK_HAS(reply.text, "/it\\\\'s \\\\\\\\ \\\\xc3\\\\xa9/tensor_dump/tensor_dump.bin', '|i1'");
    reply_free(&reply);
    numbers_close();
    free(tensor.bytes);
}

TEST(types_that_numpy_lacks_are_loaded_by_the_package)
{
    struct tensor tensor = tensor_make(TG_BFLOAT16, 1, (int64_t[]){4});
    numbers_begin();
    numbers_add(&tensor);
    struct tg_record scalar = dump_scalar(numbers_task++, TG_INT32, 12);
    CHECK(tg_dump_append(numbers_writer, &scalar));
    numbers_open();
    CHECK_REPLY(200, "import taskglass; x = taskglass.Recording('", "tensor?record=0");
    CHECK_REPLY(200, ")[0].array(decode=True)", "tensor?record=0");
    CHECK_REPLY(200, "numpy.array([0xc], '<u8').view('<i4')[0]", "tensor?record=1");
    numbers_close();
    free(tensor.bytes);
}

/* --- npy ---------------------------------------------------------------------------------------- */

static void check_npy(const struct tensor *tensor)
{
    struct reply reply = ask("npy?record=0");
    struct tg_array array = {.dtype = tensor->dtype,
                             .ndim = tensor->ndim,
                             .elements = tensor->elements,
                             .bytes = tensor->bytes,
                             .size = tensor->size};
    memcpy(array.shape, tensor->shape, sizeof array.shape);
    char *want = NULL;
    size_t size;
    struct tg_error error;
    FILE *file = open_memstream(&want, &size);
    REQUIRE(tg_export_npy(file, &array, NULL, &error) == TG_OK);
    fclose(file);
    const struct tg_workbench_answer *answer = &reply.answer;
    CHECK_EQ_I(answer->status, 200);
    CHECK_EQ_S(answer->type, "application/octet-stream");
    CHECK_HAS(answer->file, "_record_0.npy");
    if (CHECK_EQ_U(answer->part[0].size + answer->part[1].size, size)) {
        CHECK_EQ_MEM(answer->part[0].bytes, want, answer->part[0].size);
        CHECK_EQ_MEM(answer->part[1].bytes, want + answer->part[0].size, answer->part[1].size);
    }
    free(want);
    reply_free(&reply);
}

TEST(a_download_is_the_file_that_an_export_writes)
{
    static const int64_t shapes[][3] = {{3, 5, 7}, {1, 1, 1}, {4, 0, 2}};
    for (unsigned dtype = 1; dtype < TG_DTYPE_END; dtype++)
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
            struct tensor tensor = tensor_random(dtype, 3, shapes[i]);
            numbers_open_one(&tensor);
            check_npy(&tensor);
            numbers_close();
            free(tensor.bytes);
        }
}

TEST(a_scalar_can_be_downloaded)
{
    struct tensor tensor = tensor_make(TG_FLOAT32, 0, NULL);
    tg_store(TG_FLOAT32, tensor.bytes, 0, 2.5);
    numbers_begin();
    struct tg_record scalar = dump_scalar(numbers_task++, TG_FLOAT32, 0x40200000);
    CHECK(tg_dump_append(numbers_writer, &scalar));
    numbers_open();
    check_npy(&tensor);
    numbers_close();
    free(tensor.bytes);
}

TEST(a_download_outlives_the_requests_after_it)
{
    struct tensor tensor = tensor_random(TG_INT8, 1, (int64_t[]){4096});
    numbers_open_one(&tensor);
    struct reply reply = ask("npy?record=0");
    for (int i = 0; i < 8; i++)
        CHECK_REPLY(200, "\"readable\": true", "tensor?record=0");
    CHECK_EQ_MEM(reply.answer.part[1].bytes, tensor.bytes, 4096);
    reply_free(&reply);
    CHECK_REPLY(400, "bins", "npy?record=0&bins=8");
    numbers_close();
    free(tensor.bytes);
}

TEST_MAIN()
