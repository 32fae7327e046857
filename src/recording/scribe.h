/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest of a recording that is still being made. A thread follows the journal and prints the
 * entries of the records that it has got, so that little is left to do when the run is over.
 *
 *   the writer ──appends──► tensor_dump.rec ──reads──► the scribe ──prints──► a file without a name
 *        └───────────────────── tells how far ─────────────▲                        │
 *                                                          at the end: head, name ──┘
 *
 * The file gets the name tensor_dump.json when it is whole. A host that is killed leaves none of it. What
 * the scribe cannot do, the writer does after the run: tg_manifest_write reads the journal from its
 * beginning.
 *
 * Threads: tg_scribe_drop may be called by any thread at any time between begin and destroy. All other
 * functions belong to one thread at a time.
 */
#ifndef TG_RECORDING_SCRIBE_H
#define TG_RECORDING_SCRIBE_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/wire/record.h>

struct tg_scribe;

/* `journal` is read and stays the caller's; it has the names of all kernels, and whole slots up to `end`.
 * NULL if the file system has no files without names, or the system refuses anything else. */
struct tg_scribe *tg_scribe_begin(const char *dir, int journal, uint64_t end);
/* The journal has whole records up to there now. */
void tg_scribe_tell(struct tg_scribe *scribe, uint64_t end);
/* Gives up: the disk gets back at once what the manifest took of it. NULL is fine. */
void tg_scribe_drop(struct tg_scribe *scribe);
/* After the last record. Prints the rest and gives the file its name. False: there is no manifest. */
bool tg_scribe_finish(struct tg_scribe *scribe, const struct tg_record_summary *summary);
/* NULL is fine. */
void tg_scribe_destroy(struct tg_scribe *scribe);

#endif
