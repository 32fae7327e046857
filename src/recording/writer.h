/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a recording while the graph runs: run_dir/tensor_dump/ with the payload file, the
 * journal, and at the end the manifest.
 *
 *     tg_dump_create(run_dir, level, policy, poison, &w, error)
 *     tg_dump_add_kernel(w, 0, TG_AIV, "add") …             names first
 *         at = tg_dump_reserve(w, bytes);                   room for a payload
 *         tg_dump_payload(w, at + piece, address, size) …   its bytes, in any order
 *         record.position = at; record.stored = bytes;
 *         tg_dump_append(w, &record);                       only after its payload
 *         tg_dump_flush(w);                                 limits what a kill costs
 *     tg_dump_account(w, &account);
 *     tg_dump_finish(w, error);                             summary, manifest
 *     tg_dump_destroy(w);
 *
 * Memory: one buffer of records; nothing is kept per record.
 *
 * When the disk refuses: the first failure is remembered and ends all writing. From then on the
 * writer refuses payloads and records (false) and counts each refused record in lost[TG_LOSS_DISK];
 * the journal stays readable. finish reports the failure once. The caller need not check in
 * between, and the run goes on.
 *
 * Threads: several may reserve, write payloads, append and flush at once. The records of one thread stay in
 * order. All other functions belong to one thread, while no other uses the writer. A thread may append a
 * record only when it knows that the payload is written.
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
 * its head; an older recording there is removed. IO_ERROR names path and cause. `level` and
 * `policy`: enum tg_record_level, enum tg_record_policy. `poison`: the pattern that fills memory when
 * it is handed out; 0: none.
 */
tg_status tg_dump_create(const char *run_dir, uint32_t level, uint32_t policy, uint32_t poison,
                         struct tg_dump_writer **writer, struct tg_error *error);

/* Adds the name of a kernel (cut at TG_JOURNAL_NAME bytes); all names come before the first record.
 * BAD_ARGUMENT after that, IO_ERROR if the disk refuses. */
tg_status tg_dump_add_kernel(struct tg_dump_writer *writer, uint32_t number, uint32_t core,
                             const char *name);

/* Reserves room for payloads and returns its position in the file. Reservations lie one after the
 * other without gaps. */
uint64_t tg_dump_reserve(struct tg_dump_writer *writer, uint64_t bytes);
/* Writes all of the bytes. False: the disk refused, now or earlier. */
bool tg_dump_payload(struct tg_dump_writer *writer, uint64_t position, const void *bytes,
                     uint64_t size);

/*
 * Copies the record, with its check, into the journal, at the latest with the next flush, and
 * counts it by stage, role, kind and flags. False: the disk refused, and the record counts as lost.
 */
bool tg_dump_append(struct tg_dump_writer *writer, const struct tg_record *record);
/* The same for several, in order. False: the disk refused some of them. */
bool tg_dump_append_all(struct tg_dump_writer *writer, const struct tg_record *records, uint32_t n);
bool tg_dump_flush(struct tg_dump_writer *writer);

/* The counts so far. `recorded` and the counts by record follow the journal; the rest is what
 * tg_dump_account added. */
const struct tg_record_summary *tg_dump_summary(const struct tg_dump_writer *writer);

/* The bytes of the payloads that the journal's records refer to. The payload file may be larger, because
 * lost payloads leave gaps. */
uint64_t tg_dump_stored(const struct tg_dump_writer *writer);

/* Counts that only the device and the collector know. lost: records that are not in the journal. It
 * must not include records that tg_dump_append refused, which are counted already, nor records
 * appended with a flag. */
struct tg_dump_account {
    uint64_t attempted;
    uint64_t lost[TG_LOSS_CAUSES];
    uint64_t record_ns;
    uint64_t wait_ns;
};
/* Adds to the summary; may be called any number of times before tg_dump_finish. */
void tg_dump_account(struct tg_dump_writer *writer, const struct tg_dump_account *account);

/* How the run ended, for the summary; without it the recording does not say. */
void tg_dump_set_result(struct tg_dump_writer *writer, tg_status result);

/*
 * Writes the summary and the manifest, and closes the files. IO_ERROR, naming path and cause, if
 * anything failed since tg_dump_create; the journal is then readable up to its last record, and the
 * manifest is whole or absent. Call it once.
 */
tg_status tg_dump_finish(struct tg_dump_writer *writer, struct tg_error *error);
/* Without tg_dump_finish the recording stays as a killed host would leave it. NULL is fine. */
void tg_dump_destroy(struct tg_dump_writer *writer);

#endif
