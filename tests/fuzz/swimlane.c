/* SPDX-License-Identifier: Apache-2.0 */
/* A swimlane of any bytes, and behind a zero byte its deps.json: whatever they say, the times along the path
 * add up to the span, idle time adds up by cause, and no change makes the run longer. */
#define _GNU_SOURCE 1
#include "fuzz/recording.h"

#include "analysis/deps.h"
#include "analysis/timeline_load.h"
#include "analysis/timing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_path(const struct tg_timing *timing, const struct tg_timing_info *info)
{
    struct tg_timing_step step;
    uint64_t at = info->start;
    if (*info->path_unknown) {
        HOLDS(info->steps == 0);
        return;
    }
    HOLDS(info->steps > 0 && info->bound_chain <= info->end - info->start);
    for (uint64_t i = 0; tg_timing_get_step(timing, i, &step); i++) {
        HOLDS(step.from == at && step.task < info->tasks);
        for (int kind = 0; kind < TG_SPENT_KINDS; kind++)
            at += step.spent[kind];
    }
    HOLDS(at == info->end);
}

static void check_changes(const struct tg_timing *timing, const struct tg_timing_info *info)
{
    uint64_t span = info->end - info->start, found = 0;
    struct tg_timing_change change = {.kernel = TG_NONE, .percent = 100};
    if (*info->path_unknown)
        return;
    HOLDS(tg_timing_what_if(timing, &change, &found, NULL) == TG_OK && found == span);
    for (unsigned i = 0; i < 8; i++) {
        change.no_latency = i & 1;
        change.no_orchestrator = i & 2;
        change.unlimited_cores = i & 4;
        change.kernel = info->kernels > 0 ? i % info->kernels : TG_NONE;
        change.percent = 10 * i;
        HOLDS(tg_timing_what_if(timing, &change, &found, NULL) == TG_OK && found <= span);
    }
}

static void check_cores(const struct tg_timing *timing, const struct tg_timing_info *info)
{
    struct tg_timing_core core;
    for (uint64_t i = 0; tg_timing_get_core(timing, i, &core); i++) {
        HOLDS(core.run + core.idle == info->end - info->start);
        HOLDS(*info->wait_unknown || core.nothing + core.other + core.latency == core.idle);
    }
}

static void check_tasks(const struct tg_timing *timing, const struct tg_timing_info *info)
{
    struct tg_timing_task task;
    struct tg_timing_kernel kernel;
    for (uint64_t i = 0; tg_timing_get_task(timing, i, &task); i++) {
        HOLDS(task.kernel == TG_NONE || tg_timing_get_kernel(timing, task.kernel, &kernel));
        HOLDS(task.ready == TG_NONE || task.ready + task.busy + task.latency == task.begin);
        HOLDS(task.begin == TG_NONE || task.begin >= info->start);
    }
}

static void analyse(struct tg_timeline *line)
{
    struct tg_timing *timing;
    struct tg_timing_info info;
    struct tg_error error = {0};
    if (tg_timing_of_timeline(line, "fuzz", &timing, &error) != TG_OK) {
        HOLDS(!timing && error.text[0]);
        return;
    }
    tg_timing_get_info(timing, &info);
    check_path(timing, &info);
    check_changes(timing, &info);
    check_cores(timing, &info);
    check_tasks(timing, &info);
    tg_timing_close(timing);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tg_error error = {0};
    struct tg_timeline line;
    struct tg_deps *deps = NULL;
    const uint8_t *zero = size > 0 ? memchr(data, 0, size) : NULL;
    size_t length = zero ? (size_t)(zero - data) : size;
    tg_timeline_start(&line);
    if (tg_swimlane_parse((const char *)data, length, "fuzz", &line, &error) != TG_OK) {
        HOLDS(error.text[0]);
        tg_timeline_free(&line);
        return 0;
    }
    if (zero)
        (void)tg_deps_parse((const char *)zero + 1, size - length - 1, "fuzz", &deps, &error);
    if (deps)
        HOLDS(tg_swimlane_add_deps(deps, &line, &error) == TG_OK);
    tg_deps_free(deps);
    HOLDS(tg_timeline_finish(&line, &error) == TG_OK);
    analyse(&line);
    return 0;
}
