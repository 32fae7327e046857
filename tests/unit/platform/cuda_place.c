/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses a process keeps free of its memory because another one uses them. */
#include "platform/cuda/process/gpu_place.c"
#include "test.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define FREE_PLACE UINT64_C(0x300000000000) /* nothing is near */
#define SIZE (UINT64_C(512) << 20)

static bool map_at(uint64_t at, uint64_t size)
{
    void *got = mmap((void *)(uintptr_t)at, size, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != MAP_FAILED && got != (void *)(uintptr_t)at)
        munmap(got, size);
    return got == (void *)(uintptr_t)at;
}

static bool is_free(uint64_t at)
{
    bool was_free = map_at(at, 4096);
    if (was_free)
        munmap((void *)(uintptr_t)at, 4096);
    return was_free;
}

/* A process with so many mappings from FREE_PLACE on, with as much free space after each. */
static pid_t start_host(uint32_t count, uint64_t apart)
{
    int ready[2];
    char byte = 0;
    CHECK(pipe(ready) == 0);
    pid_t host = fork();
    if (host == 0) {
        for (uint64_t i = 0; i < count; i++)
            if (!map_at(FREE_PLACE + i * apart, SIZE))
                _exit(1);
        (void)!write(ready[1], "y", 1);
        pause();
        _exit(0);
    }
    close(ready[1]);
    CHECK(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    return host;
}

static void end_host(pid_t host)
{
    kill(host, SIGKILL);
    waitpid(host, NULL, 0);
}

TEST(what_the_host_uses_is_taken_until_it_is_let_go)
{
    struct tg_cuda_kept kept;
    pid_t host = start_host(1, 0);
    tg_cuda_keep_clear(&kept, host);
    CHECK(!is_free(FREE_PLACE) && !is_free(FREE_PLACE + SIZE - 4096));
    CHECK(!is_free(FREE_PLACE - SIZE) && !is_free(FREE_PLACE + SIZE)); /* the host's next ones */
    tg_cuda_keep_no_more(&kept);
    CHECK(is_free(FREE_PLACE) && is_free(FREE_PLACE + SIZE - 4096));
    end_host(host);
}

TEST(what_this_process_has_there_stays)
{
    struct tg_cuda_kept kept;
    pid_t host = start_host(1, 0);
    CHECK(map_at(FREE_PLACE + 4096, 4096));
    volatile char *own =
        mmap((void *)(uintptr_t)(FREE_PLACE + SIZE / 2), 4096, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    CHECK(own != MAP_FAILED);
    *own = 7;
    tg_cuda_keep_clear(&kept, host);
    CHECK(!is_free(FREE_PLACE + SIZE / 4) && !is_free(FREE_PLACE + SIZE - 4096));
    CHECK(*own == 7);
    CHECK(is_free(FREE_PLACE + SIZE / 2 - 4096)); /* if it is a stack, it can grow */
    tg_cuda_keep_no_more(&kept);
    CHECK(*own == 7 && !is_free(FREE_PLACE + 4096));
    CHECK(is_free(FREE_PLACE + SIZE / 4));
    munmap((void *)(uintptr_t)(FREE_PLACE + 4096), 4096);
    munmap((void *)own, 4096);
    end_host(host);
}

TEST(a_host_with_many_mappings_costs_few)
{
    enum { MANY = 1000 };
    struct tg_cuda_kept kept;
    pid_t host = start_host(MANY, UINT64_C(4) << 30); /* too far apart to be one at first */
    tg_cuda_keep_clear(&kept, host);
    CHECK(kept.n > 0 && kept.n < TG_CUDA_SPANS);
    for (uint64_t i = 0; i < MANY; i++)
        CHECK(!is_free(FREE_PLACE + i * (UINT64_C(4) << 30)));
    tg_cuda_keep_no_more(&kept);
    end_host(host);
}

TEST(a_host_that_the_system_does_not_show_has_nothing)
{
    struct tg_cuda_kept kept;
    tg_cuda_keep_clear(&kept, INT32_MAX);
    CHECK(kept.n == 0);
    tg_cuda_keep_no_more(&kept);
}

TEST_MAIN()
