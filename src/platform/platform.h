/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A platform is one const table. The host's code above it knows no platform by name: what a
 * platform cannot do shows as a NULL slot, and only where this header says so.
 *
 * Threads: as in device.h: one thread at a time, but for `cancel`, and for copy_in, copy_out and map,
 * which the collector of a recording uses while another thread waits in `poll`.
 */
#ifndef TG_PLATFORM_PLATFORM_H
#define TG_PLATFORM_PLATFORM_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/status.h>
#include <taskglass/wire/device.h>

#define TG_PLATFORM_ABI 1u

/* A device as a platform opens it; every default is already filled in. */
struct tg_platform_config {
    uint32_t cores;
    uint32_t schedulers;
    uint64_t memory;
    const char *device_program; /* simulators; others ignore it */
};

enum tg_poll { TG_POLL_RUNNING, TG_POLL_OVER, TG_POLL_STOPPED, TG_POLL_LOST };

/* How a device ended, for the report. */
struct tg_autopsy {
    bool crashed;   /* by itself, as against killed from outside; it may have left a record */
    char cause[96]; /* "killed by signal 9 (Killed)" */
};

struct tg_platform_ops {
    uint32_t abi;  /* TG_PLATFORM_ABI */
    uint32_t size; /* of this struct */
    const char *name;
    const char *summary;
    const char *program; /* the device's, in our folder; what --device-program stands in for */
    uint32_t max_blocks;
    uint32_t max_schedulers;
    bool memory_dies;   /* with the device: what is wanted of it must be fetched before `kill` */
    bool slow_to_open;  /* a second rather than a millisecond */
    bool decides_cores; /* how many, where nobody has said: `open` gets 0 */

    /* Can it be opened on this machine? NULL: always. The error says what is missing, and `open`
     * says the same. */
    tg_status (*probe)(struct tg_error *error);

    tg_status (*open)(const struct tg_platform_config *config, void **state,
                      struct tg_error *error);
    void (*close)(void *state);
    /* The address of the control area; `pid` is 0 where no process is the device. */
    void (*describe)(const void *state, uint64_t *control, uint64_t *memory_used, int *pid);

    tg_status (*alloc)(void *state, uint64_t bytes, uint64_t *address, struct tg_error *error);
    /* Memory that `map` shows while the device writes to it. NULL: all memory is alike. */
    tg_status (*alloc_shared)(void *state, uint64_t bytes, uint64_t *address,
                              struct tg_error *error);
    /* Either kind. */
    tg_status (*free)(void *state, uint64_t address, struct tg_error *error);
    /* Both also on a device that is lost, where its memory outlives it. */
    tg_status (*copy_in)(void *state, uint64_t address, const void *bytes, uint64_t size,
                         struct tg_error *error);
    tg_status (*copy_out)(void *state, void *bytes, uint64_t address, uint64_t size,
                          struct tg_error *error);
    /* NULL on a platform whose memory the host cannot see: that alone makes everything above
     * copy instead. Gives NULL for a range outside device memory, and where there is alloc_shared
     * for all other memory. */
    void *(*map)(void *state, uint64_t address, uint64_t size);

    /* Makes a module's kernels number `first` … `first + count - 1` of the device. */
    tg_status (*load)(void *state, const char *path, uint32_t first, uint32_t count,
                      struct tg_error *error);

    /* Starts what the struct tg_launch at that address says. */
    tg_status (*launch)(void *state, uint64_t launch, struct tg_error *error);
    /* Waits up to that many milliseconds for the end of the run. */
    enum tg_poll (*poll)(void *state, int milliseconds);
    /* From any thread: no more tasks are started. `poll` tells when the run has stopped. */
    void (*cancel)(void *state);
    /* Ends a device that no longer listens. Its memory stays. */
    void (*kill)(void *state);
    void (*autopsy)(void *state, struct tg_autopsy *autopsy);
};

/* Does the host see all of its memory? */
static inline bool tg_platform_shows_memory(const struct tg_platform_ops *ops)
{
    return ops->map != NULL && ops->alloc_shared == NULL;
}

/* All of them, in the order they are listed; NULL past the end. */
const struct tg_platform_ops *tg_platform_number(uint32_t number);
/* NULL where there is none of that name. */
const struct tg_platform_ops *tg_platform_named(const char *name);

#endif
