/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the library and the process that calls references.
 *
 *   the library                    the first process            the runner, a fork of it
 *   ───────────                    ─────────────────            ────────────────────────
 *   spawns it          ─────────►  loads the module
 *                      ◄ REFERENCE ×n, READY (or REFUSED)
 *                      ◄─ RUNNER ─ forks ─────────────────────► waits for a request
 *   writes arguments into the shared memory
 *   request            ────────────────────────────────────────►calls the reference
 *                      ◄───────────────────────────────────────── DONE
 *                                                               (or FAULT, and it dies)
 *                      ◄── DEAD ── waits for it, forks again
 *
 * The first process never calls a reference, so a new runner starts in the state of a fresh process for
 * the price of a fork. A request with `reference` TG_REFERENCE_RETIRE makes the runner exit, for a fresh
 * one, and the signal TG_REFERENCE_KILL makes the first process kill the runner with all that it has
 * started. A runner that stops itself is continued at once; the signal TG_REFERENCE_STOP stops both
 * processes, and SIGCONT continues both. All messages go through one socket that keeps their boundaries (SOCK_SEQPACKET); both processes of
 * the other end have it.
 *
 * The shared memory holds the tensors of one task, each between two guard pages:
 *
 *     │ guard │ ... fill │ tensor 0 │ fill │ guard │ ... fill │ tensor 1 │ fill │ guard │
 *
 * A tensor ends as close to its guard as its alignment allows. Only the runner's mapping has the guards:
 * a reference that leaves its tensor faults there. The library fills the few bytes between tensor and
 * guard and looks at them afterwards.
 */
#ifndef TG_REFERENCE_PROTOCOL_H
#define TG_REFERENCE_PROTOCOL_H

#include <signal.h>
#include <taskglass/tensor.h>
#include <taskglass/wire/task.h>

#define TG_REFERENCE_MAGIC 0x46455254u /* "TREF" */
#define TG_REFERENCE_RETIRE UINT32_MAX
#define TG_REFERENCE_KILL SIGUSR1
#define TG_REFERENCE_STOP SIGTSTP

enum {
    TG_REFERENCE_SOCKET_FD = 3,
    TG_REFERENCE_MEMORY_FD = 4,
    TG_REFERENCE_PAGE = 65536, /* the size of a guard: a multiple of the pages of every machine */
    TG_REFERENCE_ALIGN = 16,   /* of tensors, as malloc aligns them */
    TG_REFERENCE_EXIT_LOST = 121, /* the runner cannot reach its socket or its memory any more */
    TG_REFERENCE_EXIT_WANT = 122  /* the system has no memory, or no process, for it */
};

struct tg_reference_tensor {
    uint64_t offset; /* in the shared memory */
    uint64_t bytes;
    uint32_t dtype;
    uint32_t ndim;
    int64_t shape[TG_MAX_DIMS];
};

struct tg_reference_request {
    uint32_t magic;
    uint32_t sequence;
    uint32_t reference; /* its number in the module */
    uint32_t part;
    uint32_t n_tensors;
    uint32_t n_scalars;
    uint64_t memory; /* size of the shared memory; it only grows */
    struct tg_reference_tensor tensor[TG_MAX_TENSORS];
    struct tg_scalar scalar[TG_MAX_SCALARS];
};

enum tg_reference_message_type {
    TG_REFERENCE_IS = 1,  /* number; text: the kernel's name; signature, atol, rtol */
    TG_REFERENCE_READY,   /* number: how many references there are */
    TG_REFERENCE_REFUSED, /* number: a tg_status; text: why the module cannot be used */
    TG_REFERENCE_DONE,    /* number: the request's sequence */
    TG_REFERENCE_FAULT, /* number: the signal; address; offset: in the shared memory, or -1; at, from */
    TG_REFERENCE_DEAD,  /* number: si_code of waitid, status: si_status */
    TG_REFERENCE_RUNNER /* number: the process that will take the next requests */
};

struct tg_reference_message {
    uint32_t magic;
    uint32_t type; /* enum tg_reference_message_type */
    int64_t number;
    int64_t status;
    uint64_t address;
    int64_t offset;
    uint64_t at, from; /* FAULT: as in struct tg_code_place; 0: not known */
    double atol, rtol;
    int64_t has_signature; /* 0: the kernel takes any arguments */
    char signature[800];   /* of the kernel; a longer one, which cannot be valid, is cut */
    char text[500];
};

#endif
