/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that writing a trace takes does not grow with the run. Two processes write a trace each, of a few
 * tasks and of ten times as many; TASKGLASS_TEST_TASKS says how many those are (make soak: ten million).
 */
#include "unit/trace/made.h"

#include <sys/resource.h>
#include <sys/wait.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

/* Tasks on three cores, submitted by an orchestrator, each waiting for two others. */
static void fill(struct tg_spool *spool, uint64_t tasks)
{
    for (uint64_t i = 0; i < tasks; i++) {
        uint64_t begin = 1000 + i / 3 * 40, id = made_id(i % 4, i / 4);
        made_add(spool, (struct tg_spool_event){.type = TG_SPOOL_SUBMIT,
                                                .id = id,
                                                .begin = 10 * i,
                                                .end = 10 * i + 9,
                                                .number = i % 2});
        made_add(spool, (struct tg_spool_event){.type = TG_SPOOL_TASK,
                                                .id = id,
                                                .at = begin - 30,
                                                .begin = begin,
                                                .end = begin + 40,
                                                .core = (uint32_t)(i % 3),
                                                .number = i % 3});
        for (uint64_t back = 3; back < 6 && back <= i; back += 2)
            made_add(spool, (struct tg_spool_event){.type = TG_SPOOL_EDGE,
                                                    .id = id,
                                                    .at = made_id((i - back) % 4, (i - back) / 4)});
        if (i % 64 == 0)
            made_add(spool, (struct tg_spool_event){.type = TG_SPOOL_RINGS,
                                                    .begin = 10 * i,
                                                    .id = i % 100,
                                                    .at = i,
                                                    .core = i / 64 % 4});
    }
}

/* The largest resident size of a process that writes the trace, in bytes. */
static uint64_t resident_of(uint64_t tasks, const char *name)
{
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        char path[128];
        struct tg_trace_result result;
        struct tg_spool *spool = made_begin();
        fill(spool, tasks);
        snprintf(path, sizeof path, "%s/%s", folder, name);
        struct tg_trace_target target = {
            .path = path, .format = tg_trace_format_of(path), .memory = 8 << 20};
        bool good = tg_trace_write(spool, &made_run, &target, &result, &error) == TG_OK &&
                    result.tasks == tasks && result.left_out == 0;
        unlink(path);
        tg_spool_destroy(spool);
        rmdir(folder);
        _exit(good ? 0 : 1);
    }
    int status;
    struct rusage usage;
    REQUIRE(wait4(pid, &status, 0, &usage) == pid && WIFEXITED(status));
    CHECK_EQ_I(WEXITSTATUS(status), 0);
    return (uint64_t)usage.ru_maxrss << 10;
}

TEST(memory_does_not_grow_with_the_run)
{
    if (IS_SANITIZED)
        SKIP("a sanitizer keeps memory that was freed");
    const char *text = getenv("TASKGLASS_TEST_TASKS");
    uint64_t tasks = text ? strtoull(text, NULL, 10) : 60000;
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "x.json" : "x.pftrace";
        if (i > 0 && text)
            tasks /= 10; /* JSON of ten million tasks has ten gigabytes */
        uint64_t few = resident_of(tasks / 10, name), many = resident_of(tasks, name);
        printf("%s: %llu KiB for %llu tasks, %llu KiB for ten times as many\n", name,
               (unsigned long long)few >> 10, (unsigned long long)tasks / 10,
               (unsigned long long)many >> 10);
        CHECK(many < (UINT64_C(64) << 20));
    }
}

TEST_MAIN()
