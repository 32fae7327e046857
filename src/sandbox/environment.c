/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "sandbox/sandbox.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The variables that a process gets; a star stands for any characters. Everything else stays in the
 * host: tokens, passwords and addresses of agents are none of a kernel's business. docs/security.md and
 * man/taskglass.1 have the same list, and tests/fault/test_sandbox.py compares them.
 */
static const struct row {
    const char *name;
    bool gpu_only;
} table[] = {
    /* the loader and libc */
    {"LD_*", false},
    {"GLIBC_TUNABLES", false},
    {"MALLOC_*", false},
    /* the language of messages, and the time zone */
    {"LANG", false},
    {"LANGUAGE", false},
    {"LC_*", false},
    {"LOCPATH", false},
    {"TZ", false},
    {"TZDIR", false},
    /* sanitizers and valgrind; they find their symbolizer by PATH */
    {"*SAN_OPTIONS", false},
    {"*SAN_SYMBOLIZER_PATH", false},
    {"VALGRIND_*", false},
    {"PATH", false},
    /* how many threads the libraries of references start */
    {"OMP_*", false},
    {"GOMP_*", false},
    {"KMP_*", false},
    {"MKL_*", false},
    {"OPENBLAS_*", false},
    /* ours */
    {"TASKGLASS_*", false},
    /* NVIDIA's driver and tools, and where they keep what they have compiled */
    {"CUDA*", true},
    {"CUPTI*", true},
    {"NV*", true},
    {"_NV*", true},
    {"__NV*", true},
    {"NSYS_*", true},
    {"QUADD_*", true},
    {"HOME", true},
    {"TMPDIR", true},
    {"XDG_*", true},
};

/* Does the variable "NAME=value" have this name? */
static bool has_name(const char *variable, const char *name)
{
    size_t typed = strcspn(variable, "="), length = strlen(name);
    if (name[0] == '*')
        return typed >= length - 1 &&
               strncmp(variable + typed - (length - 1), name + 1, length - 1) == 0;
    if (name[length - 1] == '*')
        return typed >= length - 1 && strncmp(variable, name, length - 1) == 0;
    return typed == length && strncmp(variable, name, length) == 0;
}

static bool is_passed_on(const char *variable, enum tg_sandbox_kind kind)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if ((kind == TG_SANDBOX_FOR_GPU || !table[i].gpu_only) && has_name(variable, table[i].name))
            return true;
    return false;
}

char **tg_sandbox_environment(enum tg_sandbox_kind kind)
{
    size_t n = 0, kept = 0;
    char **chosen;
    while (environ != NULL && environ[n] != NULL)
        n++;
    chosen = calloc(n + 1, sizeof *chosen);
    for (size_t i = 0; chosen != NULL && i < n; i++)
        if (is_passed_on(environ[i], kind))
            chosen[kept++] = environ[i];
    return chosen;
}
