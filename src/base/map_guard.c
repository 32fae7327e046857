/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "base/map_guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/files.h"

/* One mapped file. The handler reads these without a lock, so they are never freed, only used again: as
 * many as there ever were maps at one time. */
struct tg_guarded {
    struct tg_guarded *next; /* written before the entry is in the list, then constant */
    uint32_t version;        /* odd: free, or begin and end are changing */
    uintptr_t begin, end;    /* atomic */
    uint32_t lost;           /* atomic; enum below */
    uint64_t read;           /* atomic; bytes since the pages were given back */
    int fd;
    uint64_t size;
};
enum { WHOLE, FAULTED, SHORTER };

/* One per process, because a process has one handler of SIGBUS. */
static struct {
    pthread_mutex_t lock;
    struct tg_guarded *first; /* atomic: the handler reads it */
    size_t used;              /* entries that are not free */
    /* Written before the handler is installed, which reads them. */
    struct sigaction former;
    uintptr_t page;
    bool is_installed; /* ours is the handler, or one that was installed over it knows it */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- in the handler ----------------------------------------------------------------------------- */

/* True if the entry covers the address; *end: where it ends. The pair is read between two equal even
 * versions, so it never mixes two maps. The thread that faulted holds its map open, so that one's entry
 * does not change. */
static bool covers(const struct tg_guarded *guarded, uintptr_t address, uintptr_t *end)
{
    uint32_t version = __atomic_load_n(&guarded->version, __ATOMIC_ACQUIRE);
    uintptr_t begin = __atomic_load_n(&guarded->begin, __ATOMIC_ACQUIRE);
    *end = __atomic_load_n(&guarded->end, __ATOMIC_ACQUIRE);
    return version % 2 == 0 && version == __atomic_load_n(&guarded->version, __ATOMIC_RELAXED) &&
           address >= begin && address < *end;
}

static struct tg_guarded *find(uintptr_t address, uintptr_t *end)
{
    struct tg_guarded *guarded = __atomic_load_n(&all.first, __ATOMIC_ACQUIRE);
    while (guarded && !covers(guarded, address, end))
        guarded = guarded->next;
    return guarded;
}

/* Puts zeros in place of the pages from the address to the end of its map. False if no map has it. Calls
 * the kernel directly: sanitizers replace mmap by functions that a handler must not call. */
static bool put_zeros(uintptr_t address)
{
    const uintptr_t page = all.page, from = address / page * page;
    uintptr_t end;
    struct tg_guarded *guarded = find(address, &end);
    if (!guarded)
        return false;
    __atomic_store_n(&guarded->lost, FAULTED, __ATOMIC_RELEASE);
    long mapped = syscall(SYS_mmap, from, (end - from + page - 1) / page * page, PROT_READ,
                          MAP_FIXED | MAP_ANONYMOUS | MAP_PRIVATE | MAP_NORESERVE, -1, 0L);
    return mapped == (long)from;
}

/* What the signal does without any handler. A fault happens again when the handler returns, at the same
 * instruction; a signal that was sent has to be sent again. */
static void do_default(int number, const siginfo_t *info)
{
    const struct sigaction nothing = {.sa_handler = SIG_DFL};
    sigaction(number, &nothing, NULL);
    if (info->si_code <= 0)
        raise(number);
}

static void call_former(int number, siginfo_t *info, void *context)
{
    const struct sigaction former = all.former;
    sigset_t before;
    pthread_sigmask(SIG_BLOCK, &former.sa_mask, &before);
    if (former.sa_flags & SA_SIGINFO)
        former.sa_sigaction(number, info, context);
    else
        former.sa_handler(number);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static bool is_function(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO ||
           (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

static void pass_on(int number, siginfo_t *info, void *context)
{
    if (is_function(&all.former))
        call_former(number, info, context); /* which may leave by longjmp */
    else if (all.former.sa_handler == SIG_DFL || info->si_code > 0)
        do_default(number, info); /* a fault is never ignored, a signal that was sent may be */
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    bool is_of_memory = info->si_code == BUS_ADRERR || info->si_code == BUS_OBJERR ||
                        info->si_code == BUS_MCEERR_AR;
    if (!is_of_memory || !put_zeros((uintptr_t)info->si_addr))
        pass_on(number, info, context);
    errno = saved;
}

/* --- the list ----------------------------------------------------------------------------------- */

static bool is_ours(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO && action->sa_sigaction == on_fault;
}

/* Called with the lock. A handler that the program has installed over ours stays where it is: it passes
 * on to ours, and if ours passed on to it, they would never end. But the program may also have removed
 * ours, by putting back an older action. */
static bool install(void)
{
    struct sigaction now, ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (sigaction(SIGBUS, NULL, &now) != 0)
        return false;
    if (is_ours(&now) || (all.is_installed && is_function(&now)))
        return true;
    all.former = now;
    all.page = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&ours.sa_mask);
    all.is_installed = sigaction(SIGBUS, &ours, NULL) == 0;
    return all.is_installed;
}

/* Called with the lock. */
static void uninstall(void)
{
    struct sigaction now;
    if (sigaction(SIGBUS, NULL, &now) != 0 || !is_ours(&now))
        return;
    sigaction(SIGBUS, &all.former, NULL);
    all.is_installed = false;
}

/* Called with the lock. A free entry, in the list. */
static struct tg_guarded *find_free(void)
{
    struct tg_guarded *guarded = all.first;
    while (guarded && guarded->version % 2 == 0)
        guarded = guarded->next;
    if (guarded || !(guarded = calloc(1, sizeof *guarded)))
        return guarded;
    guarded->version = 1;
    guarded->next = all.first;
    __atomic_store_n(&all.first, guarded, __ATOMIC_RELEASE); /* pairs with the load in put_zeros */
    return guarded;
}

struct tg_guarded *tg_guard_add(const void *bytes, size_t size, int fd)
{
    pthread_mutex_lock(&all.lock);
    struct tg_guarded *guarded = install() ? find_free() : NULL;
    if (guarded) {
        guarded->fd = fd;
        guarded->size = size;
        __atomic_store_n(&guarded->lost, WHOLE, __ATOMIC_RELAXED);
        __atomic_store_n(&guarded->read, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&guarded->begin, (uintptr_t)bytes, __ATOMIC_RELEASE);
        __atomic_store_n(&guarded->end, (uintptr_t)bytes + size, __ATOMIC_RELEASE);
        __atomic_fetch_add(&guarded->version, 1, __ATOMIC_RELEASE); /* pairs with covers */
        all.used++;
    } else if (all.used == 0) {
        uninstall();
    }
    pthread_mutex_unlock(&all.lock);
    return guarded;
}

int tg_guard_remove(struct tg_guarded *guarded)
{
    pthread_mutex_lock(&all.lock);
    int fd = guarded->fd;
    __atomic_fetch_add(&guarded->version, 1, __ATOMIC_ACQ_REL);
    if (--all.used == 0)
        uninstall();
    pthread_mutex_unlock(&all.lock);
    return fd;
}

int tg_guard_fd(const struct tg_guarded *guarded)
{
    return guarded->fd;
}

int tg_guard_check(struct tg_guarded *guarded)
{
    struct stat info;
    uint32_t lost = __atomic_load_n(&guarded->lost, __ATOMIC_ACQUIRE);
    if (lost != SHORTER && fstat(guarded->fd, &info) == 0 && (uint64_t)info.st_size < guarded->size)
        __atomic_store_n(&guarded->lost, lost = SHORTER, __ATOMIC_RELEASE);
    return lost == WHOLE ? 0 : lost == SHORTER ? TG_CAUSE_SHORTER : TG_CAUSE_CHANGED;
}

/* The caller holds the map open, so its entry does not change. Two threads may both give the pages back:
 * they only read some again. */
void tg_guard_account(const void *bytes, size_t size)
{
    enum { MOST_RESIDENT = 32 << 20 };
    uintptr_t end;
    struct tg_guarded *guarded = size > 0 ? find((uintptr_t)bytes, &end) : NULL;
    if (!guarded || __atomic_add_fetch(&guarded->read, size, __ATOMIC_RELAXED) < MOST_RESIDENT)
        return;
    uintptr_t begin = __atomic_load_n(&guarded->begin, __ATOMIC_RELAXED);
    __atomic_store_n(&guarded->read, 0, __ATOMIC_RELAXED);
    (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
}
