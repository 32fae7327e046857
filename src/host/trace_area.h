/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory for a trace: the setup, the streams and the ready times, laid out as wire/trace.h says. */
#ifndef TG_HOST_TRACE_AREA_H
#define TG_HOST_TRACE_AREA_H

#include "host/device.h"
#include <taskglass/wire/trace.h>

struct tg_trace_area {
    struct tg_device *device;
    uint64_t address;            /* of the setup */
    struct tg_trace_setup setup; /* as written to the device */
    bool copied;                 /* the host copies the streams instead of reading them in place */
};

/* `n_slots`: of the rings; 0: the host built the graph. NO_MEMORY says what to do. Destroy after success. */
tg_status tg_trace_area_create(struct tg_device *device, uint32_t n_streams, uint64_t n_slots,
                               struct tg_trace_area *area, struct tg_error *error);
void tg_trace_area_destroy(struct tg_trace_area *area);

/* The device address of a stream's head. */
uint64_t tg_trace_area_stream(const struct tg_trace_area *area, uint32_t index);

#endif
