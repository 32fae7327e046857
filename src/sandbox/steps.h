/* SPDX-License-Identifier: Apache-2.0 */
/* The steps into the sandbox, which enter.c takes in order. */
#ifndef TG_SANDBOX_STEPS_H
#define TG_SANDBOX_STEPS_H

#include "sandbox/sandbox.h"

/* What the process keeps. */
struct tg_sandbox_needs {
    bool forks; /* may start processes that run the same program */
    bool execs; /* may become another program */
    bool tools; /* a sanitizer: writes reports, starts its symbolizer, looks at its own threads */
    bool file_rules; /* Landlock keeps it from writing files, so that the filter need not */
    pid_t self;      /* without `forks`: the process that may get signals, itself */
    pid_t host;      /* with `forks`: the process that may get none; its children may */
};

/* landlock.c: restricts this thread and those that it starts. Needs no_new_privs. Returns the version in
 * force, or 0. With `may_write` the rules are about networks and signals alone. */
uint32_t tg_sandbox_landlock(bool may_write);

/* filter.c: the same with a seccomp filter. False if the kernel refuses it. */
bool tg_sandbox_filter(const struct tg_sandbox_needs *needs);

#endif
