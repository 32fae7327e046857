/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes rights away from the processes that run a module's code. docs/security.md has the list.
 *
 *   the library                              the process
 *   tg_sandbox_environment: its variables ─► tg_sandbox_close_from: no inherited descriptors
 *                                            tg_sandbox_enter, before its first thread and before it
 *                                            loads a module
 *                        the report ◄────────
 *
 * Every step that this machine's kernel refuses is left out, and the report says so. A run never fails
 * because of it.
 */
#ifndef TG_SANDBOX_SANDBOX_H
#define TG_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Which process it is. A process that holds a GPU keeps more rights: see docs/security.md. The one that looks
 * up source lines runs no module; it may become another program. */
enum tg_sandbox_kind {
    TG_SANDBOX_FOR_DEVICE,
    TG_SANDBOX_FOR_REFERENCES,
    TG_SANDBOX_FOR_GPU,
    TG_SANDBOX_FOR_LINES
};

/* What is in force. All zero: nothing. */
struct tg_sandbox_report {
    bool no_new_privs;
    bool seccomp;
    uint32_t landlock; /* the version of Landlock's interface that is used; 0: none */
};

/* The variables of the caller's environment that the process gets: an array for posix_spawn, which the
 * caller frees; the texts stay in the environment. NULL: out of memory. */
char **tg_sandbox_environment(enum tg_sandbox_kind kind);

/* Closes all descriptors from this one on, such as those that the host's program had open without
 * close-on-exec. */
void tg_sandbox_close_from(int first);

/* Enters the sandbox, for good. `host` is the process that no signal may reach. The calling thread must be
 * the only one, because threads that run already would stay outside. */
struct tg_sandbox_report tg_sandbox_enter(enum tg_sandbox_kind kind, pid_t host);

/* For a process in the sandbox: from now on neither it nor what it starts can leave its group, so that one
 * signal to the group reaches all of them. False: this kernel cannot do that. */
bool tg_sandbox_keep_group(void);

#endif
