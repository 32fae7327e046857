/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that are processes of their own, over tg_local_job; one of them is killed. */
#include "unit/comm/job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

enum { RANKS = 4, ELEMENTS = 300000 };

/* In the child: only this rank's descriptors stay open, as after exec. */
static struct job *join_as(struct tg_local_job *made, uint32_t rank)
{
    int fds[64];
    char text[4096];
    struct tg_error error = {TG_OK, ""};
    const uint32_t count = tg_local_job_pass(made, rank, fds, 64, text);
    for (int fd = 3; fd < 1024; fd++) {
        bool keeps = false;
        for (uint32_t i = 0; i < count; i++)
            keeps |= fds[i] == fd;
        if (!keeps)
            close(fd);
    }
    setenv("TASKGLASS_LOCAL_RANK", text, 1);
    struct job *job = calloc(1, sizeof *job);
    job->ranks = RANKS;
    if (tg_comm_open(NULL, &job->comm[rank], &error) != TG_OK) {
        fprintf(stderr, "rank %u: %s\n", rank, error.text);
        _exit(10);
    }
    job_device_make(job, rank, true);
    return job;
}

static void post_sum(struct job *job, uint32_t rank, uint64_t number, float *values)
{
    struct tg_comm_call call = job_call(TG_COMM_ALL_REDUCE, -1, -1, TG_SUM, number, "p.c:1");
    for (int i = 0; i < ELEMENTS; i++)
        values[i] = (float)(rank + 1);
    job_add_tensor(&call, TG_INOUT, job_vector(values, TG_FLOAT32, ELEMENTS));
    job_post(job, rank, call);
}

static int be_good(struct tg_local_job *made, uint32_t rank)
{
    static float values[ELEMENTS];
    struct job *job = join_as(made, rank);
    for (int run = 0; run < 3; run++) {
        job_begin_rank(job, rank, NULL);
        post_sum(job, rank, 0, values);
        if (!job_wait_rank(job, rank, 1) || values[0] != 10 || values[ELEMENTS - 1] != 10)
            return 11;
        job_end_some(job, 1u << rank);
        if (job->device[rank].result.status != TG_OK)
            return 12;
    }
    job_close_rank(job, rank);
    free(job);
    return test_failures_ ? 13 : 0;
}

/* Sums until it is killed, or until another one was. */
static int be_killed(struct tg_local_job *made, uint32_t rank, int says)
{
    static float values[ELEMENTS];
    struct job *job = join_as(made, rank);
    job_begin_rank(job, rank, NULL);
    for (uint32_t i = 0; i < JOB_MAX_CALLS; i++) {
        post_sum(job, rank, i, values);
        if (!job_wait_rank(job, rank, i + 1))
            break;
        if (i == 3 && write(says, "x", 1) != 1)
            return 14;
    }
    struct job_device *d = &job->device[rank];
    if (!d->has_failed || d->error.status != TG_RANK_LOST || !strstr(d->error.text, "rank 2 (pid "))
        return 15;
    job_end_some(job, 1u << rank);
    job_close_rank(job, rank);
    free(job);
    return test_failures_ ? 13 : 0;
}

static pid_t start(struct tg_local_job *made, uint32_t rank, int says)
{
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        alarm(JOB_SECONDS);
        const int kept = says >= 0 ? dup2(says, 2000) : -1;
        _exit(says >= 0 ? be_killed(made, rank, kept) : be_good(made, rank));
    }
    return pid;
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

TEST(processes_sum_over_shared_memory)
{
    struct tg_local_job *made = NULL;
    struct tg_error error = {TG_OK, ""};
    pid_t pid[RANKS];
    REQUIRE(tg_local_job_create(RANKS, &made, &error) == TG_OK);
    for (uint32_t r = 0; r < RANKS; r++)
        pid[r] = start(made, r, -1);
    tg_local_job_destroy(made);
    for (uint32_t r = 0; r < RANKS; r++)
        CHECK_EQ_I(wait_for(pid[r]), 0);
}

TEST(a_rank_that_is_killed_ends_the_others)
{
    struct tg_local_job *made = NULL;
    struct tg_error error = {TG_OK, ""};
    pid_t pid[RANKS];
    int pipes[2];
    char byte;
    REQUIRE(pipe(pipes) == 0);
    REQUIRE(tg_local_job_create(RANKS, &made, &error) == TG_OK);
    for (uint32_t r = 0; r < RANKS; r++)
        pid[r] = start(made, r, pipes[1]);
    tg_local_job_destroy(made);
    for (uint32_t r = 0; r < RANKS; r++)
        CHECK_EQ_I(read(pipes[0], &byte, 1), 1);
    kill(pid[2], SIGKILL);
    for (uint32_t r = 0; r < RANKS; r++) {
        const int status = wait_for(pid[r]);
        if (r == 2)
            CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        else
            CHECK_EQ_I(status, 0);
    }
    close(pipes[0]);
    close(pipes[1]);
}

/* A peer that sends nonsense through its socket is lost, and nothing else happens. */
TEST(a_peer_that_sends_nonsense_is_lost)
{
    static const unsigned char nonsense[][16] = {{0}, {1, 0, 0, 0, 255}, {3}, {9}};
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        struct tg_local_job *made = NULL;
        struct tg_error error = {TG_OK, ""};
        struct tg_comm *comm = NULL;
        struct tg_comm_config config = {.timeout = JOB_SECONDS};
        int fds[2][8];
        char text[2][4096];
        REQUIRE(tg_local_job_create(2, &made, &error) == TG_OK);
        for (uint32_t r = 0; r < 2; r++) {
            CHECK_EQ_U(tg_local_job_pass(made, r, fds[r], 8, text[r]), 2);
            for (int k = 0; k < 2; k++)
                fds[r][k] = fcntl(fds[r][k], F_DUPFD_CLOEXEC, 0);
        }
        tg_local_job_destroy(made);
        snprintf(text[0], sizeof text[0], "1:0:2:%d:-,%d", fds[0][0], fds[0][1]);
        CHECK(write(fds[1][1], nonsense[i], i == 0 ? 3 : 16) > 0);
        setenv("TASKGLASS_LOCAL_RANK", text[0], 1);
        CHECK_EQ_I(tg_comm_open(&config, &comm, &error), TG_RANK_LOST);
        CHECK_HAS(error.text, "rank 1 did not join: it sent what makes no sense");
        close(fds[1][0]);
        close(fds[1][1]);
    }
    unsetenv("TASKGLASS_LOCAL_RANK");
}

TEST_MAIN()
