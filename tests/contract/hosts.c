/* SPDX-License-Identifier: Apache-2.0 */
/* However the host's program ends, its devices end too. Each host here is a child process. */
#define _GNU_SOURCE 1
#include "slow.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

/* True if the process is gone, or is a zombie that process 1 has not reaped yet. */
static bool is_gone(int pid)
{
    char path[64], text[512] = "", *rest;
    FILE *file;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = fopen(path, "r");
    if (file == NULL)
        return true;
    if (fread(text, 1, sizeof text - 1, file) == 0)
        text[0] = '\0';
    fclose(file);
    rest = strrchr(text, ')');
    return rest == NULL || rest[2] == 'Z' || rest[2] == 'X';
}

static bool is_gone_soon(int pid)
{
    for (double end = seconds_now() + AT_ONCE_SECONDS; seconds_now() < end && !is_gone(pid);)
        sleep_seconds(0.01);
    return is_gone(pid);
}

enum work { IDLE, BUSY, SPINNING };

/* Opens a device and keeps it busy; sends the device's process id through the pipe. */
static struct tg_device *host_begin(enum work work, int pipe)
{
    struct tg_device *device = open_device(3, 0);
    struct tg_run *run;
    int pid = device_pid(device);
    if (work != IDLE) {
        struct slow slow = work == BUSY ? slow_make(device, 100000, 0.0001, false)
                                        : slow_make(device, 3, 1000, false);
        GOOD(tg_run_start(slow.graph, NULL, &run, error));
        sleep_seconds(0.005);
    }
    if (write(pipe, &pid, sizeof pid) != sizeof pid)
        _exit(99);
    return device;
}

/* Runs a host that ends in the given way; checks that its device ended too, and returns how the
 * host ended. */
static int host(enum work work, void (*end)(void))
{
    int ends[2], pid = 0, status = -1;
    pid_t child;
    REQUIRE(pipe(ends) == 0);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        if (setjmp(test_end_) == 0) {
            host_begin(work, ends[1]);
            end();
        }
        _exit(98);
    }
    close(ends[1]);
    REQUIRE(read(ends[0], &pid, sizeof pid) == sizeof pid);
    close(ends[0]);
    waitpid(child, &status, 0);
    CHECK(pid == 0 || is_gone_soon(pid));
    return status;
}

static void by_sigkill(void)
{
    raise(SIGKILL);
}

static void by_sigterm(void)
{
    raise(SIGTERM);
}

/* Skips the sanitizer's leak check, which would correctly report that nothing was closed. */
#if defined(__SANITIZE_ADDRESS__)
__attribute__((visibility("default"))) const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "detect_leaks=0";
}
#endif

static void by_exit(void)
{
    exit(7);
}

static void by__exit(void)
{
    _exit(7);
}

static void by_abort(void)
{
    signal(SIGABRT, SIG_DFL);
    abort();
}

static void by_crash(void)
{
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static void by_exec(void)
{
    execl("/bin/sleep", "sleep", "0.5", (char *)NULL);
}

/* A pipe whose writing end only the test has: a process that reads from it lives until the test closes
 * that end. */
static int until[2];

/* Leaves a child process behind that has copies of all descriptors, the socket included. */
static void by_sigkill_after_a_fork(void)
{
    if (fork() == 0) {
        char byte;
        close(1); /* the reader of the test's output must not wait for this process */
        close(2);
        close(until[1]);
        _exit(read(until[0], &byte, 1) == 0);
    }
    raise(SIGKILL);
}

static void *end_process(void *unused)
{
    (void)unused;
    exit(7);
}

static void by_exit_of_another_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, end_process, NULL);
    pthread_exit(NULL);
}

CONTRACT(a_host_that_is_killed_leaves_no_device)
{
    for (enum work work = IDLE; work <= SPINNING; work++) {
        int status = host(work, by_sigkill);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
}

CONTRACT(a_host_that_is_terminated_leaves_no_device)
{
    for (enum work work = IDLE; work <= SPINNING; work++) {
        int status = host(work, by_sigterm);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    }
}

CONTRACT(a_host_that_exits_without_closing_leaves_no_device)
{
    for (enum work work = IDLE; work <= SPINNING; work++) {
        int status = host(work, by_exit);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
}

CONTRACT(a_host_whose_other_thread_exits_leaves_no_device)
{
    int status = host(BUSY, by_exit_of_another_thread);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}
CONTRACT(a_host_that_ends_at_once_leaves_no_device)
{
    int status = host(SPINNING, by__exit);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

CONTRACT(a_host_that_aborts_leaves_no_device)
{
    int status = host(BUSY, by_abort);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

CONTRACT(a_host_that_crashes_leaves_no_device)
{
    int status = host(BUSY, by_crash);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

CONTRACT(a_host_that_becomes_another_program_leaves_no_device)
{
    int status = host(BUSY, by_exec);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

CONTRACT(a_host_that_is_killed_leaves_no_device_though_a_fork_of_it_lives)
{
    for (enum work work = IDLE; work <= SPINNING; work++) {
        int status;
        REQUIRE(pipe2(until, O_CLOEXEC) == 0);
        status = host(work, by_sigkill_after_a_fork);
        close(until[1]);
        close(until[0]);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
}

/* The host is killed while it opens a device: the device's process may exist without having
 * received its first message. */
CONTRACT(a_host_that_is_killed_while_it_opens_leaves_no_device)
{
    uint64_t random = 3;
    const uint64_t longest = platform->slow_to_open ? 800000 : 8000; /* microseconds */
    for (int i = 0; i < contract_rounds(ROUNDS(100, 10), 8); i++) {
        char marker[64], path[64], text[8192];
        pid_t child;
        snprintf(marker, sizeof marker, "TASKGLASS_TEST_OPENING=%d.%d", (int)getpid(), i);
        fflush(NULL);
        child = fork();
        if (child == 0) {
            putenv(marker);
            for (;;)
                tg_device_close(open_device(3, 0));
        }
        sleep_seconds((double)(next_random(&random) % longest) * 1e-6);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        for (int tries = 0, found = 1; found; tries++) { /* which process still has the marker? */
            found = 0;
            FILE *list = popen("ls /proc", "r");
            for (int pid; list != NULL && fgets(path, sizeof path, list) != NULL;) {
                if (sscanf(path, "%d", &pid) != 1)
                    continue;
                snprintf(path, sizeof path, "/proc/%d/environ", pid);
                FILE *file = fopen(path, "r");
                size_t size = file ? fread(text, 1, sizeof text, file) : 0;
                if (file)
                    fclose(file);
                if (size > 0 && memmem(text, size, marker, strlen(marker)) != NULL && !is_gone(pid))
                    found = 1;
            }
            if (list != NULL)
                pclose(list);
            if (tries * 0.01 > AT_ONCE_SECONDS)
                REQUIRE(!"a device was left behind");
            if (found)
                sleep_seconds(0.01);
        }
    }
}

TEST_MAIN()
