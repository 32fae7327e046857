/* SPDX-License-Identifier: Apache-2.0 */
/* Code that the tests of requests about tensors share: a recording with tensors of any type, and requests about it. */
#ifndef TASKGLASS_TEST_NUMBERS_H
#define TASKGLASS_TEST_NUMBERS_H

#include "unit/recording/recording.h"

#include <inttypes.h>
#include <stdarg.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>
#include <taskglass/workbench.h>

#include "workbench/bench.h"

/* A tensor in memory, packed and row-major. */
struct tensor {
    unsigned dtype;
    int ndim;
    int64_t shape[TG_MAX_DIMS];
    unsigned char *bytes;
    uint64_t size;
    int64_t elements;
};

static struct tg_dump_writer *numbers_writer;
static struct tg_workbench *numbers_bench;
static uint64_t numbers_task;
static uint64_t numbers_state;

/* --- recordings ----------------------------------------------------------------------------- */

DUMP_FN uint64_t numbers_random(void)
{
    numbers_state ^= numbers_state << 13;
    numbers_state ^= numbers_state >> 7;
    numbers_state ^= numbers_state << 17;
    return numbers_state;
}

DUMP_FN struct tensor tensor_make(unsigned dtype, int ndim, const int64_t *shape)
{
    struct tensor tensor = {.dtype = dtype, .ndim = ndim, .elements = 1};
    for (int i = 0; i < ndim; i++) {
        tensor.shape[i] = shape[i];
        tensor.elements *= shape[i];
    }
    tensor.size = tg_bytes_of(dtype, tensor.elements);
    tensor.bytes = calloc(1, (size_t)tensor.size + 1);
    return tensor;
}

/* Random bits, so every kind of number that the type has. */
DUMP_FN struct tensor tensor_random(unsigned dtype, int ndim, const int64_t *shape)
{
    struct tensor tensor = tensor_make(dtype, ndim, shape);
    for (uint64_t i = 0; i < tensor.size; i++)
        tensor.bytes[i] = (unsigned char)(numbers_random() >> 24);
    return tensor;
}

DUMP_FN void numbers_begin(void)
{
    numbers_writer = dump_create();
    numbers_task = 0;
    numbers_state = UINT64_C(0x2545f4914f6cdd1d);
    CHECK_EQ_I(tg_dump_add_kernel(numbers_writer, 0, TG_AIV, "add"), TG_OK);
}

DUMP_FN struct tg_record tensor_record(const struct tensor *tensor)
{
    struct tg_record record = dump_tensor(numbers_task++, 1, 0);
    record.dtype = (uint8_t)tensor->dtype;
    record.ndim = (uint8_t)tensor->ndim;
    int64_t step = 1;
    for (int i = tensor->ndim - 1; i >= 0; i--) {
        record.shape[i] = tensor->shape[i];
        record.strides[i] = step;
        step *= tensor->shape[i];
    }
    record.bytes = record.stored = tensor->size;
    return record;
}

/* The next record: the first `stored` bytes of a tensor. */
DUMP_FN void numbers_add_part(const struct tensor *tensor, uint64_t stored, unsigned flags)
{
    struct tg_record record = tensor_record(tensor);
    record.stored = stored;
    record.flags |= (uint16_t)flags;
    record.position = tg_dump_reserve(numbers_writer, stored);
    CHECK(stored == 0 || tg_dump_payload(numbers_writer, record.position, tensor->bytes, stored));
    CHECK(tg_dump_append(numbers_writer, &record));
}

DUMP_FN void numbers_add(const struct tensor *tensor)
{
    numbers_add_part(tensor, tensor->size, 0);
}

/* Ends the recording and opens it. */
DUMP_FN void numbers_open(void)
{
    struct tg_error error = {0};
    tg_dump_account(numbers_writer, &(struct tg_dump_account){.attempted = numbers_task});
    CHECK_EQ_I(tg_dump_finish(numbers_writer, &dump_error), TG_OK);
    tg_dump_destroy(numbers_writer);
    tg_status status =
        tg_workbench_open(&(struct tg_workbench_config){.path = dump_dir}, &numbers_bench, &error);
    if (status != TG_OK)
        fprintf(stderr, "%s\n", error.text);
    REQUIRE(status == TG_OK);
}

DUMP_FN void numbers_close(void)
{
    tg_workbench_close(numbers_bench);
    numbers_bench = NULL;
}

/* A recording with this tensor as record 0. */
DUMP_FN void numbers_open_one(const struct tensor *tensor)
{
    numbers_begin();
    numbers_add(tensor);
    numbers_open();
}

/* --- requests ------------------------------------------------------------------------------- */

/* An answer, its text with a zero byte behind it. */
struct reply {
    struct tg_workbench_answer answer;
    char *text;                 /* JSON: the document, or the header of columns */
    const unsigned char *bytes; /* of columns */
};

__attribute__((format(printf, 1, 2))) DUMP_FN struct reply ask(const char *format, ...)
{
    char request[1000], filled[2400];
    struct reply reply = {0};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(request, sizeof request, format, arguments);
    va_end(arguments);
    char *query = strchr(request, '?');
    REQUIRE(query);
    *query++ = '\0';
    (void)snprintf(filled, sizeof filled, "%s?run=%s%s%s", request, numbers_bench->fixed[0]->key,
                   *query ? "&" : "", query);
    tg_workbench_ask(numbers_bench, filled, &reply.answer);
    const unsigned char *text = reply.answer.part[0].bytes;
    size_t size = reply.answer.part[0].size, skip = 0;
    if (size >= 16 && memcmp(text, "TGWC", 4) == 0) {
        skip = 16;
        size = text[8] | (size_t)text[9] << 8 | (size_t)text[10] << 16;
        reply.bytes = reply.answer.part[1].bytes;
    }
    reply.text = calloc(1, size + 1);
    memcpy(reply.text, text + skip, size);
    return reply;
}

DUMP_FN void reply_free(struct reply *reply)
{
    free(reply->text);
    tg_workbench_answer_free(&reply->answer);
}

/* The member of a document; its first one with that name. -1: there is none. */
DUMP_FN double reply_number(const struct reply *reply, const char *name)
{
    char key[80];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *at = strstr(reply->text, key);
    return at ? strtod(at + strlen(key), NULL) : -1;
}

DUMP_FN const void *reply_column(const struct reply *reply, const char *name)
{
    char key[80];
    unsigned long long offset;
    snprintf(key, sizeof key, "{\"name\": \"%s\",", name);
    const char *at = strstr(reply->text, key);
    at = at ? strstr(at, "\"offset\": ") : NULL;
    return at && sscanf(at, "\"offset\": %llu", &offset) == 1 ? reply->bytes + offset : NULL;
}

/* Asks, and checks the status of HTTP and a part of the document. */
#define CHECK_REPLY(wanted, part, ...)                              \
    do {                                                            \
        struct reply reply_ = ask(__VA_ARGS__);                     \
        if (!CHECK_EQ_I(reply_.answer.status, (wanted)))            \
            fprintf(stderr, "%s: %s\n", #__VA_ARGS__, reply_.text); \
        CHECK_HAS(reply_.text, (part));                             \
        reply_free(&reply_);                                        \
    } while (0)

#endif
