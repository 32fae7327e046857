/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spool: a temporary file without a name that collects the events of a trace in the order in which
 * they arrive. Its memory is one buffer, however many events there are, and a process that is killed leaves
 * nothing behind.
 *
 *     tg_spool_create(folder, &spool, error)
 *         tg_spool_add(spool, &event) …             any order, one thread at a time
 *         tg_spool_add_text(spool, task, key, text) …
 *     tg_trace_write(spool, &run, …)                trace.h
 *     tg_spool_destroy(spool)
 *
 * If the disk refuses a write, the spool remembers the first failure and keeps nothing more;
 * tg_trace_write reports it once. So a caller need not check in between, and its run goes on.
 *
 * Events may come from a device, which is not trusted. The spool takes any numbers; tg_trace_write leaves
 * out what makes no sense (a core that the run does not have, an end before its begin) and counts it.
 */
#ifndef TG_TRACE_SPOOL_H
#define TG_TRACE_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/status.h>

/* A time that is not known. */
#define TG_SPOOL_NO_TIME UINT64_MAX

/*
 * Which members of an event count depends on its type; the others are 0. Times are nanoseconds on the
 * device's clock.
 *
 *   type      id           begin, end       at           core    number          part          flags
 *   TASK      the task     its kernel ran   ready        core    kernel          tg_part       tg_spool_flag
 *   SUBMIT    the task     the call         -            -       site of scope   -             -
 *   SITE      the task     -                ready        -       site of scope   -             -
 *   EDGE      who waits    -                the other    -       -               tg_edge_kind  -
 *   WAIT      who is       it waited        -            ring    site of scope   tg_resource   tg_spool_flag
 *             waited for
 *   SCOPE     its tasks    it was open      -            ring    site            depth         tg_spool_flag
 *   RINGS     slots        when, deps       heap bytes   ring    map entries     -             -
 *   RECORDER  -            when, -          bytes        -       -               -             -
 *
 * TASK: one for each part of a mix, all with the same id and `at`. `at` may be TG_SPOOL_NO_TIME. `core` is
 * an index into tg_trace_run.core. If it still ran when the device died, it has the flag PARTIAL and ends
 * when the host noticed.
 * SITE: of a task that no orchestrator on the device submitted, so that there is no SUBMIT. `at` counts where
 * its TASK does not know it, and may be TG_SPOOL_NO_TIME.
 * EDGE: `id` waits for the end of the task `at`. The kind may be TG_SPOOL_ANY_KIND.
 * WAIT: the orchestrator waited; `id` may be TG_TASK_NONE.
 * SCOPE: `id` is the number of tasks that were submitted in it.
 * RINGS: how much of ring `core` was in use at `begin`; the tensor map is that of all rings.
 * RECORDER: bytes recorded since the run began.
 */
enum tg_spool_type {
    TG_SPOOL_TASK = 1,
    TG_SPOOL_SUBMIT = 2,
    TG_SPOOL_EDGE = 3,
    TG_SPOOL_WAIT = 4,
    TG_SPOOL_SCOPE = 5,
    TG_SPOOL_RINGS = 6,
    TG_SPOOL_RECORDER = 7,
    TG_SPOOL_TEXT = 8, /* tg_spool_add_text */
    TG_SPOOL_SITE = 9,
    TG_SPOOL_TYPES = 10
};

enum tg_spool_flag {
    TG_SPOOL_PARTIAL = 1 << 0, /* it had not ended */
    TG_SPOOL_NO_BEGIN =
        1 << 1 /* it began at `begin` or before: a recording without the first record */
};

/* The kind of an edge whose reason is not known. */
enum { TG_SPOOL_ANY_KIND = 255 };
/* A kernel or a site that is not known. */
#define TG_SPOOL_NO_NAME UINT32_MAX

struct tg_spool_event {
    uint64_t id;
    uint64_t begin, end;
    uint64_t at;
    uint32_t core;
    uint32_t number;
    uint8_t type; /* enum tg_spool_type */
    uint8_t part;
    uint16_t flags;
    uint32_t size; /* of the text that follows in the spool; 0 but for TEXT */
};

struct tg_spool;

/* Makes a spool in that folder: the one of the file that the trace goes to, because it has the room. The
 * caller destroys it. IO_ERROR names the folder and the cause; NO_MEMORY. */
tg_status tg_spool_create(const char *folder, struct tg_spool **spool, struct tg_error *error);
/* NULL is fine. */
void tg_spool_destroy(struct tg_spool *spool);

void tg_spool_add(struct tg_spool *spool, const struct tg_spool_event *event);
/* The same for an array. */
void tg_spool_add_many(struct tg_spool *spool, const struct tg_spool_event *event, size_t count);
/* An argument of a task that is shown with it: "arg0", "float32[16,16] in". A caller gives the arguments of a task
 * in their order. The text is cleaned when it is written. */
void tg_spool_add_text(struct tg_spool *spool, uint64_t task, const char *key, const char *text);

/* How many events of a type were added. */
uint64_t tg_spool_count(const struct tg_spool *spool, enum tg_spool_type type);
/* False if the disk refused something; the error names the folder and the cause. */
bool tg_spool_is_whole(const struct tg_spool *spool, struct tg_error *error);

/* The folder that it was made in. */
const char *tg_spool_folder(const struct tg_spool *spool);

/* Reads the spool from its beginning; nothing may be added any more. */
struct tg_spool_reader {
    struct tg_spool *spool;
    struct tg_spool_event event;
    const char *key, *text; /* of a TEXT; valid until the next */
    uint64_t position;
    unsigned char *buffer;
    size_t used, next, room;
};
tg_status tg_spool_read(struct tg_spool *spool, struct tg_spool_reader *reader,
                        struct tg_error *error);
/* Puts the next one into reader->event; *more is false at the end. */
tg_status tg_spool_next(struct tg_spool_reader *reader, bool *more, struct tg_error *error);
void tg_spool_reader_end(struct tg_spool_reader *reader);

#endif
