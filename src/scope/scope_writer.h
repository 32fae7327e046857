/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes scope stats, the two files that taskglass/scope_stats.h describes:
 *
 *     tg_scope_writer_create(output_dir, &limits, &w, error)
 *         tg_scope_writer_add(w, &sample) …    two for every scope
 *         tg_scope_writer_flush(w)             now and then: limits what a kill costs
 *     tg_scope_writer_finish(w, dropped, total, &fatal, error)
 *     tg_scope_writer_destroy(w)
 *
 * Memory: a buffer, and one small entry per site and ring; nothing is kept per sample.
 *
 * If the disk refuses a write, the writer remembers the first failure and writes nothing more;
 * finish reports it once. The caller need not check in between, and the run goes on.
 *
 * A writer belongs to one thread at a time.
 */
#ifndef TG_SCOPE_SCOPE_WRITER_H
#define TG_SCOPE_SCOPE_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/scope_stats.h>
#include <taskglass/status.h>

/* The capacities. 0: this run does not have the resource. */
struct tg_scope_limits {
    uint32_t n_rings;
    uint64_t task_window[TG_SCOPE_RINGS], heap[TG_SCOPE_RINGS], dep_pool[TG_SCOPE_RINGS];
    uint64_t tensormap;
    uint64_t fanin[TG_SCOPE_RINGS]; /* of another implementation; ours has no such pool */
    bool no_rings;                  /* the host built the graph */
    /* Bytes of device memory: all, those in use while the run began, and what one task slot, one
     * dependency and one map entry take. All 0 if unknown. */
    struct tg_scope_memory {
        uint64_t size, used, task, dep, entry;
    } memory;
};

struct tg_scope_writer;

/*
 * Makes output_dir/scope_stats (output_dir must exist) and in it the samples' file with its first
 * line; removes what an earlier run left there. IO_ERROR names path and cause.
 */
tg_status tg_scope_writer_create(const char *output_dir, const struct tg_scope_limits *limits,
                                 struct tg_scope_writer **writer, struct tg_error *error);
/* Adds a sample; samples come in the order in which they were taken. The site is copied. The device
 * is not trusted: names are cleaned, and a ring past the last one counts as the last. */
void tg_scope_writer_add(struct tg_scope_writer *writer, const struct tg_scope_sample *sample);
/* The same in two steps, for a caller that knows sites by numbers of its own: looking a name up costs as
 * much as all the rest. The writer's number of a site, which stays; false if memory ran out. */
bool tg_scope_writer_site(struct tg_scope_writer *writer, const char *site, uint32_t *number);
/* `sample->site` does not count. */
void tg_scope_writer_add_at(struct tg_scope_writer *writer, uint32_t number,
                            const struct tg_scope_sample *sample);
void tg_scope_writer_flush(struct tg_scope_writer *writer);
/*
 * Writes what is buffered, puts the numbers into the first line, writes the summary and closes.
 * `total`: samples that the device tried to write; `dropped`: those of them that it lost. `fatal`
 * may be NULL. IO_ERROR, naming path and cause, if anything failed since tg_scope_writer_create.
 * Call it once.
 */
tg_status tg_scope_writer_finish(struct tg_scope_writer *writer, uint64_t dropped, uint64_t total,
                                 const struct tg_scope_fatal *fatal, struct tg_error *error);
/* Without tg_scope_writer_finish the samples stay as a killed host would leave them. NULL is
 * fine. */
void tg_scope_writer_destroy(struct tg_scope_writer *writer);

#endif
