/* SPDX-License-Identifier: Apache-2.0 */
/* Spools and traces for the tests of this folder. */
#ifndef TG_UNIT_TRACE_MADE_H
#define TG_UNIT_TRACE_MADE_H

#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <taskglass/wire/orchestration.h>
#include <taskglass/wire/record.h>
#include <taskglass/wire/task.h>
#include <unistd.h>

#include "trace/trace.h"

static struct tg_error error;
static char folder[64];

static const struct tg_trace_core made_cores[] = {
    {0, TG_AIC, "AIC"}, {1, TG_AIV, "AIV0"}, {2, TG_AIV, "AIV1"}};
static const char *const made_kernels[] = {"mul", "add \"x\"\n", ""};
static const char *const made_sites[] = {"main.c:3", "main.c:9"};
static const struct tg_trace_fact made_facts[] = {{.key = "workload", .text = "made"},
                                                  {.key = "lost_events", .number = 3}};

static const struct tg_trace_run made_run = {.name = "made",
                                             .core = made_cores,
                                             .n_cores = 3,
                                             .kernel = made_kernels,
                                             .n_kernels = 3,
                                             .site = made_sites,
                                             .n_sites = 2,
                                             .begin = TG_SPOOL_NO_TIME,
                                             .end = TG_SPOOL_NO_TIME,
                                             .fact = made_facts,
                                             .n_facts = 2};

static inline struct tg_spool *made_begin(void)
{
    struct tg_spool *spool;
    snprintf(folder, sizeof folder, "/tmp/taskglass_test_trace_XXXXXX");
    REQUIRE(mkdtemp(folder));
    REQUIRE(tg_spool_create(folder, &spool, &error) == TG_OK);
    return spool;
}

static inline void made_add(struct tg_spool *spool, struct tg_spool_event event)
{
    tg_spool_add(spool, &event);
}

static inline uint64_t made_id(uint64_t ring, uint64_t index)
{
    return ring << 32 | index;
}

/* Two tasks on two cores and a mix that waits for both, with all else that a trace can have. */
static inline void made_fill(struct tg_spool *spool)
{
    enum { AT = 1000000 };
    uint64_t one = made_id(0, 1), two = made_id(1, 2), mix = made_id(1, 3);
    made_add(spool, (struct tg_spool_event){.type = TG_SPOOL_TASK,
                                            .id = mix,
                                            .at = AT + 60,
                                            .begin = AT + 70,
                                            .end = AT + 90,
                                            .core = 0});
    made_add(spool, (struct tg_spool_event){.type = TG_SPOOL_TASK,
                                            .id = mix,
                                            .at = AT + 60,
                                            .begin = AT + 71,
                                            .end = AT + 95,
                                            .core = 1,
                                            .part = 1,
                                            .number = 1,
                                            .flags = TG_SPOOL_PARTIAL});
    made_add(spool, (struct tg_spool_event){.type = TG_SPOOL_TASK,
                                            .id = one,
                                            .begin = AT + 10,
                                            .end = AT + 50,
                                            .core = 0,
                                            .number = 2});
    made_add(spool, (struct tg_spool_event){.type = TG_SPOOL_TASK,
                                            .id = two,
                                            .at = AT + 5,
                                            .begin = AT + 20,
                                            .end = AT + 60,
                                            .core = 1,
                                            .part = 1,
                                            .number = 9});
    made_add(spool, (struct tg_spool_event){
                        .type = TG_SPOOL_EDGE, .id = mix, .at = one, .part = TG_EDGE_RAW});
    made_add(spool, (struct tg_spool_event){
                        .type = TG_SPOOL_EDGE, .id = mix, .at = two, .part = TG_SPOOL_ANY_KIND});
    made_add(spool,
             (struct tg_spool_event){
                 .type = TG_SPOOL_SUBMIT, .id = mix, .begin = AT + 2, .end = AT + 8, .number = 1});
    made_add(spool, (struct tg_spool_event){.type = TG_SPOOL_WAIT,
                                            .id = one,
                                            .begin = AT + 3,
                                            .end = AT + 7,
                                            .core = 1,
                                            .part = TG_RESOURCE_HEAP,
                                            .number = 1});
    made_add(spool,
             (struct tg_spool_event){.type = TG_SPOOL_SCOPE, .id = 3, .begin = AT, .end = AT + 9});
    made_add(spool, (struct tg_spool_event){.type = TG_SPOOL_SCOPE,
                                            .id = 1,
                                            .begin = AT + 1,
                                            .end = AT + 9,
                                            .number = 1,
                                            .core = 1,
                                            .part = 1});
    made_add(spool, (struct tg_spool_event){.type = TG_SPOOL_RINGS,
                                            .begin = AT + 9,
                                            .core = 1,
                                            .id = 2,
                                            .at = 4096,
                                            .end = 5,
                                            .number = 6});
    made_add(spool, (struct tg_spool_event){.type = TG_SPOOL_RECORDER, .begin = AT + 80, .at = 77});
    tg_spool_add_text(spool, one, "arg0", "float32[4] in");
}

/* Writes the trace to a file of that name in the folder; the caller frees its bytes. */
static inline char *made_write(struct tg_spool *spool, const struct tg_trace_run *run,
                               const char *name, size_t memory, size_t *size)
{
    char path[128];
    struct tg_trace_result result;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    struct tg_trace_target target = {
        .path = path, .format = tg_trace_format_of(path), .memory = memory};
    CHECK_EQ_S(tg_trace_write(spool, run, &target, &result, &error) == TG_OK ? "" : error.text, "");
    char *bytes = calloc(1, result.bytes + 1);
    FILE *file = fopen(path, "rb");
    REQUIRE(bytes && file);
    *size = fread(bytes, 1, result.bytes, file);
    CHECK_EQ_U(*size, result.bytes);
    CHECK(fgetc(file) == EOF);
    fclose(file);
    unlink(path);
    return bytes;
}

static inline void made_end(struct tg_spool *spool)
{
    tg_spool_destroy(spool);
    CHECK(rmdir(folder) == 0);
}

#endif
