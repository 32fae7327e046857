/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A platform is one const table. The host's code knows no platform by name: a NULL slot shows what
 * a platform cannot do, and only the slots that say so here may be NULL.
 *
 * Threads, as in device.h: one thread at a time calls these functions. Exceptions are `cancel`, and
 * copy_in, copy_out and map, which a recording's collector calls while another thread is in `poll`.
 */
#ifndef TG_PLATFORM_PLATFORM_H
#define TG_PLATFORM_PLATFORM_H

#include "sandbox/sandbox.h"
#include <stdbool.h>
#include <stdint.h>
#include <taskglass/status.h>
#include <taskglass/wire/comm.h>
#include <taskglass/wire/device.h>

#define TG_PLATFORM_ABI 1u

/* Asks whether to give up waiting for the device while it starts or loads a module; several times a
 * second. `stop` may be NULL. */
struct tg_watch {
    bool (*stop)(void *context);
    void *context;
};

/* The device to open; the caller has filled in every default. */
struct tg_platform_config {
    uint32_t cores;
    uint32_t schedulers;
    uint64_t memory;
    const char *device_program; /* the program to start */
    double load_seconds;        /* how long `load` may take */
    struct tg_watch watch;      /* of `open` and `load`, which then end with CANCELLED */
    uint32_t sandbox;           /* enum tg_sandbox */
    uint32_t gpu;               /* which of several; counted on from the first if there are fewer */
    double linger_seconds; /* how long a device's kernel may stay after a run, for the next one */
};

/* The GPU of a device, as its process says. */
struct tg_platform_gpu {
    uint32_t index; /* among those that the process sees */
    uint32_t count; /* how many it sees; 0: the platform has none */
    uint64_t id;    /* the same in every process of the machine; 0: not known */
    char name[96];  /* "": not known */
};

/* How the last run began that has ended. */
struct tg_platform_begun {
    uint64_t at;   /* CLOCK_MONOTONIC, in ns; 0: not known */
    bool lingered; /* it found a kernel of the run before, which had stayed for it */
};

/* A run to start. A platform whose memory is far away is told here what it needs to know beforehand. */
struct tg_platform_launch {
    uint64_t address;                 /* of its struct tg_launch */
    uint64_t comm;                    /* of its struct tg_comm_setup, or 0 */
    uint32_t first_kernel, n_kernels; /* of its module */
    bool is_built;                    /* a thread of the device builds the graph */
    bool is_beside;                   /* an orchestrator beside the device builds it */
};

/* An open device. */
struct tg_platform_about {
    uint64_t control; /* address of the control area */
    uint64_t memory_used;
    int pid; /* 0 if the device is not a process */
    struct tg_sandbox_report sandbox;
    struct tg_platform_gpu gpu;
    struct tg_platform_begun begun;
};

enum tg_poll { TG_POLL_RUNNING, TG_POLL_OVER, TG_POLL_STOPPED, TG_POLL_LOST };

/* NONE: none is there now, or the device has ended. BAD: bytes that are no call. */
enum tg_call_taken { TG_CALL_NONE, TG_CALL_TAKEN, TG_CALL_BAD };

/* How a device ended, for the error message. */
struct tg_autopsy {
    bool crashed;   /* it ended itself and may have left a fault record; false: killed */
    char cause[96]; /* "was killed by signal 9 (SIGKILL)" */
};

struct tg_platform_ops {
    uint32_t abi;  /* TG_PLATFORM_ABI */
    uint32_t size; /* of this struct */
    const char *name;
    const char *summary;
    const char *program; /* the device program's file name */
    uint32_t max_blocks;
    uint32_t max_schedulers;
    bool memory_dies;    /* memory is lost with the device: read it before `kill` */
    bool slow_to_open;   /* takes a second rather than a millisecond */
    bool decides_cores;  /* `open` chooses the number if config.cores is 0 */
    bool copies_in_turn; /* one copy at a time: several threads that copy wait for each other */
    bool
        cores_wait_at_tasks; /* a task's heir is worth choosing (device/heir.h), and a line needs room */
    /* Its process can run an orchestration beside the device (tg_launch.done_words), whose words and
     * struct tg_orchestration are in memory of alloc_shared then. */
    bool orchestrates_beside;
    /* `locate` is for such an orchestration alone: cores do not know where they are. */
    bool locates_beside;

    /* OK if this machine can open the platform. NULL: always. The error says what is missing;
     * `open` reports the same error. */
    tg_status (*probe)(struct tg_error *error);

    tg_status (*open)(const struct tg_platform_config *config, void **state,
                      struct tg_error *error);
    void (*close)(void *state);
    void (*describe)(const void *state, struct tg_platform_about *about);

    tg_status (*alloc)(void *state, uint64_t bytes, uint64_t *address, struct tg_error *error);
    /* Allocates memory that `map` can show while the device writes it. NULL: there is only one kind
     * of memory. */
    tg_status (*alloc_shared)(void *state, uint64_t bytes, uint64_t *address,
                              struct tg_error *error);
    /* Frees either kind. */
    tg_status (*free)(void *state, uint64_t address, struct tg_error *error);
    /* Both also work on a lost device, for memory that outlives it. */
    tg_status (*copy_in)(void *state, uint64_t address, const void *bytes, uint64_t size,
                         struct tg_error *error);
    tg_status (*copy_out)(void *state, void *bytes, uint64_t address, uint64_t size,
                          struct tg_error *error);
    /* The slot is NULL if the host cannot see the platform's memory; the host then copies. The
     * function returns NULL for a range outside device memory; if there is alloc_shared, also for
     * memory that it did not allocate. */
    void *(*map)(void *state, uint64_t address, uint64_t size);
    /* Says that the host will write all of this range through `map`, perhaps for the first time. The
     * platform may get the memory from the system at once, which costs less than page by page. NULL:
     * there is nothing to gain. */
    void (*expect)(void *state, uint64_t address, uint64_t size);
    /* Between runs: sets what kernels may do with pieces of memory, one after the other, until the next
     * call; a kernel that does something else faults. The host's own access does not change. Whoever
     * protects memory allows everything again before it is freed. NULL: the platform cannot. */
    tg_status (*protect)(void *state, const struct tg_protection *piece, uint32_t count,
                         struct tg_error *error);

    /* Loads a module; its kernels get the numbers `first` to `first + count - 1`. */
    tg_status (*load)(void *state, const char *path, uint32_t first, uint32_t count,
                      struct tg_error *error);

    tg_status (*launch)(void *state, const struct tg_platform_launch *launch,
                        struct tg_error *error);
    /* Waits at most that many milliseconds for the run to end. */
    enum tg_poll (*poll)(void *state, int milliseconds);
    /* Stops starting tasks; any thread may call it. `poll` reports when the run has stopped. */
    void (*cancel)(void *state);
    /*
     * Calls of communication (wire/comm.h). One thread of the host, which need not be the one in `poll`,
     * takes what the device posts, and says when a call is done. Before it waits for the descriptor it says that
     * it sleeps: false, there is something to do already. While it sleeps the descriptor gets readable when
     * there may be something to take, or room for what is done; at other times it need not. NULL, all five: the
     * device cannot communicate.
     */
    int (*calls_fd)(void *state);
    enum tg_call_taken (*take_call)(void *state, struct tg_comm_post *post);
    bool (*calls_sleep)(void *state, bool sleeps);
    /* True if the device has not heard yet of all calls that are done. */
    bool (*calls_unheard)(void *state);
    tg_status (*call_done)(void *state, uint32_t slot, struct tg_error *error);
    /* Asks the workers to write into their status where in a module's code they are. They answer soon, or
     * not at all. NULL: they cannot. */
    void (*locate)(void *state);
    /* Ends a device that no longer responds. Its memory stays, unless memory_dies. */
    void (*kill)(void *state);
    void (*autopsy)(void *state, struct tg_autopsy *autopsy);
};

/* True if the host sees all of the platform's memory. */
static inline bool tg_platform_shows_memory(const struct tg_platform_ops *ops)
{
    return ops->map != NULL && ops->alloc_shared == NULL;
}

/* The platform of that number, in the order of the list; NULL past the end. */
const struct tg_platform_ops *tg_platform_number(uint32_t number);
/* NULL if there is no platform of that name. */
const struct tg_platform_ops *tg_platform_named(const char *name);

#endif
