/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ctrl-C, Ctrl-Z and timeout(1) send their signals to a whole group of processes, and mean the host. A
 * process that the host starts leaves the host's group before it runs its program, but for a moment it is
 * in that group. So it starts with these signals blocked. If one of them acted before the program runs,
 * the process would die, or it would stop, and the host would wait for it inside posix_spawn for ever.
 */
#ifndef TG_SANDBOX_GROUP_H
#define TG_SANDBOX_GROUP_H

#include <signal.h>

static const int tg_group_signal[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU};
enum { TG_GROUP_SIGNALS = sizeof tg_group_signal / sizeof tg_group_signal[0] };

/* The mask with which the process starts. */
static inline void tg_group_mask(sigset_t *mask)
{
    sigemptyset(mask);
    for (int i = 0; i < TG_GROUP_SIGNALS; i++)
        sigaddset(mask, tg_group_signal[i]);
}

/* Drops what was sent to the host's group, and unblocks the signals. The process calls it once it notices
 * that the host dies: a SIGTSTP, which is not dropped, may stop it here until the host continues it. */
void tg_group_leave(void);

#endif
