/* SPDX-License-Identifier: Apache-2.0 */
/* A process that calls references: the library's end. src/reference/protocol.h has the picture. */
#ifndef TG_HOST_REFERENCE_PROCESS_H
#define TG_HOST_REFERENCE_PROCESS_H

#include "host/trust.h"
#include "reference/protocol.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <taskglass/status.h>
#include <taskglass/wire/orchestration.h>

/* A reference of the module, as the process describes it. */
struct tg_reference_about {
    char kernel[128]; /* "": it cannot be used */
    double atol, rtol;
    struct tg_kernel_desc signature; /* of the kernel; not `given`: it takes any arguments */
};

/* A process belongs to one thread, the one that starts it: it dies with that thread. */
struct tg_reference_process {
    pid_t pid;    /* and the number of its group; 0: there is none */
    pid_t runner; /* the process that calls references; 0: not known yet */
    pid_t group;  /* of the runner, and of all that references have started; 0: not known */
    int socket;
    int memory_fd;
    char *memory; /* shared with the runner, which may write anything to it at any time */
    uint64_t memory_size;
    uint32_t sequence;
    int how;         /* how the process ended, as waitpid tells it */
    uint32_t sites;  /* source lines that were looked up */
    bool fresh;      /* the runner has not called a reference yet */
    const int *stop; /* another thread sets it to end all waiting; __atomic */
    /* Called while the thread waits, unless NULL; a return other than 0 ends the waiting too. */
    int (*idle)(void *context);
    void *idle_context;
    double load_limit;   /* seconds that the module may take to load */
    uint32_t sandbox;    /* enum tg_sandbox */
    const char *program; /* lives longer than the process, like module */
    const struct tg_trusted *module;
};

/* How a call ended. */
enum tg_reference_end {
    TG_CALLED_DONE,
    TG_CALLED_FAILED,  /* the text says how: it crashed, exited, or wrote to our socket */
    TG_CALLED_LATE,    /* it did not return within the limit, as the text says */
    TG_CALLED_REFUSED, /* the system refused memory or a process, as the text says: not its fault */
    TG_CALLED_STOPPED
};

/* Prepares the structure; starts nothing. `limit`: seconds that a call may take. */
void tg_reference_process_init(struct tg_reference_process *process, const char *program,
                               const struct tg_trusted *module, double limit, uint32_t sandbox,
                               const int *stop);
/* Starts the process and loads the module. *about, an array that the caller frees, and *count may be
 * NULL. The errors are those of tg_workload_open; WORKLOAD_FAULT: the module crashed while it was
 * loaded; CANCELLED. */
tg_status tg_reference_process_start(struct tg_reference_process *process,
                                     struct tg_reference_about **about, uint32_t *count,
                                     struct tg_error *error);
/* Kills the process with all that it has started, and frees the memory. */
void tg_reference_process_end(struct tg_reference_process *process);

/* Makes the shared memory at least this large. */
tg_status tg_reference_process_reserve(struct tg_reference_process *process, uint64_t size,
                                       struct tg_error *error);
/* Makes sure that the next call is the first one of a runner. Starts the process if there is none. */
tg_status tg_reference_process_renew(struct tg_reference_process *process, struct tg_error *error);
/* Calls a reference. After a failure there is a fresh runner, or no process. */
enum tg_reference_end tg_reference_process_call(struct tg_reference_process *process,
                                                struct tg_reference_request *request, double limit,
                                                char *text, size_t size);

#endif
