/* SPDX-License-Identifier: Apache-2.0 */
#include "base/children.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* A device or two, and as many processes of references as there are CPUs. */
enum { MOST = 256 };

/* pid << 32 | signal; 0: free. __atomic */
static uint64_t children[MOST];

void tg_children_add(pid_t pid, int stop)
{
    uint64_t child = (uint64_t)(uint32_t)pid << 32 | (uint32_t)stop;
    for (size_t i = 0; i < MOST; i++) {
        uint64_t free = 0;
        if (__atomic_compare_exchange_n(&children[i], &free, child, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
            return;
    }
}

void tg_children_change(pid_t pid, int stop)
{
    for (size_t i = 0; i < MOST; i++) {
        uint64_t child = __atomic_load_n(&children[i], __ATOMIC_ACQUIRE);
        if (child != 0 && child >> 32 == (uint32_t)pid)
            __atomic_store_n(&children[i], child >> 32 << 32 | (uint32_t)stop, __ATOMIC_RELEASE);
    }
}

void tg_children_remove(pid_t pid)
{
    for (size_t i = 0; i < MOST; i++) {
        uint64_t child = __atomic_load_n(&children[i], __ATOMIC_ACQUIRE);
        if (child >> 32 == (uint32_t)pid)
            __atomic_store_n(&children[i], 0, __ATOMIC_RELEASE);
    }
}

void tg_children_hold(sigset_t *before)
{
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    pthread_sigmask(SIG_BLOCK, &stop, before);
}

void tg_children_release(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

void tg_children_stop(void)
{
    for (size_t i = 0; i < MOST; i++) {
        uint64_t child = __atomic_load_n(&children[i], __ATOMIC_ACQUIRE);
        if (child != 0)
            kill((pid_t)(child >> 32), (int)(uint32_t)child);
    }
}

void tg_children_continue(void)
{
    for (size_t i = 0; i < MOST; i++) {
        uint64_t child = __atomic_load_n(&children[i], __ATOMIC_ACQUIRE);
        if (child != 0)
            kill((pid_t)(child >> 32), SIGCONT);
    }
}
