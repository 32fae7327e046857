/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library to preload (LD_PRELOAD) that fails the N-th allocation of a program. The C library calls the
 * same functions, so that those behind strdup, asprintf, open_memstream, fopen and dlopen count too.
 *
 *   TASKGLASS_FAULT_PROCESS   the file name of the program; its allocations count from main() on
 *   TASKGLASS_FAULT_NTH       which allocation fails; 0: none, they are only counted
 *   TASKGLASS_FAULT_FROM      if it is 1, all later ones fail too
 *   TASKGLASS_FAULT_REPORT    a file of struct fault_report, which the library maps
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The functions of the C library that do the work; it exports them for such libraries. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

enum { FRAMES = 24 };

struct fault_report {
    uint64_t counted, failed;
    uint64_t base; /* where the program was loaded; 0 if it was not relocated */
    uint64_t frames[FRAMES];
};

static struct fault_report *report;
static uint64_t nth;
static bool from, is_counting;
static __thread bool is_inside; /* this thread is in must_fail(), which may allocate */

static bool must_fail(void)
{
    if (!__atomic_load_n(&is_counting, __ATOMIC_ACQUIRE) || is_inside)
        return false;
    uint64_t n = __atomic_add_fetch(&report->counted, 1, __ATOMIC_RELAXED);
    if (nth == 0 || n < nth || (n > nth && !from))
        return false;
    if (__atomic_fetch_add(&report->failed, 1, __ATOMIC_RELAXED) == 0) {
        void *frames[FRAMES];
        is_inside = true;
        int count = backtrace(frames, FRAMES);
        for (int i = 0; i < count; i++)
            report->frames[i] = (uint64_t)(uintptr_t)frames[i];
        is_inside = false;
    }
    errno = ENOMEM;
    return true;
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    return must_fail() ? NULL : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *block, size_t size)
{
    return must_fail() ? NULL : __libc_realloc(block, size);
}

__attribute__((visibility("default"))) void *reallocarray(void *block, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, bytes);
}

__attribute__((visibility("default"))) void *aligned_alloc(size_t alignment, size_t size)
{
    return must_fail() ? NULL : __libc_memalign(alignment, size);
}

__attribute__((visibility("default"))) void *memalign(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

__attribute__((visibility("default"))) int posix_memalign(void **block, size_t alignment,
                                                          size_t size)
{
    void *got = must_fail() ? NULL : __libc_memalign(alignment, size);
    if (!got)
        return ENOMEM;
    *block = got;
    return 0;
}

/* ── where counting begins ─────────────────────────────────────────────────────────────── */

static void begin(void)
{
    const char *name = getenv("TASKGLASS_FAULT_PROCESS"), *path = getenv("TASKGLASS_FAULT_REPORT");
    const char *number = getenv("TASKGLASS_FAULT_NTH"), *more = getenv("TASKGLASS_FAULT_FROM");
    char exe[4096];
    ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (!name || !path || length < 0)
        return;
    exe[length] = '\0';
    const char *last = strrchr(exe, '/');
    if (strcmp(last ? last + 1 : exe, name) != 0)
        return;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *bytes =
        fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (bytes == MAP_FAILED)
        return;
    report = bytes;
    nth = number ? strtoull(number, NULL, 10) : 0;
    from = more && *more == '1';
    void *frames[2];
    (void)backtrace(frames, 2); /* its first call allocates */
    __atomic_store_n(&is_counting, true, __ATOMIC_RELEASE);
}

typedef int (*main_fn)(int, char **, char **);
static main_fn real_main;

static int counted_main(int argc, char **argv, char **environment)
{
    Dl_info info;
    begin();
    if (report && dladdr((void *)(uintptr_t)real_main, &info))
        report->base = (uint64_t)(uintptr_t)info.dli_fbase;
    return real_main(argc, argv, environment);
}

typedef int (*start_fn)(main_fn, int, char **, void (*)(void), void (*)(void), void (*)(void),
                        void *);

__attribute__((visibility("default"))) int __libc_start_main(main_fn program, int argc, char **argv,
                                                             void (*init)(void), void (*fini)(void),
                                                             void (*rtld_fini)(void), void *stack)
{
    start_fn start;
    void *found = dlsym(RTLD_NEXT, "__libc_start_main");
    memcpy(&start, &found, sizeof start);
    real_main = program;
    return start(counted_main, argc, argv, init, fini, rtld_fini, stack);
}
