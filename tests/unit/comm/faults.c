/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that do not fit together, ranks that fail or go away, and runs that cannot go on: every rank says
 * what happened, and where. */
#include "unit/comm/job.h"

static unsigned char bytes[JOB_MAX_RANKS][1 << 20];

static void post(struct job *job, uint32_t rank, uint32_t kind, int32_t peer, int32_t tag,
                 int32_t operation, uint64_t number, unsigned dtype, int64_t n, const char *site)
{
    struct tg_comm_call call = job_call(kind, peer, tag, operation, number, site);
    unsigned char *out = bytes[rank] + (sizeof bytes[rank] / 2);
    int64_t in_n = n, out_n = n;
    if (kind == TG_COMM_REDUCE_SCATTER)
        out_n = n / job->ranks;
    if (kind == TG_COMM_ALL_GATHER)
        out_n = n * job->ranks;
    if (kind != TG_COMM_RECV)
        job_add_tensor(&call, kind == TG_COMM_BROADCAST ? TG_INOUT : TG_IN,
                       job_vector(bytes[rank], dtype, in_n));
    if (kind != TG_COMM_SEND && kind != TG_COMM_BROADCAST)
        job_add_tensor(&call, TG_OUT, job_vector(out, dtype, out_n));
    job_post(job, rank, call);
}

/* Every rank has failed with this status and the same text, which has these words. */
static void check_failed(struct job *job, tg_status status, const char *a, const char *b,
                         const char *c)
{
    for (uint32_t r = 0; r < job->ranks; r++) {
        struct job_device *d = &job->device[r];
        CHECK(job_wait_failed(job, r));
        CHECK_EQ_I(d->error.status, status);
        CHECK_HAS(d->error.text, a);
        CHECK_HAS(d->error.text, b);
        CHECK_HAS(d->error.text, c);
        CHECK_EQ_S(d->error.text, job->device[0].error.text);
    }
}

static void end_failed(struct job *job, tg_status status)
{
    job_end(job);
    for (uint32_t r = 0; r < job->ranks; r++) {
        CHECK_EQ_I(job->device[r].result.status, status);
        CHECK_EQ_S(job->device[r].result.text, job->device[0].result.text);
    }
    job_close(job);
}

/* Rank 1 of `ranks` calls something else than the others. */
static void differ(uint32_t ranks, uint32_t kind, int32_t peer, int32_t operation, unsigned dtype,
                   int64_t n, const char *word)
{
    struct job *job = job_open(ranks, ~0u);
    job_begin(job);
    for (uint32_t r = 0; r < ranks; r++)
        if (r == 1)
            post(job, r, kind, peer, -1, operation, 0, dtype, n, "b.c:41");
        else
            post(job, r, TG_COMM_ALL_REDUCE, -1, -1, TG_SUM, 0, TG_FLOAT32, 1024, "a.c:30");
    check_failed(job, TG_COMM_MISMATCH, word, "at a.c:30", "at b.c:41");
    CHECK_HAS(job->device[0].error.text, "call 0 of the ranks differs: rank ");
    CHECK_HAS(job->device[0].error.text, "calls tg_all_reduce(sum) of 1024 float32");
    end_failed(job, TG_COMM_MISMATCH);
}

TEST(collective_calls_that_differ_are_named_on_all_ranks)
{
    for (uint32_t ranks = 2; ranks <= 5; ranks++) {
        differ(ranks, TG_COMM_BROADCAST, 0, -1, TG_FLOAT32, 1024, "tg_broadcast from rank 0");
        differ(ranks, TG_COMM_BROADCAST, 1, -1, TG_FLOAT32, 60000, "tg_broadcast from rank 1");
        differ(ranks, TG_COMM_ALL_REDUCE, -1, TG_MAX, TG_FLOAT32, 1024, "tg_all_reduce(max)");
        differ(ranks, TG_COMM_ALL_REDUCE, -1, TG_SUM, TG_INT32, 1024, "of 1024 int32");
        differ(ranks, TG_COMM_ALL_REDUCE, -1, TG_SUM, TG_FLOAT32, 1000, "of 1000 float32");
        differ(ranks, TG_COMM_ALL_REDUCE, -1, TG_SUM, TG_FLOAT32, 50000, "of 50000 float32");
        differ(ranks, TG_COMM_ALL_REDUCE, -1, TG_SUM, TG_FLOAT32, 0, "of 0 float32");
        differ(ranks, TG_COMM_ALL_GATHER, -1, -1, TG_FLOAT32, 1024, "tg_all_gather");
        differ(ranks, TG_COMM_REDUCE_SCATTER, -1, TG_SUM, TG_FLOAT32, 1020 * 3,
               "tg_reduce_scatter");
        differ(ranks, TG_COMM_ALL_TO_ALL, -1, -1, TG_FLOAT32, 60, "tg_all_to_all");
    }
}

TEST(broadcasts_from_different_roots_are_named)
{
    struct job *job = job_open(4, ~0u);
    job_begin(job);
    for (uint32_t r = 0; r < 4; r++)
        post(job, r, TG_COMM_BROADCAST, r == 2 ? 2 : 0, -1, -1, 0, TG_FLOAT32, 8,
             r == 2 ? "b.c:41" : "a.c:30");
    check_failed(job, TG_COMM_MISMATCH, "tg_broadcast from rank 0", "tg_broadcast from rank 2",
                 "b.c:41");
    end_failed(job, TG_COMM_MISMATCH);
}

TEST(a_send_and_a_receive_of_different_sizes_are_named)
{
    struct job *job = job_open(3, ~0u);
    job_begin(job);
    post(job, 0, TG_COMM_SEND, 1, 5, -1, 0, TG_FLOAT32, 10, "a.c:3");
    post(job, 1, TG_COMM_RECV, 0, 5, -1, 0, TG_FLOAT32, 12, "b.c:4");
    check_failed(job, TG_COMM_MISMATCH, "rank 0 calls tg_send to rank 1, tag 5 (number 0), of 10",
                 "rank 1 calls tg_recv from rank 0, tag 5 (number 0), of 12", "at b.c:4");
    end_failed(job, TG_COMM_MISMATCH);
}

TEST(a_receive_without_a_send_is_named_when_the_other_rank_has_ended)
{
    struct job *job = job_open(3, ~0u);
    job_begin(job);
    post(job, 1, TG_COMM_SEND, 0, 6, -1, 0, TG_FLOAT32, 10, "b.c:44");
    post(job, 0, TG_COMM_RECV, 1, 5, -1, 0, TG_FLOAT32, 10, "a.c:30");
    CHECK(job_wait_rank(job, 1, 1));
    job_end_some(job, 6); /* 1 and 2 */
    CHECK(job_wait_failed(job, 0));
    CHECK_EQ_I(job->device[0].error.status, TG_COMM_MISMATCH);
    CHECK_HAS(job->device[0].error.text,
              "rank 0 waits in tg_recv from rank 1, tag 5 (number 0) at a.c:30: rank 1 ended "
              "without that tg_send");
    CHECK_HAS(job->device[0].error.text, "with tag 6 (number 0) at b.c:44");
    job_end_some(job, 1);
    for (uint32_t r = 0; r < 3; r++)
        CHECK_EQ_S(job->device[r].result.text, job->device[0].error.text);
    job_close(job);
}

TEST(a_send_without_a_receive_is_named_on_all_ranks)
{
    struct job *job = job_open(3, ~0u);
    job_begin(job);
    post(job, 0, TG_COMM_SEND, 2, 7, -1, 0, TG_FLOAT32, 10, "a.c:31");
    CHECK(job_wait_rank(job, 0, 1));
    job_end(job);
    for (uint32_t r = 0; r < 3; r++) {
        CHECK_EQ_I(job->device[r].result.status, TG_COMM_MISMATCH);
        CHECK_EQ_S(job->device[r].result.text,
                   "rank 0 calls tg_send to rank 2, tag 7 (number 0) at a.c:31: rank 2 ended "
                   "without that tg_recv");
    }
    job_close(job);
}

TEST(a_collective_call_that_a_rank_did_not_make_is_named)
{
    for (uint32_t kind = TG_COMM_BROADCAST; kind < TG_COMM_KINDS; kind++) {
        struct job *job = job_open(4, ~0u);
        job_begin(job);
        for (uint32_t r = 0; r < 4; r++)
            post(job, r, TG_COMM_ALL_REDUCE, -1, -1, TG_SUM, 0, TG_FLOAT32, 12, "a.c:29");
        CHECK(job_wait(job));
        for (uint32_t r = 0; r < 4; r++)
            if (r != 2)
                post(job, r, kind, kind == TG_COMM_BROADCAST ? 0 : -1, -1, TG_SUM, 1, TG_FLOAT32,
                     12, "a.c:30");
        CHECK_EQ_I(job->device[2].n_done, 1);
        job_end_some(job, 4);
        for (uint32_t r = 0; r < 4; r++)
            if (r != 2)
                CHECK(job_wait_failed(job, r));
        job_end_some(job, 11);
        for (uint32_t r = 0; r < 4; r++) {
            CHECK_EQ_I(job->device[r].result.status, TG_COMM_MISMATCH);
            CHECK_HAS(job->device[r].result.text, "waits in call 1 of the ranks, tg_");
            CHECK_HAS(job->device[r].result.text, "at a.c:30: rank 2 ended after 1 such calls");
        }
        job_close(job);
    }
}

TEST(a_rank_that_fails_ends_the_others_with_its_error)
{
    struct job *job = job_open(3, ~0u);
    job_begin(job);
    for (uint32_t r = 0; r < 2; r++)
        post(job, r, TG_COMM_ALL_REDUCE, -1, -1, TG_SUM, 0, TG_FLOAT32, 100000, "a.c:30");
    for (uint32_t r = 0; r < 2; r++)
        job_wait_taken(job, r, 1);
    char text[450];
    memset(text, 'x', sizeof text);
    memcpy(text, "task 7 divided by zero ", 23);
    text[sizeof text - 1] = '\0';
    job->device[2].end_status = TG_KERNEL_FAULT;
    job->device[2].end_text = text;
    job_end_some(job, 4);
    CHECK_EQ_I(job->device[2].result.status, TG_OK);
    for (uint32_t r = 0; r < 2; r++) {
        CHECK(job_wait_failed(job, r));
        CHECK_EQ_I(job->device[r].error.status, TG_RANK_LOST);
        CHECK_HAS(job->device[r].error.text, "rank 2 (pid ");
        CHECK_HAS(job->device[r].error.text, "failed: KERNEL_FAULT: task 7 divided by zero xxx");
    }
    job_end_some(job, 3);
    CHECK_EQ_U(job->device[0].result.waiting, 1);
    job_close(job);
}

TEST(a_rank_that_goes_away_ends_the_others)
{
    struct job *job = job_open(3, ~0u);
    job_begin(job);
    for (uint32_t r = 0; r < 2; r++)
        post(job, r, TG_COMM_ALL_REDUCE, -1, -1, TG_SUM, 0, TG_FLOAT32, 100000, "a.c:30");
    job_close_rank(job, 2);
    for (uint32_t r = 0; r < 2; r++) {
        CHECK(job_wait_failed(job, r));
        CHECK_EQ_I(job->device[r].error.status, TG_RANK_LOST);
        CHECK_HAS(job->device[r].error.text, "rank 2 (pid ");
    }
    job_end_some(job, 3);
    job_close(job);
}

TEST(after_a_run_that_failed_another_one_works)
{
    struct job *job = job_open(3, ~0u);
    for (int round = 0; round < 3; round++) {
        job_begin(job);
        for (uint32_t r = 0; r < 3; r++)
            post(job, r, TG_COMM_ALL_REDUCE, -1, -1, r == 1 ? TG_MAX : TG_SUM, 0, TG_FLOAT32,
                 100000, "a.c:30");
        for (uint32_t r = 0; r < 3; r++)
            CHECK(job_wait_failed(job, r));
        job_end(job);
        job_begin(job);
        for (uint32_t r = 0; r < 3; r++)
            post(job, r, TG_COMM_ALL_REDUCE, -1, -1, TG_SUM, 0, TG_FLOAT32, 100000, "a.c:30");
        CHECK(job_wait(job));
        job_end_well(job);
    }
    job_close(job);
}

/* A core waits until its call has been taken: of a run that has failed too, or it could not stop. */
TEST(calls_are_taken_after_the_run_has_failed)
{
    struct job *job = job_open(2, ~0u);
    job_begin(job);
    for (uint32_t r = 0; r < 2; r++)
        post(job, r, TG_COMM_ALL_REDUCE, -1, -1, r == 1 ? TG_MAX : TG_SUM, 0, TG_FLOAT32, 100,
             "a.c:30");
    for (uint32_t r = 0; r < 2; r++)
        CHECK(job_wait_failed(job, r));
    for (uint64_t i = 1; i < 300; i++)
        post(job, 0, TG_COMM_ALL_REDUCE, -1, -1, TG_SUM, i, TG_FLOAT32, 100, "a.c:30");
    job_wait_taken(job, 0, 300);
    CHECK_EQ_I(job->device[0].n_done, 0);
    end_failed(job, TG_COMM_MISMATCH);
}

/* Bytes are on their way, in place and in copies, when a rank fails: nobody writes where nothing is any
 * more. */
TEST(a_rank_may_fail_while_much_is_on_its_way)
{
    for (int round = 0; round < 24; round++) {
        struct job *job = job_open(3, round % 3 == 0 ? ~0u : round % 3 == 1 ? 0 : 2u);
        job_begin(job);
        for (uint64_t i = 0; i < 6; i++)
            for (uint32_t r = 0; r < 3; r++)
                post(job, r, TG_COMM_ALL_REDUCE, -1, -1, TG_SUM, i, TG_FLOAT32, 120000, "a.c:30");
        if (round % 4 < 3)
            CHECK(job_wait_rank(job, 2, (uint32_t)round % 4 + 1));
        if (round % 2) {
            job->device[2].end_status = TG_KERNEL_FAULT;
            job->device[2].end_text = "it failed";
            job_end_some(job, 4);
        } else {
            job_close_rank(job, 2);
        }
        for (uint32_t r = 0; r < 2; r++)
            CHECK(job_wait_rank(job, r, 6) || job->device[r].has_failed);
        job_end_some(job, 3);
        job_close(job);
    }
}

/* --- a rank that stands still ---------------------------------------------------------------- */

struct word {
    struct tg_comm *comm;
    unsigned char all[3];
    bool lost[3];
    tg_status status;
};

static void *say_word(void *context)
{
    struct word *w = context;
    struct tg_error error;
    const unsigned char mine = (unsigned char)('a' + tg_comm_rank(w->comm));
    w->status = tg_comm_exchange(w->comm, &mine, 1, w->all, w->lost, JOB_SECONDS, &error);
    return NULL;
}

/* As if its process were stopped: its thread waits for the device. Returns when it does. */
static void stop_rank(struct job *job, uint32_t rank)
{
    struct job_device *d = &job->device[rank];
    pthread_mutex_lock(&d->lock);
    const uint32_t asks = __atomic_load_n(&d->asks, __ATOMIC_ACQUIRE); /* none outside a run */
    job_begin_rank(job, rank, NULL);
    for (int i = 0; i < JOB_SECONDS * 1000 && __atomic_load_n(&d->asks, __ATOMIC_ACQUIRE) == asks;
         i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    CHECK(__atomic_load_n(&d->asks, __ATOMIC_ACQUIRE) != asks);
}

TEST(a_rank_that_stands_still_is_given_up_alone)
{
    struct job *job = job_open(3, ~0u);
    struct word word[3];
    pthread_t thread[3];
    stop_rank(job, 2);
    job_begin_rank(job, 0, NULL);
    job_begin_rank(job, 1, NULL);
    post(job, 0, TG_COMM_SEND, 2, 0, -1, 0, TG_FLOAT32, 100000, "a.c:30");
    job_wait_taken(job, 0, 1);
    job->device[0].end_status = TG_HANG;
    job->device[0].end_text = "it hangs";
    job_end_some(job, 1);
    CHECK(job_wait_failed(job, 1));
    job_end_some(job, 2);
    for (uint32_t r = 0; r < 3; r++)
        word[r] = (struct word){.comm = job->comm[r]};
    for (uint32_t r = 0; r < 2; r++)
        pthread_create(&thread[r], NULL, say_word, &word[r]);
    pthread_join(thread[0], NULL);
    CHECK(word[0].lost[2] && !word[0].lost[1] && word[0].all[1] == 'b');
    pthread_mutex_unlock(&job->device[2].lock);
    CHECK(job_wait_failed(job, 2));
    job_end_some(job, 4);
    pthread_create(&thread[2], NULL, say_word, &word[2]);
    pthread_join(thread[1], NULL);
    pthread_join(thread[2], NULL);
    CHECK_EQ_I(word[1].status, TG_OK);
    CHECK(word[1].all[0] == 'a' && word[1].all[2] == 'c');
    job_close(job);
}

/* --- explain -------------------------------------------------------------------------------- */

/* Waits until each rank has taken its calls, by asking until the text has what it should have. */
static void check_explained(struct job *job, const char *a, const char *b, const char *c)
{
    char text[500] = "";
    for (int i = 0; i < 600; i++) {
        tg_comm_explain(job->comm[0], text);
        if (strstr(text, a) && strstr(text, b) && strstr(text, c))
            return;
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    CHECK_HAS(text, a);
    CHECK_HAS(text, b);
    CHECK_HAS(text, c);
}

static void end_hung(struct job *job)
{
    job->device[0].end_status = TG_HANG;
    job->device[0].end_text = "it hangs";
    job_end_some(job, 1);
    for (uint32_t r = 1; r < job->ranks; r++) {
        CHECK(job_wait_failed(job, r));
        CHECK_EQ_I(job->device[r].error.status, TG_HANG);
        CHECK_HAS(job->device[r].error.text, "it hangs");
    }
    job_end_some(job, ~1u);
    job_close(job);
}

TEST(explain_names_receives_that_wait_for_each_other)
{
    struct job *job = job_open(2, ~0u);
    job_begin(job);
    post(job, 0, TG_COMM_RECV, 1, 5, -1, 0, TG_FLOAT32, 4, "a.c:30");
    post(job, 1, TG_COMM_RECV, 0, 6, -1, 0, TG_FLOAT32, 4, "a.c:44");
    check_explained(job, "rank 0 waits in tg_recv from rank 1, tag 5 (number 0) at a.c:30; ",
                    "rank 1 waits in tg_recv from rank 0, tag 6 (number 0) at a.c:44",
                    "no rank has called the tg_send that they wait for");
    end_hung(job);
}

TEST(explain_names_crossed_tags)
{
    struct job *job = job_open(3, ~0u);
    job_begin(job);
    post(job, 0, TG_COMM_RECV, 1, 5, -1, 0, TG_FLOAT32, 4, "a.c:30");
    post(job, 1, TG_COMM_SEND, 0, 6, -1, 0, TG_FLOAT32, 4, "a.c:44");
    check_explained(job, "rank 0 waits in tg_recv from rank 1, tag 5",
                    "rank 1 has called tg_send to rank 0 with tag 6 at a.c:44, not with tag 5",
                    "rank 2 waits for no call");
    end_hung(job);
}

TEST(explain_names_the_rank_that_has_not_called)
{
    struct job *job = job_open(3, ~0u);
    job_begin(job);
    for (uint32_t r = 0; r < 2; r++)
        post(job, r, TG_COMM_ALL_REDUCE, -1, -1, TG_SUM, 0, TG_FLOAT32, 4, "a.c:30");
    post(job, 2, TG_COMM_RECV, 0, 1, -1, 0, TG_FLOAT32, 4, "a.c:50");
    check_explained(job, "rank 0 waits in tg_all_reduce(sum) at a.c:30; rank 1 waits in",
                    "rank 2 waits in tg_recv from rank 0, tag 1",
                    ": rank 2 has not called call 0 of the ranks, tg_all_reduce");
    end_hung(job);
}

TEST_MAIN()
