/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/group.h"
#include <stddef.h>

/* A signal that is ignored is no longer pending. */
static void drop(int number)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
    action.sa_handler = SIG_DFL;
    sigaction(number, &action, NULL);
}

void tg_group_leave(void)
{
    sigset_t mask;
    for (int i = 0; i < TG_GROUP_SIGNALS; i++)
        if (tg_group_signal[i] != SIGTSTP)
            drop(tg_group_signal[i]);
    tg_group_mask(&mask);
    sigprocmask(SIG_UNBLOCK, &mask, NULL);
}
