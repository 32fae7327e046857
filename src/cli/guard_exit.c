/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces exit() and its relatives for the modules that this program loads: the dynamic linker finds
 * the program's functions before those of libc. Otherwise a workload that calls exit(0) would end the
 * command silently and with success. Outside a guarded function they do what libc's functions do.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/guard.h"

#define VISIBLE __attribute__((visibility("default"), noreturn))

/* Calls libc's function of that name. If there is none, the kernel ends the process. */
__attribute__((noreturn)) static void leave(const char *function, int status)
{
    /* ISO C has no conversion from an object's pointer to a function's; POSIX wants this to work. */
    void (*real)(int) = (void (*)(int))(uintptr_t)dlsym(RTLD_NEXT, function);
    cli_guard_left(function, status);
    if (real != NULL)
        real(status);
    for (;;)
        syscall(SYS_exit_group, status);
}

VISIBLE void exit(int status)
{
    leave("exit", status);
}

VISIBLE void quick_exit(int status)
{
    leave("quick_exit", status);
}

VISIBLE void _exit(int status)
{
    leave("_exit", status);
}

VISIBLE void _Exit(int status)
{
    leave("_Exit", status);
}
