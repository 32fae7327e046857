/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "host/job.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/job.h>
#include <unistd.h>

#include "base/error.h"
#include "comm/comm.h"
#include "host/job_exchange.h"
#include "host/job_gone.h"
#include "host/job_launch.h"
#include "host/job_watch.h"
#include "host/text.h"

/* Seconds to wait for what the others say: as long as they are alive if nothing failed, because a case may
 * take minutes to prepare or to check. After a failure the others may still write files. */
#define PATIENCE 1e6
#define PATIENCE_FAILED 10.0

/* What a rank says in an exchange. All ranks run the same version. */
struct word {
    int32_t status;
    uint32_t local_rank;
    uint64_t pid;
    uint64_t gpu;
    char host[sizeof(((struct tg_ranks_rank *)0)->host)];
    char text[sizeof(((struct tg_ranks_rank *)0)->error)];
    struct tg_comm_clock clock;
};

/* What rank 0 says about the directory; the others say how they are. */
struct place {
    int32_t status;
    bool is_relative; /* as the user gave it */
    char path[PATH_MAX];
    char text[500];
};

/* ── is it one, and with whom ──────────────────────────────────────────────────────────── */

/* Of those who start processes: mpirun of Open MPI, anything with PMIx, mpirun of MPICH and its kin. */
static bool is_started_by_mpi(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE",
                                        "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (secure_getenv(names[i]))
            return true;
    return false;
}

bool tg_job_is_rank(const struct tg_settings *settings)
{
    enum { AUTO, LOCAL, MPI };
    uint32_t comm = tg_settings_choice(settings, "comm");
    return comm == MPI || (comm != MPI && secure_getenv("TASKGLASS_LOCAL_RANK")) ||
           (comm == AUTO && is_started_by_mpi());
}

static tg_status alone(uint64_t asked, struct tg_error *error)
{
    if (asked <= 1)
        return TG_OK;
    return tg_error_set(error, TG_UNSUPPORTED,
                        "--ranks %llu: this process is alone; start it with `taskglass run --ranks "
                        "%llu` or `mpirun -n %llu`",
                        (unsigned long long)asked, (unsigned long long)asked,
                        (unsigned long long)asked);
}

static void introduce(struct tg_job *job)
{
    job->rank = tg_comm_rank(job->comm);
    job->ranks = tg_comm_ranks(job->comm);
    job->info.ranks = job->ranks;
    job->info.is_running = true;
    snprintf(job->info.transport, sizeof job->info.transport, "%s", tg_comm_transport(job->comm));
    snprintf(job->info.about, sizeof job->info.about, "%s", tg_comm_about(job->comm));
}

static tg_status make_room(struct tg_job *job, struct tg_error *error)
{
    size_t largest =
        sizeof(struct word) > sizeof(struct place) ? sizeof(struct word) : sizeof(struct place);
    job->all = calloc(job->ranks, sizeof *job->all);
    job->lost = calloc(job->ranks, sizeof *job->lost);
    job->gpu = calloc(job->ranks, sizeof *job->gpu);
    job->words = calloc(job->ranks, largest);
    if (!job->all || !job->lost || !job->gpu || !job->words)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for %u ranks", job->ranks);
    for (uint32_t r = 0; r < job->ranks; r++) {
        job->all[r].rank = r;
        job->all[r].is_running = true;
        snprintf(job->all[r].folder, sizeof job->all[r].folder, "rank%u", r);
    }
    return TG_OK;
}

static tg_status join(struct tg_job *job, const struct tg_settings *settings, uint64_t asked,
                      struct tg_error *error)
{
    struct tg_comm_config config = {.transport = tg_settings_text(settings, "comm")};
    tg_status status = tg_comm_open(&config, &job->comm, error);
    if (status != TG_OK)
        return status;
    introduce(job);
    if (asked != 0 && asked != job->ranks)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "--ranks %llu: %u ranks were started; leave the option out, or start "
                            "as many",
                            (unsigned long long)asked, job->ranks);
    return make_room(job, error);
}

tg_status tg_job_open(const struct tg_settings *settings, struct tg_job **out,
                      struct tg_error *error)
{
    uint64_t asked = tg_settings_count(settings, "ranks");
    *out = NULL;
    if (!tg_job_is_rank(settings))
        return alone(asked, error);
    struct tg_job *job = calloc(1, sizeof *job);
    if (!job)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for the job");
    job->lock = TG_RUN_LOCK_NONE;
    job->speaks = true;
    tg_status status = join(job, settings, asked, error);
    if (status == TG_OK)
        *out = job;
    else
        tg_job_close(job);
    return status;
}

/* Without this a rank could be gone before another has taken its last word, or printed its report. */
static void say_farewell(struct tg_job *job)
{
    struct tg_error error;
    uint32_t nothing = 0;
    if (job->comm && job->words && !job->is_stuck)
        (void)tg_job_exchange(job, &nothing, sizeof nothing, job->words,
                              job->has_failed ? PATIENCE_FAILED : PATIENCE, &error);
}

void tg_job_close(struct tg_job *job)
{
    if (!job)
        return;
    tg_run_folder_unlock(&job->lock);
    say_farewell(job);
    if (!job->is_stuck) /* a thread still uses it; the process is about to end */
        tg_comm_close(job->comm);
    free(job->all);
    free(job->lost);
    free(job->gpu);
    free(job->words);
    free(job->dir);
    free(job);
}

/* ── agreeing ──────────────────────────────────────────────────────────────────────────── */

/* Wrong outputs stop nobody: the other ranks may still take minutes to check their own. */
static bool is_failure(tg_status status)
{
    return status != TG_OK && status != TG_MISMATCH;
}

static void say(struct tg_job *job, struct word *word, tg_status status, const char *text)
{
    uint32_t ranks;
    *word = (struct word){.status = status, .pid = (uint64_t)getpid(), .gpu = job->gpu[job->rank]};
    tg_comm_local_rank(job->comm, &word->local_rank, &ranks);
    if (gethostname(word->host, sizeof word->host - 1) != 0)
        word->host[0] = '\0';
    snprintf(word->text, sizeof word->text, "%s", status == TG_OK ? "" : text);
    tg_comm_get_clock(job->comm, &word->clock);
}

/* Other ranks are other processes: what they say ends where its room does. */
static void hear(struct tg_job *job, struct word *words)
{
    for (uint32_t r = 0; r < job->ranks; r++) {
        struct tg_ranks_rank *rank = &job->all[r];
        struct word *word = &words[r];
        if (job->lost[r] && word->pid == 0) /* it has said nothing */
            continue;
        word->host[sizeof word->host - 1] = word->text[sizeof word->text - 1] = '\0';
        rank->pid = word->pid;
        rank->local_rank = word->local_rank;
        job->gpu[r] = word->gpu;
        memcpy(rank->host, word->host, sizeof rank->host);
        memcpy(rank->error, word->text, sizeof rank->error);
        rank->status = (tg_status)word->status;
        rank->clock = (struct tg_ranks_clock){.is_known = word->clock.samples > 0,
                                              .offset_ns = word->clock.offset_ns,
                                              .at_ns = word->clock.at_ns,
                                              .drift = word->clock.drift,
                                              .error_ns = word->clock.error_ns,
                                              .samples = word->clock.samples};
        job->has_failed = job->has_failed || is_failure(rank->status);
    }
}

/* The status of the lowest rank that failed, with a text for the others. */
static tg_status blame(struct tg_job *job, const char *step, struct tg_error *error)
{
    for (uint32_t r = 0; r < job->ranks; r++) {
        const struct tg_ranks_rank *rank = &job->all[r];
        if (job->lost[r] && rank->pid == 0)
            return tg_error_set(error, TG_RANK_LOST, "rank %u ended before it could %s", r, step);
        if (job->lost[r])
            return tg_error_set(error, TG_RANK_LOST,
                                "rank %u (pid %llu on %s) ended before it could %s", r,
                                (unsigned long long)rank->pid, rank->host, step);
        if (rank->status != TG_OK)
            return tg_error_set(error, rank->status, "rank %u could not %s: %s", r, step,
                                rank->error);
    }
    return TG_OK;
}

tg_status tg_job_agree(struct tg_job *job, tg_status own, const char *step, struct tg_error *error)
{
    struct word mine;
    struct tg_error problem = {TG_OK, ""};
    job->has_failed = job->has_failed || own != TG_OK;
    say(job, &mine, own, error->text);
    tg_status status = tg_job_exchange(job, &mine, sizeof mine, job->words,
                                       job->has_failed ? PATIENCE_FAILED : PATIENCE, &problem);
    if (status == TG_OK || status == TG_RANK_LOST)
        hear(job, job->words);
    job->speaks = tg_job_reports(job);
    if (own != TG_OK)
        return own;
    tg_status blamed = status == TG_OK || status == TG_RANK_LOST ? blame(job, step, error) : TG_OK;
    job->has_failed = job->has_failed || blamed != TG_OK || status != TG_OK;
    if (blamed == TG_OK && status != TG_OK)
        return tg_error_set(error, status, "%s", problem.text);
    return blamed;
}

/* ── the directory ─────────────────────────────────────────────────────────────────────── */

static tg_status make_shared(struct tg_job *job, const struct tg_output_request *request,
                             struct tg_error *error)
{
    tg_status status = tg_output_create(request, &job->dir, &job->made, &job->lock, error);
    if (status != TG_OK)
        return status;
    tg_run_folder_remove_empty(job->dir); /* of a run of one device whose files are gone */
    /* Before the file says that they run: whoever completes it if all of them are killed. */
    tg_job_tell_launcher(job->dir);
    tg_job_start_watching(job);
    return tg_ranks_json_write(job->dir, &job->info, job->all, error);
}

/* Ranks may have other current directories, so that the path is absolute on its way. */
static void describe_place(const struct tg_job *job, struct place *place)
{
    place->is_relative = job->dir[0] != '/';
    char *here = place->is_relative ? getcwd(NULL, 0) : NULL;
    snprintf(place->path, sizeof place->path, "%s%s%s", here ? here : "", here ? "/" : "",
             job->dir);
    free(here);
}

/* The path as the user gave it, if this rank is in the same directory. */
static char *own_path(const struct place *place)
{
    char *here = place->is_relative ? getcwd(NULL, 0) : NULL;
    size_t length = here ? strlen(here) : 0;
    bool is_here = here && strncmp(place->path, here, length) == 0 && place->path[length] == '/';
    char *path = strdup(place->path + (is_here ? length + 1 : 0));
    free(here);
    return path;
}

static tg_status learn_place(struct tg_job *job, struct place *places, struct tg_error *error)
{
    struct place *place = &places[0];
    place->path[sizeof place->path - 1] = place->text[sizeof place->text - 1] = '\0';
    if (job->lost[0])
        return tg_error_set(error, TG_RANK_LOST, "rank 0 ended before it made the directory");
    if (place->status != TG_OK)
        return tg_error_set(error, (tg_status)place->status, "%s", place->text);
    job->dir = own_path(place);
    return job->dir ? TG_OK : tg_error_set(error, TG_NO_MEMORY, "out of host memory for a path");
}

static tg_status share_place(struct tg_job *job, const struct tg_output_request *request,
                             struct tg_error *error)
{
    struct place *mine = calloc(1, sizeof *mine);
    struct tg_error problem = {TG_OK, ""};
    if (!mine)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for a path");
    tg_status own = job->rank == 0 ? make_shared(job, request, error) : TG_OK;
    mine->status = own;
    if (own != TG_OK)
        snprintf(mine->text, sizeof mine->text, "%s", error->text);
    else if (job->dir)
        describe_place(job, mine);
    tg_status status =
        tg_job_exchange(job, mine, sizeof *mine, job->words,
                        own == TG_OK && !job->has_failed ? PATIENCE : PATIENCE_FAILED, &problem);
    free(mine);
    if (own != TG_OK || job->rank == 0)
        return own; /* who else is gone, the next step tells */
    if (status == TG_OK || status == TG_RANK_LOST)
        return learn_place(job, job->words, error);
    return tg_error_set(error, status, "%s", problem.text);
}

tg_status tg_job_place(struct tg_job *job, const struct tg_output_request *request, char **dir,
                       size_t *made, struct tg_run_lock *lock, struct tg_error *error)
{
    /* On every rank: if rank 0 dies, another one writes ranks.json. */
    snprintf(job->info.workload, sizeof job->info.workload, "%s", request->workload);
    snprintf(job->info.case_name, sizeof job->info.case_name, "%s", request->case_name);
    tg_status status = share_place(job, request, error);
    job->has_failed = job->has_failed || status != TG_OK;
    if (status != TG_OK)
        return status;
    if (job->rank != 0)
        tg_job_start_watching(job);
    char *own = tg_text_format("%s/%s", job->dir, job->all[job->rank].folder);
    if (!own)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for a path");
    struct tg_output_request mine = *request;
    mine.dir = own;
    mine.is_of_rank = true;
    status = tg_output_create(&mine, dir, made, lock, error);
    free(own);
    return status;
}

/* ── the end ───────────────────────────────────────────────────────────────────────────── */

uint32_t tg_job_local_rank(const struct tg_job *job)
{
    uint32_t rank, ranks;
    tg_comm_local_rank(job->comm, &rank, &ranks);
    return rank;
}

bool tg_job_reports(const struct tg_job *job)
{
    for (uint32_t r = 0; r < job->rank; r++)
        if (!job->lost[r])
            return false;
    return true;
}

/* A rank that failed only because another did has nothing of its own to tell. */
static bool is_cause(const struct tg_job *job, uint32_t r)
{
    return job->lost[r] || (job->all[r].status != TG_OK && job->all[r].status != TG_RANK_LOST);
}

tg_status tg_job_worst(const struct tg_job *job, uint32_t *rank)
{
    tg_status worst = TG_OK;
    *rank = 0;
    for (uint32_t r = 0; r < job->ranks; r++)
        /* The others were told to end because of it, or could not go on. */
        if (job->lost[r] && job->all[r].status == TG_RANK_LOST) {
            *rank = r;
            return TG_RANK_LOST;
        }
    for (int causes = 1; causes >= 0 && worst == TG_OK; causes--)
        for (uint32_t r = 0; r < job->ranks; r++) {
            tg_status status = job->all[r].status;
            if ((causes && !is_cause(job, r)) ||
                tg_status_exit_code(status) <= tg_status_exit_code(worst))
                continue;
            worst = status;
            *rank = r;
        }
    return worst;
}

/* All ranks may fail with the same line, as they do if their calls differ: the lowest one says it. */
static bool has_own_words(const struct tg_job *job)
{
    const struct tg_ranks_rank *own = &job->all[job->rank];
    if (own->status == TG_OK || own->status == TG_RANK_LOST || own->status == TG_CANCELLED)
        return false;
    for (uint32_t r = 0; r < job->rank; r++)
        if (!job->lost[r] && job->all[r].status == own->status &&
            strcmp(job->all[r].error, own->error) == 0)
            return false;
    return true;
}

static void conclude(struct tg_job *job)
{
    uint32_t rank;
    for (uint32_t r = 0; r < job->ranks; r++) {
        struct tg_ranks_rank *one = &job->all[r];
        one->is_running = false;
        one->has_status = true;
        if (!job->lost[r] || is_failure(one->status)) /* its last word is worth more than its end */
            continue;
        one->status = TG_RANK_LOST;
        if (!*one->error)
            snprintf(one->error, sizeof one->error, "%s", TG_JOB_NO_REPORT);
    }
    job->info.is_running = false;
    job->info.has_status = true;
    job->info.status = tg_job_worst(job, &rank);
    job->speaks = tg_job_reports(job) || has_own_words(job);
}

tg_status tg_job_end(struct tg_job *job, tg_status status, const char *text, struct tg_error *error)
{
    struct word mine;
    tg_status written = TG_OK;
    job->has_failed = job->has_failed || is_failure(status);
    say(job, &mine, status, text);
    tg_status told = tg_job_exchange(job, &mine, sizeof mine, job->words,
                                     job->has_failed ? PATIENCE_FAILED : PATIENCE, error);
    if (told == TG_OK || told == TG_RANK_LOST)
        hear(job, job->words);
    else
        tg_job_find_gone(job, status, text); /* nobody told: look who is still there */
    conclude(job);
    if (job->dir && tg_job_reports(job))
        written = tg_ranks_json_write(job->dir, &job->info, job->all, error);
    tg_run_folder_unlock(&job->lock);
    return written;
}
