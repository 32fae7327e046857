/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <taskglass/recover.h>
#include <unistd.h>

#include "base/error.h"
#include "recording/manifest.h"
#include "recording/reader.h"
#include "recording/record.h"

enum { RECORD = sizeof(struct tg_record), HEAD = sizeof(struct tg_journal_head) };

/* The writer of a journal holds its lock until it closes the file or dies. */
static tg_status lock(int fd, const char *path, struct tg_error *error)
{
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return tg_error_set(error, TG_BUSY, "'%s' is still being written", path);
    return TG_OK;
}

/* Where the good records end, and whether there are good ones further on. */
struct survey {
    uint64_t end; /* bytes */
    bool more;
};

static struct survey look_through(const struct tg_map *map)
{
    struct survey survey = {.end = HEAD};
    while (map->size - survey.end >= RECORD && tg_record_intact(map->bytes + survey.end))
        survey.end += RECORD;
    for (uint64_t at = survey.end; map->size - at >= RECORD && !survey.more; at += RECORD)
        survey.more = tg_record_intact(map->bytes + at);
    return survey;
}

static tg_status cut_tail(int fd, const char *path, struct tg_recovery *recovered,
                          struct tg_error *error)
{
    struct tg_map map;
    int cause = tg_map_open(path, true, &map);
    if (cause)
        return tg_file_error(error, "read", path, cause);
    struct survey survey = look_through(&map);
    uint64_t left = map.size - survey.end;
    tg_map_close(&map);
    if (survey.more) {
        recovered->bad_bytes = left;
    } else if (left > 0) {
        if (ftruncate(fd, (off_t)survey.end) != 0)
            return tg_file_error(error, "cut the torn end off", path, errno);
        recovered->cut_bytes = left;
    }
    return TG_OK;
}

static tg_status write_manifest(const char *path, const char *dir, struct tg_recovery *recovered,
                                struct tg_error *error)
{
    struct tg_recording *recording;
    struct tg_entry entry;
    tg_status status = tg_recording_open(path, &recording, error);
    if (status != TG_OK)
        return status;
    recovered->was_complete = recording->info.complete;
    recovered->payload_bytes = tg_recording_stored(recording);
    while (tg_recording_get(recording, recovered->records, &entry)) {
        recovered->records++;
        recovered->truncated += (entry.record.flags & TG_RECORD_TRUNCATED) != 0;
    }
    status = tg_manifest_write(recording, dir, error);
    tg_recording_close(recording);
    return status;
}

/* Checks the head first, so that a file that is not a journal is never cut. */
static tg_status check_journal(const char *path, struct tg_error *error)
{
    struct tg_recording *recording;
    tg_status status = tg_recording_open(path, &recording, error);
    if (status == TG_OK)
        tg_recording_close(recording);
    return status;
}

static tg_status recover(int fd, const char *path, const char *dir, struct tg_recovery *recovered,
                         struct tg_error *error)
{
    tg_status status = lock(fd, path, error);
    if (status == TG_OK)
        status = check_journal(path, error);
    if (status == TG_OK)
        status = cut_tail(fd, path, recovered, error);
    if (status == TG_OK)
        status = write_manifest(path, dir, recovered, error);
    return status;
}

static tg_status recover_found(const struct tg_found *found, const char *asked,
                               struct tg_recovery *recovered, struct tg_error *error)
{
    if (!found->journal)
        return tg_error_set(error, TG_NOT_FOUND,
                            "'%s' has no journal (tensor_dump.rec) to recover from", asked);
    char *path = tg_path_join(found->dir, found->journal);
    if (!path)
        return tg_file_no_memory(error);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    tg_status status = fd < 0 ? tg_file_error(error, "open", path, errno)
                              : recover(fd, path, found->dir, recovered, error);
    if (fd >= 0)
        close(fd);
    free(path);
    return status;
}

tg_status tg_recording_recover(const char *path, struct tg_recovery *recovered,
                               struct tg_error *error)
{
    struct tg_found found;
    *recovered = (struct tg_recovery){0};
    tg_status status = tg_found_files(path, &found, error);
    if (status == TG_OK)
        status = recover_found(&found, path, recovered, error);
    tg_found_free(&found);
    return status;
}
