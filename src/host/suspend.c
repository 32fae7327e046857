/* SPDX-License-Identifier: Apache-2.0 */
/* Stops this process together with those that the library has started for it. */
#define _GNU_SOURCE 1
#include "base/children.h"
#include <errno.h>
#include <signal.h>
#include <taskglass/device.h>

/* Everything here may be called in a signal handler. */
void tg_suspend(void)
{
    static int suspending; /* __atomic: another thread may get the signal at the same time */
    struct sigaction before, by_default = {.sa_handler = SIG_DFL};
    sigset_t stop, masked;
    int cause = errno;
    if (__atomic_exchange_n(&suspending, 1, __ATOMIC_ACQUIRE))
        return;
    sigemptyset(&by_default.sa_mask);
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    tg_children_stop();
    sigaction(SIGTSTP, &by_default, &before);
    raise(SIGTSTP);
    pthread_sigmask(SIG_UNBLOCK, &stop, &masked); /* the process stops here, until SIGCONT */
    pthread_sigmask(SIG_SETMASK, &masked, NULL);
    sigaction(SIGTSTP, &before, NULL);
    tg_children_continue();
    __atomic_store_n(&suspending, 0, __ATOMIC_RELEASE);
    errno = cause;
}
