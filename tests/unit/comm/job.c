/* SPDX-License-Identifier: Apache-2.0 */
/* What belongs to a job rather than to a call: exchange, clock, progress, runs after each other, the log. */
#include "unit/comm/job.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "comm/clock.h"

TEST(names_of_calls_and_operations)
{
    CHECK_EQ_S(tg_comm_kind_name(TG_COMM_SEND), "tg_send");
    CHECK_EQ_S(tg_comm_kind_name(TG_COMM_ALL_TO_ALL), "tg_all_to_all");
    CHECK_EQ_S(tg_comm_kind_name(TG_COMM_KINDS), NULL);
    CHECK_EQ_S(tg_reduction_name(TG_MAX), "max");
    CHECK_EQ_S(tg_reduction_name(TG_REDUCTIONS), NULL);
    CHECK_EQ_S(tg_reduction_name((uint32_t)TG_COMM_NONE), NULL);
}

TEST(a_process_that_no_launcher_started_is_one_rank)
{
    struct tg_comm *comm = NULL;
    struct tg_error error = {TG_OK, ""};
    struct tg_comm_config config = {.transport = "auto"};
    uint32_t rank = 9, ranks = 9;
    REQUIRE(tg_comm_open(NULL, &comm, &error) == TG_OK);
    CHECK_EQ_U(tg_comm_rank(comm), 0);
    CHECK_EQ_U(tg_comm_ranks(comm), 1);
    tg_comm_local_rank(comm, &rank, &ranks);
    CHECK_EQ_U(rank, 0);
    CHECK_EQ_U(ranks, 1);
    tg_comm_close(comm);
    tg_comm_close(NULL);
    REQUIRE(tg_comm_open(&config, &comm, &error) == TG_OK);
    tg_comm_close(comm);
    config.transport = "pigeon";
    CHECK_EQ_I(tg_comm_open(&config, &comm, &error), TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, "'pigeon'; transports are auto, local, mpi");
    config.transport = "mpi";
    CHECK_EQ_I(tg_comm_open(&config, &comm, &error), TG_UNSUPPORTED);
    CHECK_EQ_I(tg_comm_open_local(0, &comm, &error), TG_BAD_ARGUMENT);
}

TEST(variables_that_no_launcher_wrote_are_refused)
{
    static const char *const texts[] = {
        "",           "1",           "2:0:1:3:-",       "1:0:0:3:",           "1:1:1:3:-",
        "1:0:2:3:-",  "1:0:2:3:-,x", "1:0:2:3:-,5,6",   "1:0:2:3:5,-",        "1:0:99:3:-,5",
        "1:0:2:3:-,", "1:0:2::-,5",  "1:0:2:900:-,901", "1:0:2:0:-,99999999",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct tg_comm *comm = NULL;
        struct tg_error error = {TG_OK, ""};
        setenv("TASKGLASS_LOCAL_RANK", texts[i], 1);
        CHECK(tg_comm_open(NULL, &comm, &error) != TG_OK);
        CHECK(comm == NULL && error.text[0] != '\0');
    }
    unsetenv("TASKGLASS_LOCAL_RANK");
}

TEST(a_job_for_which_there_are_no_descriptors_is_refused)
{
    struct tg_comm *comms[JOB_MAX_RANKS];
    struct tg_error error = {TG_OK, ""};
    /* The hard one too: the library raises a limit that it may raise. */
    const struct rlimit few = {16, 16};
    memset(comms, 0x5a, sizeof comms);
    const pid_t child = fork();
    if (child == 0) {
        const bool is_set = setrlimit(RLIMIT_NOFILE, &few) == 0;
        const tg_status status = tg_comm_open_local(JOB_MAX_RANKS, comms, &error);
        _exit(is_set && status != TG_OK && comms[0] == NULL && error.text[0] != '\0' ? 0 : 1);
    }
    int ended = -1;
    CHECK(child > 0 && waitpid(child, &ended, 0) == child);
    CHECK_EQ_I(ended, 0);
}

/* --- exchange ------------------------------------------------------------------------------- */

struct swap {
    struct job *job;
    uint32_t rank, size;
    double seconds;
    tg_status status;
    struct tg_error error;
    bool lost[JOB_MAX_RANKS];
    unsigned char mine[64 << 10], all[JOB_MAX_RANKS * (64 << 10)];
};

static void *swap_thread(void *context)
{
    struct swap *s = context;
    memset(s->mine, (int)s->rank + 1, s->size);
    for (int i = 0; i < 3; i++)
        s->status = tg_comm_exchange(s->job->comm[s->rank], s->mine, s->size, s->all, s->lost,
                                     s->seconds, &s->error);
    return NULL;
}

static void swap_all(struct job *job, struct swap *swaps, uint32_t size, double seconds)
{
    pthread_t thread[JOB_MAX_RANKS];
    for (uint32_t r = 0; r < job->ranks; r++) {
        memset(&swaps[r], 0, sizeof swaps[r]);
        swaps[r].job = job;
        swaps[r].rank = r;
        swaps[r].size = size;
        swaps[r].seconds = seconds;
        if (job->comm[r])
            pthread_create(&thread[r], NULL, swap_thread, &swaps[r]);
    }
    for (uint32_t r = 0; r < job->ranks; r++)
        if (job->comm[r])
            pthread_join(thread[r], NULL);
}

TEST(all_ranks_get_the_bytes_of_all)
{
    static const uint32_t sizes[] = {0, 1, 1000, 64 << 10};
    struct swap *swaps = calloc(JOB_MAX_RANKS, sizeof *swaps);
    for (uint32_t ranks = 1; ranks <= 5; ranks++) {
        struct job *job = job_open(ranks, ~0u);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            swap_all(job, swaps, sizes[i], JOB_SECONDS);
            for (uint32_t r = 0; r < ranks; r++) {
                CHECK_EQ_I(swaps[r].status, TG_OK);
                for (uint32_t k = 0; k < ranks && sizes[i] > 0; k++) {
                    CHECK_EQ_U(swaps[r].all[k * sizes[i]], k + 1);
                    CHECK_EQ_U(swaps[r].all[(k + 1) * sizes[i] - 1], k + 1);
                    CHECK(!swaps[r].lost[k]);
                }
            }
        }
        job_close(job);
    }
    free(swaps);
}

TEST(an_exchange_names_the_rank_that_is_gone)
{
    struct swap *swaps = calloc(JOB_MAX_RANKS, sizeof *swaps);
    struct job *job = job_open(3, ~0u);
    job_close_rank(job, 1);
    swap_all(job, swaps, 8, JOB_SECONDS);
    for (uint32_t r = 0; r < 3; r += 2) {
        CHECK_EQ_I(swaps[r].status, TG_RANK_LOST);
        CHECK_HAS(swaps[r].error.text, "rank 1 (pid ");
        CHECK(swaps[r].lost[1] && !swaps[r].lost[0] && !swaps[r].lost[2]);
        CHECK_EQ_U(swaps[r].all[2 * 8], 3);
    }
    job_close(job);
    free(swaps);
}

TEST(an_exchange_that_a_rank_does_not_join_ends_in_time)
{
    struct job *job = job_open(2, ~0u);
    struct tg_error error = {TG_OK, ""};
    unsigned char all[2];
    bool lost[2];
    CHECK_EQ_I(tg_comm_exchange(job->comm[0], "x", 1, all, lost, 0.05, &error), TG_RANK_LOST);
    CHECK(lost[1] && !lost[0] && all[0] == 'x');
    CHECK_HAS(error.text, "did not answer in time");
    job_close(job);
}

/* --- runs ----------------------------------------------------------------------------------- */

static void all_reduce(struct job *job, uint64_t number, float *values)
{
    for (uint32_t r = 0; r < job->ranks; r++) {
        struct tg_comm_call call = job_call(TG_COMM_ALL_REDUCE, -1, -1, TG_SUM, number, "a.c:1");
        values[r] = (float)(r + 1);
        job_add_tensor(&call, TG_INOUT, job_vector(&values[r], TG_FLOAT32, 1));
        job_post(job, r, call);
    }
}

TEST(runs_follow_each_other_also_if_a_rank_is_ahead)
{
    struct job *job = job_open(4, ~0u);
    float values[4];
    for (int run = 0; run < 20; run++) {
        /* The first ranks begin and call while the others have not begun. */
        for (uint32_t r = 0; r < 4; r++) {
            struct tg_comm_call call = job_call(TG_COMM_ALL_REDUCE, -1, -1, TG_SUM, 0, "a.c:1");
            job_begin_rank(job, r, NULL);
            values[r] = (float)(r + 1);
            job_add_tensor(&call, TG_INOUT, job_vector(&values[r], TG_FLOAT32, 1));
            job_post(job, r, call);
        }
        CHECK(job_wait(job));
        for (uint32_t r = 0; r < 4; r++)
            CHECK_NEAR(values[r], 10, 0);
        job_end_well(job);
    }
    job_close(job);
}

TEST(ranks_of_one_thread_can_end_one_after_the_other)
{
    struct job *job = job_open(2, ~0u);
    float values[2];
    job_begin(job);
    all_reduce(job, 0, values);
    CHECK(job_wait(job));
    for (uint32_t r = 0; r < 2; r++) {
        tg_comm_end(job->comm[r], TG_OK, NULL, &job->device[r].result);
        CHECK_EQ_I(job->device[r].result.status, TG_OK);
    }
    job_close(job);
}

TEST(progress_of_another_rank_is_seen)
{
    struct job *job = job_open(2, ~0u);
    job_begin(job);
    const uint64_t before = tg_comm_progress(job->comm[0]);
    tg_comm_note_progress(job->comm[1], 1000);
    uint64_t now = before;
    for (int i = 0; i < 6000 && now < before + 1000; i++) {
        nanosleep(&(struct timespec){0, 10000000}, NULL);
        now = tg_comm_progress(job->comm[0]);
    }
    CHECK(now >= before + 1000);
    job_end_well(job);
    job_close(job);
}

/* --- the log -------------------------------------------------------------------------------- */

static size_t read_text(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "r");
    const size_t size = file ? fread(text, 1, room - 1, file) : 0;
    if (file)
        fclose(file);
    text[size] = '\0';
    return size;
}

TEST(the_log_has_a_line_for_each_call)
{
    char folder[] = "/tmp/taskglass_test_comm_XXXXXX", path[2][64], text[8192] = "";
    float values[2] = {1, 2};
    struct job *job = job_open(2, ~0u);
    REQUIRE(mkdtemp(folder) != NULL);
    for (uint32_t r = 0; r < 2; r++) {
        snprintf(path[r], sizeof path[r], "%s/comm%u.jsonl", folder, r);
        job_begin_rank(job, r, path[r]);
    }
    for (uint32_t r = 0; r < 2; r++) {
        struct tg_comm_call call =
            job_call(r == 0 ? TG_COMM_SEND : TG_COMM_RECV, r == 0, 3, -1, 0, "orchestrate.c:33");
        job_add_tensor(&call, r == 0 ? TG_IN : TG_OUT, job_vector(&values[r], TG_FLOAT32, 1));
        job_post(job, r, call);
    }
    CHECK(job_wait(job));
    all_reduce(job, 0, values);
    CHECK(job_wait(job));
    struct tg_comm_call last = job_call(TG_COMM_RECV, 1, 9, -1, 0, "orchestrate.c:44");
    job_add_tensor(&last, TG_OUT, job_vector(&values[0], TG_FLOAT32, 1));
    job_post(job, 0, last);
    for (int i = 0; i < 6000 && !strstr(text, "orchestrate.c:44"); i++)
        tg_comm_explain(job->comm[0], text);
    job->device[0].end_status = TG_CANCELLED;
    job->device[0].end_text = "enough";
    job_end_some(job, 1);
    CHECK(job_wait_failed(job, 1));
    CHECK_HAS(job->device[1].error.text, "failed: CANCELLED: enough");
    job_end_some(job, 2);
    CHECK_EQ_U(job->device[0].result.waiting, 1);
    CHECK_EQ_U(job->device[0].result.log_lost, 0);
    CHECK(read_text(path[0], text, sizeof text) > 0);
    CHECK_HAS(text, "{\"version\": 1, \"rank\": 0, \"ranks\": 2}\n");
    CHECK_HAS(text,
              "{\"task\": \"0000000000000000\", \"call\": \"tg_send\", \"peer\": 1, \"tag\": 3, "
              "\"operation\": null, \"number\": 0, \"dtype\": \"float32\", \"elements\": 1, "
              "\"bytes\": 4, \"site\": \"orchestrate.c:33\", \"posted_ns\": \"");
    CHECK_HAS(text, "\"call\": \"tg_all_reduce\", \"peer\": null, \"tag\": null, "
                    "\"operation\": \"sum\", \"number\": 0,");
    CHECK_HAS(text, "\"state\": \"done\"}\n");
    CHECK_HAS(text, "\"site\": \"orchestrate.c:44\"");
    CHECK_HAS(text, "\"matched_ns\": null, \"done_ns\": null, \"state\": \"waits\"}\n");
    CHECK_HAS(text, "{\"end\": true, \"calls\": 3}\n");
    for (uint32_t r = 0; r < 2; r++)
        unlink(path[r]);
    rmdir(folder);
    job_close(job);
}

TEST(the_lines_of_a_run_that_goes_on_are_in_the_file_soon)
{
    char folder[] = "/tmp/taskglass_test_comm_XXXXXX", path[64], text[8192] = "";
    float value = 1;
    struct job *job = job_open(1, ~0u);
    REQUIRE(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/comm.jsonl", folder);
    job_begin_rank(job, 0, path);
    all_reduce(job, 0, &value);
    CHECK(job_wait(job));
    for (int i = 0; i < 6000 && !strstr(text, "\"done\"}\n"); i++) {
        nanosleep(&(struct timespec){0, 10000000}, NULL);
        read_text(path, text, sizeof text);
    }
    CHECK_HAS(text, "\"state\": \"done\"}\n");
    CHECK(!strstr(text, "\"end\""));
    job_end_well(job);
    read_text(path, text, sizeof text);
    CHECK_HAS(text, "{\"end\": true, \"calls\": 1}\n");
    unlink(path);
    rmdir(folder);
    job_close(job);
}

TEST(a_log_that_cannot_be_written_is_counted)
{
    struct job *job = job_open(1, ~0u);
    float value;
    job_begin_rank(job, 0, "/nonexistent/comm.jsonl");
    all_reduce(job, 0, &value);
    CHECK(job_wait(job));
    job_end_well(job);
    CHECK(job->device[0].result.log_lost > 0);
    job_close(job);
}

/* --- clock ---------------------------------------------------------------------------------- */

TEST(clocks_of_one_machine_agree)
{
    struct job *job = job_open(3, ~0u);
    for (uint32_t r = 0; r < 3; r++) {
        struct tg_comm_clock clock = {0};
        for (int i = 0; i < 6000 && clock.samples == 0; i++) {
            tg_comm_get_clock(job->comm[r], &clock);
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        }
        CHECK(clock.samples > 0);
        CHECK(clock.offset_ns <= clock.error_ns && clock.offset_ns >= -clock.error_ns);
    }
    job_close(job);
}

TEST(offset_and_drift_come_out_of_answers)
{
    static struct tg_clock clock;
    const double drift = 2e-5;
    for (int64_t i = 0; i < 400; i++) {
        const int64_t t0 = INT64_C(1000000000000) + i * 100000000, there = 700 + i * 37 % 900,
                      back = 600 + i * 53 % 800;
        const int64_t t1 = t0 + there + 5000000 + (int64_t)(drift * (double)(i * 100000000));
        const int64_t t2 = t1 + 300;
        tg_clock_add(&clock, t0, t1, t2, t0 + there + 300 + back);
    }
    const struct tg_comm_clock read = tg_clock_read(&clock);
    CHECK_EQ_U(read.samples, 400);
    CHECK(clock.count <= TG_CLOCK_POINTS);
    CHECK_NEAR(read.drift, drift, 1e-7);
    CHECK_NEAR((double)read.offset_ns,
               5000000 + drift * (double)(read.at_ns - INT64_C(1000000000000)), 1000);
    CHECK(read.error_ns >= 600 && read.error_ns < 1000);
}

TEST(answers_that_cannot_be_are_left_out)
{
    struct tg_clock clock = {0};
    tg_clock_add(&clock, 100, 50, 40, 200);   /* it answered before it was asked */
    tg_clock_add(&clock, 200, 50, 60, 100);   /* … and this rank before it asked */
    tg_clock_add(&clock, 100, 50, 5000, 200); /* it took longer than both ways */
    tg_clock_add(&clock, -1, 50, 60, 200);
    tg_clock_add(&clock, 100, INT64_MAX - 1, INT64_MAX, 200);
    CHECK_EQ_U(clock.samples, 0);
    CHECK_EQ_U(tg_clock_read(&clock).samples, 0);
}

TEST_MAIN()
