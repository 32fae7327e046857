/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open recording.
 *
 *   reader.c            the public functions (recording.h), and records on request
 *   reader_files.c      the files that a path stands for
 *   reader_journal.c    a journal: mapped, and each record checked when the caller asks for it
 *   reader_manifest.c   a manifest: read at once into an array
 *   reader_entry.c      one entry of a manifest
 *   state.c             how the run that wrote the recording ended
 *   reader_scalar.c     the value of a scalar in it
 *   run_facts.c         what run.json beside the recording says of the run
 *   reader_addresses.c  the addresses of another implementation's tensors
 *
 * Every record passes tg_record_confine before the caller gets it, whichever file it comes from.
 *
 * How the end of a journal is found. The file's size gives the number of records. Opening checks
 * the last one only, so that it takes no time. If that one is good, all records before it were
 * written before it; if not, the reader searches for the first bad one and ends the journal there.
 * A bad record in the middle of a journal with a good end (a disk that lost a write) is noticed
 * when it is read: tg_recording_get then returns false for it, although `records` counts it.
 */
#ifndef TG_RECORDING_READER_H
#define TG_RECORDING_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/recording.h>
#include <taskglass/wire/journal.h>

#include "base/files.h"
#include "base/json_pull.h"
#include "base/names.h"

struct tg_kernel_name {
    uint32_t number;
    const char *name;
};

/* An entry of a manifest as the file has it, not yet confined. */
struct tg_read_entry {
    struct tg_record record;
    const char *kernel[TG_PARTS];
};

struct tg_recording {
    struct tg_recording_info info; /* its strings are the ones below */
    uint32_t policy;
    char *dir;
    char manifest[TG_NAME_MAX + 1], journal[TG_NAME_MAX + 1], payload_name[TG_NAME_MAX + 1];
    char run_dir[TG_NAME_MAX + 1];
    struct tg_names names;
    struct tg_map payload;
    /* a journal */
    struct tg_map map;
    const unsigned char *arguments; /* the first record of that type */
    struct tg_kernel_name *kernel;  /* by number */
    size_t n_kernels;
    uint64_t whole_records; /* all whole records in the file, of any type, good or bad */
    /* a manifest */
    struct tg_read_entry *entry;
};

/* The files that a path stands for. */
struct tg_found {
    char *dir;     /* on the heap */
    char *journal; /* its name in dir; NULL: there is none, or the caller asked for the manifest */
    char *manifest;
};
tg_status tg_found_files(const char *path, struct tg_found *found, struct tg_error *error);
void tg_found_free(struct tg_found *found);

/* The path of a file of the run that the recording in `dir` belongs to, on the heap. The file lies in
 * the directory around tensor_dump or args_dump. If the folder has another name, the directory around
 * it is not the run's, and the file lies in `dir` itself. NULL if memory runs out. */
char *tg_run_file(const char *dir, const char *name);

/* True if run.json beside the recording says that a filter chose what to record (run_facts.c). */
bool tg_recording_was_filtered(const struct tg_recording *recording);

/* True if the bytes begin like a journal. */
bool tg_journal_begins(const void *bytes, size_t size);
/* Reads recording->map as a journal; messages call it `name`. Sets the payload file's name in the
 * recording. */
tg_status tg_journal_read(struct tg_recording *recording, const char *name, struct tg_error *error);
const char *tg_journal_kernel(const struct tg_recording *recording, uint32_t number);

/* Reads the whole manifest; keeps no pointer into the text. */
tg_status tg_manifest_read(struct tg_recording *recording, const char *text, size_t size,
                           const char *name, struct tg_error *error);
/* Reads one entry, after its BEGIN_OBJECT. False: pull->problem says why, or is NULL if memory ran
 * out. */
bool tg_manifest_read_entry(struct tg_pull *pull, bool is_foreign, struct tg_names *names,
                            struct tg_read_entry *entry);

/* How the run ended, or that it has not: enum tg_recording_state. */
uint32_t tg_recording_find_state(const struct tg_recording *recording);
/* The status that the last STRING names; false if it names none. */
bool tg_status_from_word(const struct tg_pull *pull, tg_status *status);
/* Gives the records of another implementation the addresses that its deps.json has, if there is one. */
void tg_manifest_add_addresses(struct tg_recording *recording);
/* How a manifest gives the value of a scalar: "value" of ours, "value" of the other implementation, or
 * its "scalar_value". */
enum tg_scalar_form { TG_SCALAR_OURS, TG_SCALAR_FOREIGN, TG_SCALAR_RAW };
/* The bits of a scalar from the value at the last token of `pull`. False if it is no value of that
 * type. */
bool tg_manifest_scalar(const struct tg_pull *pull, enum tg_scalar_form form, unsigned dtype,
                        uint64_t *bits);

/* The record where it lies in memory, to look at once more after tg_recording_get has given it out: not
 * checked and not confined, so its numbers may be anything. NULL past the end. */
const struct tg_record *tg_recording_at(const struct tg_recording *recording, uint64_t index);

/* For tests: opens a recording in memory, which stays the caller's: a journal or a manifest, and
 * its payload (size 0: none). */
tg_status tg_recording_from_memory(const void *bytes, size_t size, const void *payload,
                                   size_t payload_size, struct tg_recording **recording,
                                   struct tg_error *error);

#endif
