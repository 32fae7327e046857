/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export_job.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/files.h"
#include "recording/extents.h"
#include "recording/reader.h"

/* How often progress is reported, and how many small records pass between two readings of the
 * clock. */
#define TELL_NS 50000000u
enum { LOOK_RECORDS = 64 };

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void tg_export_walks(struct tg_export_job *job, unsigned count)
{
    job->total = job->info.records * count;
}

void tg_export_walk(struct tg_export_job *job)
{
    job->next = job->taken = job->index = 0;
}

bool tg_export_tell(struct tg_export_job *job)
{
    const struct tg_export_config *config = job->config;
    if (!config->progress || job->is_cancelled)
        return !job->is_cancelled;
    uint64_t at = now();
    if (at - job->told_at >= TELL_NS) {
        job->told_at = at;
        job->is_cancelled = config->progress(config->progress_context, job->done, job->total) != 0;
    }
    return !job->is_cancelled;
}

/* Reads the clock once in LOOK_RECORDS records, and after every large one. */
static bool look(struct tg_export_job *job, const struct tg_entry *entry)
{
    job->unseen++;
    if (job->unseen < LOOK_RECORDS && entry->record.stored < 1u << 20)
        return !job->is_cancelled;
    job->unseen = 0;
    return tg_export_tell(job);
}

void tg_export_take(const struct tg_export_job *job, struct tg_entry *entry)
{
    if (job->has_values)
        entry->record.flags &= (uint16_t)~TG_RECORD_EXCESS;
}

/* The bytes that the selected records claim. */
static uint64_t sum_of_claims(const struct tg_export_job *job)
{
    struct tg_entry entry;
    uint64_t index = 0, limit = job->config->limit, sum = 0;
    for (uint64_t taken = 0; limit == 0 || taken < limit; taken++, index++) {
        if (!tg_query_next(job->config->query, job->recording, &index, &entry))
            break;
        sum = tg_claims_add(sum, entry.record.stored);
    }
    return sum;
}

tg_status tg_export_begin_values(struct tg_export_job *job)
{
    job->has_values = true;
    if (job->config->oversize)
        return TG_OK;
    uint64_t claims = sum_of_claims(job);
    if (claims <= TG_CLAIMS_SMALL || claims <= tg_recording_export_limit(job->recording))
        return TG_OK;
    return tg_error_set(job->error, TG_BAD_ARGUMENT,
                        "the records to export claim %" PRIu64 " bytes, but their payload file has "
                        "%" PRIu64 " on the disk: they share bytes or are holes; select fewer, or "
                        "write them all the same with --force",
                        claims, tg_map_data(&job->recording->payload));
}

bool tg_export_next(struct tg_export_job *job, struct tg_entry *entry)
{
    uint64_t limit = job->config->limit, from = job->next;
    if (job->is_cancelled || (limit > 0 && job->taken >= limit))
        return false;
    bool found = tg_query_next(job->config->query, job->recording, &job->next, entry);
    job->done += job->next - from + found;
    if (!found)
        return false;
    tg_export_take(job, entry);
    job->index = job->next++;
    job->taken++;
    return look(job, entry);
}

tg_status tg_export_end(const struct tg_export_job *job, tg_status status)
{
    if (status == TG_OK && job->is_cancelled)
        return tg_error_set(job->error, TG_CANCELLED, "the export was cancelled");
    return status;
}

bool tg_export_goes_on(void *job)
{
    return tg_export_tell(job);
}

bool tg_export_bytes(struct tg_export_job *job, FILE *file, const void *bytes, uint64_t size)
{
    const unsigned char *from = bytes;
    for (uint64_t at = 0; at < size; at += TG_READ_PIECE) {
        size_t piece = size - at < TG_READ_PIECE ? (size_t)(size - at) : TG_READ_PIECE;
        if (!tg_export_tell(job) || fwrite(from + at, 1, piece, file) != piece)
            return false;
        tg_bytes_were_read(from + at, piece);
    }
    return true;
}

tg_status tg_export_failed(const struct tg_export_job *job, struct tg_error *error)
{
    int cause = errno;
    if (job && job->is_cancelled)
        return tg_export_end(job, TG_OK);
    return tg_error_set(error, TG_IO_ERROR, "%s", strerror(cause));
}

tg_status tg_export_no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "no memory for the export");
}
