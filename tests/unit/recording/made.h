/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings made up for tests of analyses: manifests and payloads in memory, record by record. */
#ifndef TASKGLASS_TEST_MADE_H
#define TASKGLASS_TEST_MADE_H

#include "test.h"

#include "recording/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <taskglass/analysis.h>
#include <taskglass/dtype.h>

struct made {
    char text[1 << 16];
    size_t used;
    unsigned char payload[1 << 14];
    size_t size;
    int entries;
    const char *head; /* more members of the manifest, each followed by a comma */
    struct tg_recording *recording;
};

/* One record. Fields that are left out are 0: an input of a float32 vector, before dispatch. */
struct made_record {
    uint64_t task;
    const char *kernel; /* NULL: "k" */
    unsigned arg;
    bool after; /* an output, after completion */
    bool inout;
    int64_t count; /* elements; 0: as many as `values` has */
    const float *values;
    int n_values;
    uint64_t address;
    uint64_t hash;      /* 0: the hash of the values */
    bool meta, cut;     /* meta: nothing is stored; cut: only the first half is */
    const char *dtype;  /* NULL: float32 */
    int64_t start;      /* the view's first element */
    bool orchestration; /* an argument of the orchestration; `task` means nothing */
    const char *scalar; /* an int64 of this value instead of a tensor */
};

static __attribute__((unused)) void made_begin(struct made *made)
{
    memset(made, 0, sizeof *made);
    made->head = "";
}

static __attribute__((unused)) void made_add_scalar(struct made *made, struct made_record r)
{
    made->used += (size_t)snprintf(
        made->text + made->used, sizeof made->text - made->used,
        "%s{\"task_id\": \"0x%" PRIx64 "\", \"func_id\": [0], \"kernel\": [\"%s\"], "
        "\"arg_index\": %u, \"role\": \"input\", \"stage\": \"before_dispatch\", "
        "\"kind\": \"scalar\", \"dtype\": \"int64\", \"value\": %s}",
        made->entries++ ? ",\n" : "", r.task, r.kernel ? r.kernel : "k", r.arg, r.scalar);
}

static __attribute__((unused)) void made_add(struct made *made, struct made_record r)
{
    char hash[40] = "null";
    if (r.scalar) {
        made_add_scalar(made, r);
        return;
    }
    size_t bytes = (size_t)r.n_values * sizeof(float), stored = r.meta  ? 0
                                                                : r.cut ? bytes / 2
                                                                        : bytes;
    if (r.hash || !r.meta)
        snprintf(hash, sizeof hash, "\"0x%016" PRIx64 "\"",
                 r.hash ? r.hash : tg_content_hash(r.values, bytes));
    made->used += (size_t)snprintf(
        made->text + made->used, sizeof made->text - made->used,
        "%s{\"task_id\": \"0x%" PRIx64 "\", \"func_id\": [0], \"kernel\": [\"%s\"], "
        "\"arg_index\": %u, \"role\": \"%s\", \"stage\": \"%s\", \"kind\": \"tensor\", "
        "\"dtype\": \"%s\", \"shape\": [%" PRId64 "], \"strides\": [1], \"bin_offset\": %zu, "
        "\"bin_size\": %zu, \"truncated\": %s, \"hash\": %s, \"data_ptr\": \"0x%" PRIx64 "\", "
        "\"start_offset\": %" PRId64 "}",
        made->entries++ ? ",\n" : "", r.orchestration ? TG_TASK_NONE : r.task,
        r.kernel ? r.kernel : "k", r.arg,
        r.inout   ? "inout"
        : r.after ? "output"
                  : "input",
        r.orchestration ? "orchestration"
        : r.after       ? "after_completion"
                        : "before_dispatch",
        r.dtype ? r.dtype : "float32", r.count ? r.count : r.n_values, made->size, stored,
        r.cut ? "true" : "false", hash, r.address, r.start);
    if (stored > 0)
        memcpy(made->payload + made->size, r.values, stored);
    made->size += stored;
}

static __attribute__((unused)) struct tg_recording *made_end(struct made *made)
{
    static char text[sizeof made->text + 500];
    struct tg_error error = {0};
    int length = snprintf(text, sizeof text,
                          "{\"version\": 1, \"level\": \"full\", \"complete\": true, %s"
                          "\"bin_file\": \"x.bin\", \"tensors\": [%s]}",
                          made->head, made->used ? made->text : "");
    tg_recording_from_memory(text, (size_t)length, made->payload, made->size, &made->recording,
                             &error);
    if (!made->recording)
        fprintf(stderr, "%s\n", error.text);
    REQUIRE(made->recording);
    return made->recording;
}

#define VALUES(...)                         \
    .values = (const float[]){__VA_ARGS__}, \
    .n_values = sizeof((float[]){__VA_ARGS__}) / sizeof(float)

#endif
