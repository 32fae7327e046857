/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sizes that --ring-task-window, --ring-heap, --ring-dep-pool and --tensormap accept, and their
 * defaults. The host refuses other sizes, and advice never names one.
 */
#ifndef TG_BASE_RING_LIMITS_H
#define TG_BASE_RING_LIMITS_H

#include <stdint.h>

enum {
    TG_LEAST_ENTRIES = 4, /* task slots, dependencies, tensor-map entries */
    TG_MOST_SLOTS = 1 << 20,
    TG_MOST_DEPS = 1 << 26,
    TG_MOST_MAP = 1 << 26,
    TG_DEFAULT_SLOTS = 16384,
    TG_DEFAULT_DEPS = 16384,
    TG_DEFAULT_MAP = 65536,
};
#define TG_LEAST_HEAP UINT64_C(256)
#define TG_MOST_HEAP (UINT64_C(1) << 44)
#define TG_DEFAULT_HEAP (UINT64_C(256) << 20)
/* of --device-memory */
#define TG_MOST_MEMORY (UINT64_C(1) << 44)

#endif
