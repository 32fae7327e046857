/* SPDX-License-Identifier: Apache-2.0 */
/* A deps.json of any bytes: reading it must end, and its results must be within bounds. */
#define _GNU_SOURCE 1
#include "fuzz/recording.h"

#include "analysis/deps_read.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const struct tg_deps_read_task *task, size_t size)
{
    HOLDS(task->n_kernels <= TG_PARTS && task->n_edges <= size);
    HOLDS(strlen(task->scope) < sizeof task->scope);
    HOLDS(strlen(task->line) < sizeof task->line && task->seen.n_tasks <= size);
    for (uint32_t i = 0; i < task->n_kernels; i++)
        HOLDS(strlen(task->kernel[i]) < sizeof task->kernel[i]);
    for (size_t i = 0; i < task->n_edges; i++)
        HOLDS(strlen(task->edge[i].kind) < sizeof task->edge[i].kind);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tg_deps_reader deps;
    struct tg_error error;
    size_t tasks = 0;
    bool more;
    if (tg_deps_reader_start(data, size, "deps.json", &deps, &error) != TG_OK)
        return 0;
    while (tg_deps_reader_next(&deps, &more, &error) == TG_OK && more) {
        look_at(&deps.task, size);
        HOLDS(++tasks <= size);
    }
    tg_deps_reader_close(&deps);
    return 0;
}
