/* SPDX-License-Identifier: Apache-2.0 */
/* A trace of any bytes, Perfetto's protobuf or Chrome JSON: reading it must end, and what it gives must fit
 * together. */
#define _GNU_SOURCE 1
#include "fuzz/recording.h"

#include "trace/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const struct tg_timeline *timeline, size_t size)
{
    HOLDS(timeline->n_parts <= size && timeline->n_tasks <= size && timeline->n_edges <= size);
    for (size_t i = 0; i < timeline->n_parts; i++) {
        const struct tg_timeline_part *part = &timeline->part[i];
        HOLDS(part->task < timeline->n_tasks && part->core < timeline->n_cores);
        HOLDS(part->kernel < timeline->n_kernels && part->part < TG_PARTS);
    }
    for (size_t i = 0; i < timeline->n_edges; i++)
        HOLDS(timeline->before[i] < timeline->n_tasks);
    for (size_t i = 0; i < timeline->n_waits; i++)
        HOLDS(timeline->wait[i].begin <= timeline->wait[i].end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tg_map map = {.bytes = data, .size = size};
    struct tg_timeline timeline;
    struct tg_error error;
    if (tg_timeline_read_bytes(&map, "x", &timeline, &error) == TG_OK) {
        look_at(&timeline, size);
        tg_timeline_free(&timeline);
    }
    return 0;
}
