/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks tell each other of a run that does not move: their progress, what they wait for, that their hosts
 * wait for it, and that they were cancelled. */
#include "unit/comm/job.h"

#include <semaphore.h>

#include "comm/plan.h"

enum { ENOUGH = 6000 };

static bool sees(struct job *job, uint32_t rank, uint64_t progress, int looks)
{
    for (int i = 0; i < looks && tg_comm_progress(job->comm[rank]) < progress; i++)
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    return tg_comm_progress(job->comm[rank]) >= progress;
}

/* Without being asked a rank tells it once a second, too late for a limit of half a second. */
TEST(a_rank_that_is_asked_tells_its_progress_of_the_moment)
{
    char text[500];
    struct job *job = job_open(2, ~0u);
    job_begin(job);
    const uint64_t before = tg_comm_progress(job->comm[0]);
    tg_comm_note_progress(job->comm[1], 1000);
    CHECK(sees(job, 0, before + 1000, ENOUGH));
    for (uint64_t i = 2; i < 6; i++) {
        tg_comm_note_progress(job->comm[1], i * 1000);
        tg_comm_explain(job->comm[0], text);
        CHECK(tg_comm_progress(job->comm[0]) >= before + i * 1000);
    }
    job_end_well(job);
    job_close(job);
}

/* --- a receive whose send is there ---------------------------------------------------------- */

static sem_t may_read;
static int reads;

/* The second piece of what is sent has to wait. */
static tg_status read_slowly(void *context, void *bytes, uint64_t address, uint64_t size,
                             struct tg_error *error)
{
    if (++reads == 2)
        sem_wait(&may_read);
    return job_copy_out(context, bytes, address, size, error);
}

static void begin_with(struct job *job, uint32_t rank, struct tg_comm_port port)
{
    struct tg_error error = {TG_OK, ""};
    port.context = &job->device[rank];
    port.fd = job->device[rank].fd;
    port.take = job_take;
    port.copy_in = job_copy_in;
    port.done = job_done;
    port.failed = job_failed;
    job->device[rank].end_text = "";
    CHECK_EQ_I(tg_comm_begin(job->comm[rank], &port, NULL, &error), TG_OK);
}

/* One try. Whether the first piece leaves before the second one is read depends on how the threads happen to
 * run. Returns false if it did not, and nothing was looked at. */
static bool look_at_half_a_message(void)
{
    enum { PIECE = TG_SEGMENT, BYTES = 2 * PIECE, SOON = 50 };
    unsigned char *bytes = calloc(2, BYTES);
    char text[500];
    struct job *job = job_open(2, 0);
    sem_init(&may_read, 0, 0);
    reads = 0;
    begin_with(job, 0, (struct tg_comm_port){.copy_out = read_slowly});
    begin_with(job, 1, (struct tg_comm_port){.copy_out = job_copy_out});
    const uint64_t before = tg_comm_progress(job->comm[1]);
    for (uint32_t r = 2; r-- > 0;) {
        struct tg_comm_call call =
            job_call(r == 0 ? TG_COMM_SEND : TG_COMM_RECV, r == 0, 0, -1, 0, "asks.c:1");
        job_add_tensor(&call, r == 0 ? TG_IN : TG_OUT,
                       job_vector(bytes + r * BYTES, TG_INT8, BYTES));
        job_post(job, r, call);
    }
    bool half = sees(job, 1, before + PIECE, SOON);
    if (half) {
        tg_comm_explain(job->comm[1], text);
        CHECK_HAS(text, "rank 1 waits in tg_recv");
        CHECK(strstr(text, "not called") == NULL);
    }
    sem_post(&may_read);
    CHECK(job_wait(job));
    job_end_well(job);
    job_close(job);
    sem_destroy(&may_read);
    free(bytes);
    return half;
}

TEST(no_send_is_missing_if_the_receive_has_met_it)
{
    for (int tries = 0; tries < 20; tries++)
        if (look_at_half_a_message())
            return;
    SKIP("the threads never stopped in the middle of a message");
}

/* --- a run that was cancelled --------------------------------------------------------------- */

static bool yes(void *context)
{
    (void)context;
    return true;
}

TEST(others_hear_of_a_cancelled_run_that_nobody_waits_for)
{
    struct job *job = job_open(2, 0);
    begin_with(job, 0, (struct tg_comm_port){.copy_out = job_copy_out});
    begin_with(job, 1, (struct tg_comm_port){.copy_out = job_copy_out, .is_cancelled = yes});
    CHECK(job_wait_failed(job, 0));
    CHECK_EQ_I(job->device[0].error.status, TG_CANCELLED);
    CHECK_HAS(job->device[0].error.text, "rank 1 (pid ");
    CHECK(job_wait_failed(job, 1));
    job_end(job);
    CHECK_EQ_I(job->device[1].result.status, TG_CANCELLED);
    job_close(job);
}

/* --- a run that others still compute -------------------------------------------------------- */

static bool is_over;

/* As a host that waits for the run of rank 1. */
static void *wait_as_host(void *context)
{
    struct job *job = context;
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        tg_comm_note_progress(job->comm[1], 0);
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    return NULL;
}

/* Rank 0 knows that rank 1's host waits: each answer comes after what rank 1 had to tell before. */
static pthread_t begin_to_wait(struct job *job)
{
    pthread_t host;
    char text[500];
    is_over = false;
    tg_comm_note_progress(job->comm[1], 0);
    pthread_create(&host, NULL, wait_as_host, job);
    for (int i = 0; i < 2; i++)
        tg_comm_explain(job->comm[0], text);
    return host;
}

/* For longer than a rank waits for others that nobody waits for. */
TEST(the_end_of_a_run_waits_for_a_rank_whose_host_waits)
{
    struct job *job = job_open(2, ~0u);
    pthread_t end;
    job_begin(job);
    const pthread_t host = begin_to_wait(job);
    pthread_create(&end, NULL, job_end_thread, &job->device[0]);
    nanosleep(&(struct timespec){4, 0}, NULL);
    job->device[1].end_status = TG_KERNEL_FAULT;
    job->device[1].end_text = "it failed late";
    job_end_some(job, 2);
    pthread_join(end, NULL);
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    pthread_join(host, NULL);
    CHECK_EQ_I(job->device[0].result.status, TG_RANK_LOST);
    CHECK_HAS(job->device[0].result.text, "failed: KERNEL_FAULT: it failed late");
    job_close(job);
}

TEST(a_rank_that_waits_for_the_end_of_others_can_be_stopped)
{
    struct job *job = job_open(2, 0);
    begin_with(job, 0, (struct tg_comm_port){.copy_out = job_copy_out, .is_stopped = yes});
    begin_with(job, 1, (struct tg_comm_port){.copy_out = job_copy_out});
    const pthread_t host = begin_to_wait(job);
    job_end_some(job, 1);
    CHECK_EQ_I(job->device[0].result.status, TG_CANCELLED);
    CHECK(job_wait_failed(job, 1));
    CHECK_EQ_I(job->device[1].error.status, TG_CANCELLED);
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    pthread_join(host, NULL);
    job_end_some(job, 2);
    job_close(job);
}

TEST_MAIN()
