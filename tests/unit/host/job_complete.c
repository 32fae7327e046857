/* SPDX-License-Identifier: Apache-2.0 */
/* What is written into ranks.json about ranks that could not say how they ended. */
#define _GNU_SOURCE 1
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <taskglass/job.h>
#include <taskglass/ranks.h>
#include <unistd.h>

#include "test.h"

/* A job of one rank, which is running as far as its ranks.json says. */
static void make_job(char dir[40], char path[80])
{
    strcpy(dir, "/tmp/taskglass_job_XXXXXX");
    REQUIRE(mkdtemp(dir));
    snprintf(path, 80, "%s/ranks.json", dir);
    FILE *file = fopen(path, "w");
    REQUIRE(file);
    fputs("{\"version\": 1, \"ranks\": 1, \"status\": \"RUNNING\", "
          "\"rank\": [{\"rank\": 0, \"status\": \"RUNNING\", \"error\": \"\"}]}",
          file);
    REQUIRE(fclose(file) == 0);
}

static struct tg_ranks_rank complete(struct tg_job_ending ending)
{
    char dir[40], path[80];
    struct tg_ranks *ranks;
    struct tg_ranks_rank rank;
    struct tg_error error;
    make_job(dir, path);
    CHECK(tg_job_complete(dir, &ending, 1));
    REQUIRE(tg_ranks_open(dir, &ranks, &error) == TG_OK);
    REQUIRE(tg_ranks_get(ranks, 0, &rank));
    tg_ranks_close(ranks);
    unlink(path);
    rmdir(dir);
    CHECK(rank.status == TG_RANK_LOST && !rank.is_running);
    return rank;
}

TEST(a_rank_that_was_killed_is_lost_by_that_signal)
{
    struct tg_ranks_rank rank =
        complete((struct tg_job_ending){.is_gone = true, .signal = SIGKILL});
    CHECK_EQ_S(rank.error, "its process was ended by signal 9, SIGKILL");
}

TEST(a_rank_that_the_launcher_killed_was_not_killed_by_somebody)
{
    struct tg_ranks_rank rank =
        complete((struct tg_job_ending){.is_gone = true, .signal = SIGKILL, .was_stopped = true});
    CHECK_EQ_S(rank.error, "it did not end after the others, so the launcher killed it");
}

TEST(a_rank_whose_end_nobody_saw_is_lost_without_a_report)
{
    struct tg_ranks_rank rank = complete((struct tg_job_ending){.is_gone = true, .code = -1});
    CHECK_EQ_S(rank.error, "its process ended without a report, after that of another rank");
}

TEST_MAIN()
