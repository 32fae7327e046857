/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory for a recording: the setup and the streams, laid out as wire/stream.h says. */
#ifndef TG_HOST_RECORD_SETUP_H
#define TG_HOST_RECORD_SETUP_H

#include "host/device.h"
#include "host/record_need.h"
#include <taskglass/run.h>
#include <taskglass/wire/stream.h>

/* Records in one buffer: a drain copies as many at a time. */
enum { TG_PER_BUFFER = 64 };
TG_WIRE_ASSERT(TG_PER_BUFFER < 1 << TG_CURRENT_COUNT_BITS);

struct tg_record_area {
    struct tg_device *device;
    uint64_t address;                /* of the setup; setup.streams has the streams' */
    bool copied;                     /* the host copies streams instead of reading them in place */
    bool learns;                     /* the next run's streams depend on how these fit */
    struct tg_record_setup setup;    /* as written to the device */
    struct tg_stream_head stream;    /* the fields that all heads share */
    uint8_t *kernel_filters;         /* the host's copy */
    char filter[TG_MAX_FILTERS][48]; /* the filters' own texts, for warnings */
};

/* BAD_ARGUMENT with a message if the configuration makes no sense: numbers that are no level, policy
 * or transport, no folder, or nonsense for arguments of the orchestration. */
tg_status tg_record_config_check(const struct tg_record_config *config, struct tg_error *error);

/* `graph` is what will be recorded; NULL: that says nothing about the streams. BAD_ARGUMENT (filter, sizes),
 * NO_MEMORY. Destroy after success. */
tg_status tg_record_area_create(struct tg_device *device, const struct tg_record_config *config,
                                struct tg_graph *graph, uint32_t n_streams,
                                struct tg_record_area *area, struct tg_error *error);
/* After the run: whether its lanes had to wait for the host. */
void tg_record_area_learn(const struct tg_record_area *area, bool waited);
void tg_record_area_destroy(struct tg_record_area *area);

/* How often the host must show the device that it runs, in nanoseconds; 0 if the device never waits for
 * the host. */
uint64_t tg_record_area_pulse(const struct tg_record_area *area);

/* The device address of a stream's head. */
uint64_t tg_record_area_stream(const struct tg_record_area *area, uint32_t index);

#endif
