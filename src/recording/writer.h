/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a recording while the graph runs: run_dir/tensor_dump/ with the payload file, the
 * journal, and at the end the manifest.
 *
 *     tg_dump_create(run_dir, level, policy, &w, error)
 *     tg_dump_add_kernel(w, 0, TG_AIV, "add") …             names first
 *         at = tg_dump_reserve(w, bytes);                   room for a payload
 *         tg_dump_payload(w, at + piece, address, size) …   its bytes, in any order
 *         record.position = at; record.stored = bytes;
 *         tg_dump_append(w, &record);                       only after its payload
 *         tg_dump_flush(w);                                 now and then: what a kill may not cost
 *     tg_dump_account(w, &account);
 *     tg_dump_finish(w, error);                             summary, manifest
 *     tg_dump_destroy(w);
 *
 * Memory: one buffer of records; nothing is kept per record.
 *
 * When the disk refuses: the first failure is remembered and ends all writing. From then on
 * payloads and records are refused (false); each refused record is counted in lost[TG_LOSS_DISK];
 * what is in the journal stays whole. finish says once what happened. The caller need not care
 * in between, and the run goes on.
 *
 * Threads: tg_dump_payload may be called by several at once. Everything else belongs to one thread
 * at a time, and appending a record to the thread that knows its payload to be written.
 */
#ifndef TG_RECORDING_WRITER_H
#define TG_RECORDING_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/status.h>
#include <taskglass/wire/record.h>

struct tg_dump_writer;

/*
 * Makes run_dir/tensor_dump (run_dir must exist) with an empty payload file and a journal that has
 * its head; a recording that is there from before is removed. IO_ERROR names path and cause.
 * `level` and `policy`: enum tg_record_level, enum tg_record_policy.
 */
tg_status tg_dump_create(const char *run_dir, uint32_t level, uint32_t policy,
                         struct tg_dump_writer **writer, struct tg_error *error);

/* The name of a kernel (cut at 239 bytes); before any record. BAD_ARGUMENT once there are records,
 * IO_ERROR where the disk refused. */
tg_status tg_dump_add_kernel(struct tg_dump_writer *writer, uint32_t number, uint32_t core,
                             const char *name);

/* Room for a payload: its position in the file. Payloads lie one after the other without gaps. */
uint64_t tg_dump_reserve(struct tg_dump_writer *writer, uint64_t bytes);
/* All of the bytes, or false: the disk refused, now or before. */
bool tg_dump_payload(struct tg_dump_writer *writer, uint64_t position, const void *bytes,
                     uint64_t size);

/*
 * A copy of the record, with its check, goes into the journal, at the latest with the next flush;
 * it is counted by stage, role, kind and flags. False: the disk refused; it is counted as lost.
 */
bool tg_dump_append(struct tg_dump_writer *writer, const struct tg_record *record);
bool tg_dump_flush(struct tg_dump_writer *writer);

/* What was counted so far. `recorded` and what is counted by record follow the journal; the rest
 * is what was accounted. */
const struct tg_record_summary *tg_dump_summary(const struct tg_dump_writer *writer);

/* What only the device and the collector know. lost: records that are not in the journal; not
 * those that were refused here, which are counted already, nor those appended with a flag. */
struct tg_dump_account {
    uint64_t attempted;
    uint64_t lost[TG_LOSS_CAUSES];
    uint64_t record_ns;
    uint64_t wait_ns;
};
/* Adds to the summary; may be called any number of times before the end. */
void tg_dump_account(struct tg_dump_writer *writer, const struct tg_dump_account *account);

/*
 * Writes the summary and the manifest, and closes the files. IO_ERROR, naming path and cause,
 * where anything failed since create; the journal is then readable up to its last record, and
 * the manifest is there whole or not at all. Once.
 */
tg_status tg_dump_finish(struct tg_dump_writer *writer, struct tg_error *error);
/* Without finish the recording stays as a killed host would leave it. NULL is fine. */
void tg_dump_destroy(struct tg_dump_writer *writer);

#endif
