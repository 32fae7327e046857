/* SPDX-License-Identifier: Apache-2.0 */
#include "host/trace_area.h"
#include "base/error.h"
#include "common/stream_word.h"
#include "host/pulse.h"
#include <string.h>

/* All streams together have about as many bytes, if each gets as many events as the limits allow. They
 * should stay in the caches of the cores that write them, and hold what a core does while the collector
 * naps. */
#define ALL_STREAMS (UINT64_C(16) << 20)
enum { FEWEST_EVENTS = 256, MOST_EVENTS = 65536 };
/* How long a worker waits for a host that runs and does not read, in nanoseconds. */
#define WAIT_LIMIT UINT64_C(5000000000)
#define ZEROS (UINT64_C(64) << 10)

static uint64_t align(uint64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static void plan(struct tg_trace_area *area, uint32_t n_events)
{
    area->setup.n_events = n_events;
    area->setup.stream_size =
        align(sizeof(struct tg_trace_head) + n_events * sizeof(struct tg_trace_event));
}

static uint32_t events_per_stream(uint32_t n_streams)
{
    uint64_t share = ALL_STREAMS / n_streams / sizeof(struct tg_trace_event);
    uint32_t n = FEWEST_EVENTS;
    while (n < MOST_EVENTS && UINT64_C(2) * n <= share)
        n *= 2;
    return n;
}

static tg_status alloc_streams(struct tg_trace_area *area, struct tg_error *error)
{
    uint64_t size = area->setup.n_streams * area->setup.stream_size;
    return area->copied ? tg_device_alloc_own(area->device, size, &area->setup.streams, error)
                        : tg_device_alloc_shared(area->device, size, &area->setup.streams, error);
}

static tg_status no_room(const struct tg_trace_area *area, uint64_t n_slots, struct tg_error *error)
{
    unsigned long long size = area->setup.n_streams * area->setup.stream_size + 8 * n_slots;
    struct tg_device_info info;
    tg_device_get_info(area->device, &info);
    return tg_error_set(
        error, TG_NO_MEMORY,
        "a trace needs at least %llu bytes of device memory (%u streams and %llu times), but %llu are "
        "free; raise --device-memory",
        size, area->setup.n_streams, (unsigned long long)n_slots,
        (unsigned long long)(info.memory - info.memory_used));
}

static tg_status alloc(struct tg_trace_area *area, uint64_t n_slots, struct tg_error *error)
{
    tg_status status =
        tg_device_alloc_own(area->device, align(sizeof area->setup), &area->address, error);
    if (status == TG_OK && n_slots > 0)
        status = tg_device_alloc_own(area->device, 8 * n_slots, &area->setup.ready, error);
    if (status == TG_OK)
        status = alloc_streams(area, error);
    while (status == TG_NO_MEMORY && area->address != 0 &&
           (n_slots == 0 || area->setup.ready != 0) &&
           area->setup.n_events > FEWEST_EVENTS) { /* smaller streams do too: workers wait more */
        plan(area, area->setup.n_events / 2);
        status = alloc_streams(area, error);
    }
    return status == TG_NO_MEMORY ? no_room(area, n_slots, error) : status;
}

/* Memory that was freed by somebody else has their bytes. */
static tg_status clear(struct tg_trace_area *area, uint64_t size, struct tg_error *error)
{
    static const char zeros[ZEROS];
    tg_status status = TG_OK;
    for (uint64_t at = 0; at < size && status == TG_OK; at += ZEROS)
        status = tg_device_copy_in(area->device, area->setup.ready + at, zeros,
                                   size - at < ZEROS ? size - at : ZEROS, error);
    return status;
}

static tg_status write_heads(struct tg_trace_area *area, struct tg_error *error)
{
    tg_status status = TG_OK;
    for (uint32_t i = 0; i < area->setup.n_streams && status == TG_OK; i++) {
        struct tg_trace_head head = {
            .magic = TG_TRACE_STREAM_MAGIC,
            .version = TG_TRACE_VERSION,
            .head_size = sizeof head,
            .index = i,
            .n_events = area->setup.n_events,
            .event_size = sizeof(struct tg_trace_event),
            .written = tg_word_seal(0),
            .freed = tg_word_seal(0),
        };
        status = tg_device_copy_in(area->device, tg_trace_area_stream(area, i), &head, sizeof head,
                                   error);
    }
    return status;
}

tg_status tg_trace_area_create(struct tg_device *device, uint32_t n_streams, uint64_t n_slots,
                               struct tg_trace_area *area, struct tg_error *error)
{
    *area = (struct tg_trace_area){
        .device = device,
        .copied = device->ops->map == NULL,
        .setup = {.magic = TG_TRACE_SETUP_MAGIC,
                  .version = TG_TRACE_VERSION,
                  .setup_size = sizeof area->setup,
                  .n_streams = n_streams,
                  .wait_limit_ns = WAIT_LIMIT,
                  .pulse = tg_pulse_address(device),
                  .pulse_ns = tg_pulse_period(WAIT_LIMIT)},
    };
    plan(area, events_per_stream(n_streams));
    tg_status status = alloc(area, n_slots, error);
    if (status == TG_OK)
        status = clear(area, 8 * n_slots, error);
    if (status == TG_OK)
        status = write_heads(area, error);
    if (status == TG_OK)
        status = tg_device_copy_in(device, area->address, &area->setup, sizeof area->setup, error);
    if (status != TG_OK)
        tg_trace_area_destroy(area);
    return status;
}

void tg_trace_area_destroy(struct tg_trace_area *area)
{
    const uint64_t memory[] = {area->address, area->setup.ready, area->setup.streams};
    for (int i = 0; i < 3; i++)
        if (memory[i] != 0)
            tg_device_free(area->device, memory[i], NULL);
    area->address = area->setup.ready = area->setup.streams = 0;
}

uint64_t tg_trace_area_stream(const struct tg_trace_area *area, uint32_t index)
{
    return area->setup.streams + index * area->setup.stream_size;
}
