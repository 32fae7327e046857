/* SPDX-License-Identifier: Apache-2.0 */
/* Lets a short piece of work end before a signal ends the program. */
#ifndef TG_BASE_SIGNALS_H
#define TG_BASE_SIGNALS_H

#include <signal.h>

/* Holds back SIGINT, SIGTERM and SIGHUP in this thread, for the removal of files
 * that are not complete: a second Ctrl-C would leave the rest. SIGQUIT and SIGKILL still end it. */
static inline void tg_signals_hold(sigset_t *before)
{
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &held, before);
}

static inline void tg_signals_release(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

#endif
