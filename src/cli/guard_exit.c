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

/* libc's functions. They are looked up before any module is loaded: dlsym waits for the lock that the
 * linker holds while a constructor runs, and such a constructor may never return. */
static void (*real_exit)(int), (*real_quick_exit)(int);

__attribute__((constructor)) static void find_real(void)
{
    /* ISO C has no conversion from an object's pointer to a function's; POSIX wants this to work. */
    real_exit = (void (*)(int))(uintptr_t)dlsym(RTLD_NEXT, "exit");
    real_quick_exit = (void (*)(int))(uintptr_t)dlsym(RTLD_NEXT, "quick_exit");
}

/* `real` is NULL for the functions that only end the process, which the kernel does. */
__attribute__((noreturn)) static void leave(const char *function, void (*real)(int), int status)
{
    cli_guard_left(function, status);
    if (real != NULL)
        real(status);
    for (;;)
        syscall(SYS_exit_group, status);
}

VISIBLE void exit(int status)
{
    leave("exit", real_exit, status);
}

VISIBLE void quick_exit(int status)
{
    leave("quick_exit", real_quick_exit, status);
}

VISIBLE void _exit(int status)
{
    leave("_exit", NULL, status);
}

VISIBLE void _Exit(int status)
{
    leave("_Exit", NULL, status);
}
