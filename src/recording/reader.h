/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open recording.
 *
 *   reader.c            the public functions (recording.h), and which file answers
 *   reader_files.c      the files that a path stands for
 *   reader_journal.c    a journal: mapped, its head, and the names of kernels
 *   reader_scan.c       the check of every record of a journal
 *   reader_copies.c     records that a journal has twice
 *   reader_manifest.c   a manifest: read at once into an array
 *   reader_entry.c      one entry of a manifest
 *   reader_scalar.c     the value of a scalar in it
 *   run_facts.c         what run.json beside the recording says of the run
 *   reader_addresses.c  the addresses of another implementation's tensors
 *   reader_salvage.c    a damaged manifest: everything in it that proves itself
 *   reader_merge.c      records that only the manifest has, for a damaged journal
 *   reader_spans.c      which record is where
 *   extents.c           which bytes of the payload file belong to whom
 *   state.c             how the run that wrote the recording ended
 *
 * Every record passes tg_record_confine before the caller gets it, whichever file it comes from.
 *
 * Damage costs what is damaged. Records of a journal have fixed places and a check each, so opening
 * checks all of them once and leaves out the damaged ones. The records that remain are numbered
 * without gaps. If something is missing and there is a manifest, its entries fill the holes. Entries
 * of a manifest have a check each as well; if the text is no JSON any more, reading goes on at the
 * next entry that proves itself.
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
    uint32_t core; /* enum tg_core_kind, or whatever else the file has */
    const char *name;
};

/* Whether the check of a manifest's entry or head is right. Older manifests, and those of others,
 * have none. */
enum tg_text_check { TG_TEXT_UNCHECKED, TG_TEXT_INTACT, TG_TEXT_DAMAGED };

/* An entry of a manifest as the file has it, not yet confined. */
struct tg_read_entry {
    struct tg_record record;
    const char *kernel[TG_PARTS];
    enum tg_text_check check;
    uint64_t after; /* beside a journal: the slot that it belongs behind; TG_NONE: before all */
};

/* Records that lie one after the other in one file. A span reaches to the next one's first record. */
struct tg_span {
    uint64_t first; /* number of its first record in the recording */
    uint64_t from;  /* where that one is: a slot of the journal, or an entry of the manifest */
    bool in_manifest;
};

/* Slots of the journal that hold no readable argument: one, or several damaged ones in a row, so that
 * neither junk nor a hole of any size takes memory. */
enum tg_mark_kind {
    TG_MARK_KERNEL,
    TG_MARK_SUMMARY,
    TG_MARK_OTHER,
    TG_MARK_REST, /* of the record before it */
    TG_MARK_COPY, /* of an earlier argument, byte for byte */
    TG_MARK_DAMAGED,
    TG_MARK_ZEROS /* damaged: only zeros */
};
struct tg_mark {
    uint64_t slot, count;
    enum tg_mark_kind kind;
};
static inline bool tg_mark_is_damage(const struct tg_mark *mark)
{
    return mark->kind == TG_MARK_DAMAGED || mark->kind == TG_MARK_ZEROS;
}

/* What is wrong with the files, for verify. */
struct tg_damage {
    char journal[160];      /* why the journal was not read at all; "" if it was */
    bool journal_head;      /* its head is damaged; the records prove themselves */
    uint64_t slots;         /* damaged records of the journal, of any type */
    char manifest[160];     /* what is wrong with the manifest's text outside its entries */
    bool manifest_head;     /* the check of the members before its entries is wrong */
    uint64_t entries;       /* damaged entries of the manifest */
    uint64_t from_manifest; /* records that only the manifest has */
};

struct tg_recording {
    struct tg_recording_info info; /* its strings are the ones below */
    struct tg_damage damage;
    uint32_t policy;
    char *dir;
    char manifest[TG_NAME_MAX + 1], journal[TG_NAME_MAX + 1], payload_name[TG_NAME_MAX + 1];
    char run_dir[TG_NAME_MAX + 1];
    struct tg_names names;
    struct tg_map payload;
    struct tg_map run_json; /* of the run; empty if there is none that can be read */
    int no_run_json;        /* why not: a cause of base/files.h; 0 if there is one */
    struct tg_span *span;
    size_t n_spans, span_room;
    /* a journal */
    struct tg_map map;
    uint64_t claimed; /* bytes that its arguments claim of the payload file, as they are written */
    size_t slot_size; /* 128; 256 in journals of version 1 */
    uint64_t slots;   /* whole slots with anything, without zeros at the end */
    struct tg_mark *mark; /* by slot */
    size_t n_marks;
    struct tg_kernel_name *kernel; /* by number */
    size_t n_kernels, kernel_room;
    /* a manifest, or the entries of it that the journal lacks */
    struct tg_read_entry *entry;
    uint64_t n_entries;
    size_t entry_room;
    struct tg_recording *beside; /* the manifest that those come from; it owns their names */
    unsigned char *excess;       /* a bit for each record: its flag EXCESS; NULL: none has it */
    struct tg_error lost;        /* of a file that was read while opening; TG_OK: none lost bytes */
};

/* The end of a function that answers from a recording: `status`, or the IO_ERROR of files that lost bytes,
 * which explains whatever else went wrong. */
tg_status tg_recording_conclude(const struct tg_recording *recording, tg_status status,
                                struct tg_error *error);
/* Notes that a mapped file that belongs to the recording lost bytes, for tg_recording_check_files. */
void tg_recording_note_loss(struct tg_recording *recording, const struct tg_map *map,
                            const char *path);

/* The files that a path stands for. */
struct tg_found {
    char *dir;     /* on the heap */
    char *journal; /* its name in dir; NULL: there is none, or the caller asked for the manifest */
    char *manifest;
};
tg_status tg_found_files(const char *path, struct tg_found *found, struct tg_error *error);
/* Adds the other file of the folder if the path named only one of them. */
tg_status tg_found_both(struct tg_found *found, struct tg_error *error);
void tg_found_free(struct tg_found *found);
/* Opens these files, and takes `dir` from `found`. */
tg_status tg_recording_open_found(struct tg_found *found, struct tg_recording **recording,
                                  struct tg_error *error);

/* The folder of the run that the recording in `dir` belongs to, on the heap. NULL if `dir` has another
 * name than a run gives it. Returns 0, or a cause that is a fault. */
int tg_run_folder(const char *dir, char **folder);
/* The path of a file of the run that the recording in `dir` belongs to, on the heap. The file lies in
 * the directory around tensor_dump or args_dump. If the folder has another name, the directory around
 * it is not the run's, and the file lies in `dir` itself. Returns 0, or a cause that is a fault. */
int tg_run_file(const char *dir, const char *name, char **path);
/* tg_run_check_output (recording.h) for the run of this recording, and for the files that the recording
 * names itself. */
tg_status tg_recording_check_output(const struct tg_recording *recording, const char *path,
                                    struct tg_error *error);
/* A larger run.json than this is none of ours: a run writes some kilobytes. */
enum { TG_RUN_JSON_MOST = 16 << 20 };

/* True if run.json beside the recording says that a filter chose what to record (run_facts.c). */
bool tg_recording_was_filtered(const struct tg_recording *recording);

/* --- journals ----------------------------------------------------------------------------------- */

/* True if the bytes begin like a journal. */
bool tg_journal_begins(const void *bytes, size_t size);
/* Reads recording->map as a journal; messages call it `name`. Sets the payload file's name in the
 * recording. */
tg_status tg_journal_read(struct tg_recording *recording, const char *name, struct tg_error *error);
const char *tg_journal_kernel(const struct tg_recording *recording, uint32_t number);
/* enum tg_core_kind: which cores run it; TG_CORE_KINDS if that is not known. */
uint32_t tg_journal_kernel_core(const struct tg_recording *recording, uint32_t number);
/* Adds a name that the journal lacks. False if memory ran out. */
bool tg_journal_add_kernel(struct tg_recording *recording, uint32_t number, const char *name);

/* Checks every slot, on several threads if there are many; sets slots, marks, and the bytes after
 * the last slot. slot_size has been set. False if memory ran out. */
bool tg_journal_scan(struct tg_recording *recording);
/* Marks arguments that are copies of earlier ones. The spans must have been made; the caller makes them
 * anew. False if memory ran out. */
bool tg_journal_mark_copies(struct tg_recording *recording);
/* For whoever goes through the slots one by one: every so many slots, the memory of those before `slot` is
 * released. A large journal need not be in memory as a whole. */
void tg_journal_let_go(const struct tg_recording *recording, uint64_t slot);
/* The bytes of a slot, and where in the file they are. */
const unsigned char *tg_journal_slot(const struct tg_recording *recording, uint64_t slot);
size_t tg_journal_place(const struct tg_recording *recording, uint64_t slot);
/* The 256 bytes of the record in a slot that holds one. */
void tg_journal_record(const struct tg_recording *recording, uint64_t slot,
                       struct tg_record *record);

/* --- manifests ---------------------------------------------------------------------------------- */

struct tg_manifest_reading;

/* Reads the whole manifest; keeps no pointer into the text. */
tg_status tg_manifest_read(struct tg_recording *recording, const struct tg_map *map,
                           const char *name, struct tg_error *error);
/* The same for a reading that the caller has begun: `recording`, `text`, `size`, `keep`. */
tg_status tg_manifest_read_with(struct tg_manifest_reading *reading, const char *name,
                                struct tg_error *error);
/* Reads only the members before the entries, in no time; NULL if that does not succeed. The caller
 * closes the recording. *list: the text behind the bracket that opens the list. */
struct tg_recording *tg_manifest_peek(const char *text, size_t size, const char **list);
/* Reads one entry, after its BEGIN_OBJECT. False: pull->problem says why, or is NULL if memory ran
 * out. */
bool tg_manifest_read_entry(struct tg_pull *pull, bool is_foreign, struct tg_names *names,
                            struct tg_read_entry *entry);

/* What readers of a manifest share. */
struct tg_manifest_reading {
    struct tg_recording *recording;
    struct tg_pull *pull; /* at the first token of a value */
    const char *text;
    size_t size;
    const struct tg_map *map; /* the text's, whose memory is released on the way; may be NULL */
    bool has_version, has_list, has_bin_file;
    bool is_meta;   /* it says that no payloads were written */
    uint32_t seen;  /* the counters it has, by their places in the table */
    bool no_memory; /* whatever was read is not all there is */
    bool refused;   /* the manifest is readable, but says something that we must not follow */
    uint64_t version;
    enum tg_text_check head;
    uint64_t n_checked;      /* entries whose check is right */
    uint64_t n_taken;        /* by tg_manifest_salvage: entries, kept or not */
    const char *begin, *key; /* in the text: the document's brace, the last key */
    /* Asked for every intact entry: false drops it. NULL keeps all. An entry of NULL: reading starts
     * again from the beginning. */
    bool (*keep)(void *context, struct tg_read_entry *entry);
    void *context;
};
/* Reads one member of the manifest, after its KEY. */
bool tg_manifest_read_member(struct tg_manifest_reading *reading);
/* Reads one entry, after its BEGIN_OBJECT, and keeps it if it is intact. */
bool tg_manifest_take_entry(struct tg_manifest_reading *reading);
/* Reads what is left of a damaged manifest. False: nothing in it proves itself. */
bool tg_manifest_salvage(struct tg_manifest_reading *reading);

/*
 * The check of a manifest's head, and of an entry of version 1: the content hash of the text from the
 * object's brace to the last byte before the comma in front of the member "check", on one line: ", "
 * between members and elements, ": " after names, no other white space. The sum of an entry is the same
 * for the member "sum" and a text without any white space, folded to 24 bits. So a manifest that another
 * program printed anew still proves itself.
 */
uint64_t tg_text_hash(const char *text, size_t size);
/* `begin`: the object's brace; `key`: the first letter of "check"; the last token is its value. */
enum tg_text_check tg_text_check(const struct tg_pull *value, const char *begin, const char *key);
/* The same for "sum". */
enum tg_text_check tg_text_check_sum(const struct tg_pull *value, const char *begin,
                                     const char *key);

/* --- both --------------------------------------------------------------------------------------- */

/* Numbers the records: those of the journal with the entries between them, or the entries. False if
 * memory ran out. */
bool tg_spans_make(struct tg_recording *recording);
/* The span that record `index` is in. */
const struct tg_span *tg_span_of(const struct tg_recording *recording, uint64_t index);

/* Adds what only the manifest has to a damaged journal. A manifest that is none changes nothing; one that
 * the system did not let us read is an error. */
tg_status tg_recording_merge(struct tg_recording *recording, struct tg_error *error);

/* Sets info.state: how the run ended, or that it has not. */
tg_status tg_recording_find_state(struct tg_recording *recording, struct tg_error *error);
/* The status that the last STRING names; false if it names none. */
bool tg_status_from_word(const struct tg_pull *pull, tg_status *status);
/* How a run that ended with this status ended: enum tg_recording_state. */
uint32_t tg_recording_state_of(tg_status status);
/* Gives the records of another implementation the addresses that its deps.json has, if there is one. */
tg_status tg_manifest_add_addresses(struct tg_recording *recording, struct tg_error *error);
/* How a manifest gives the value of a scalar: "value" of ours, "value" of the other implementation, or
 * its "scalar_value". */
enum tg_scalar_form { TG_SCALAR_OURS, TG_SCALAR_FOREIGN, TG_SCALAR_RAW };
/* The bits of a scalar from the value at the last token of `pull`. False if it is no value of that
 * type. */
bool tg_manifest_scalar(const struct tg_pull *pull, enum tg_scalar_form form, unsigned dtype,
                        uint64_t *bits);

/* The names of a record's kernels, as in struct tg_entry; `index` must be in range. */
void tg_recording_kernels(const struct tg_recording *recording, uint64_t index,
                          const char *kernel[TG_PARTS]);
/* The record as the file has it: not confined, so its numbers may be anything. NULL past the end. It lies
 * in memory, or is unpacked into `room`. */
const struct tg_record *tg_recording_at_(const struct tg_recording *recording, uint64_t index,
                                         struct tg_record *room);
/* The same with room of its own, which lasts as long as the block that this stands in. */
#define tg_recording_at(recording, index) \
    tg_recording_at_(recording, index, &(struct tg_record){.type = 0})

/* For whoever goes through the records one by one, with *from 0 at the beginning: every so many records, the memory of
 * the journal before record `index` is released. Past the last record, what is left is. */
void tg_recording_let_go(const struct tg_recording *recording, uint64_t index, size_t *from);

/* For tests: opens a recording in memory, which stays the caller's: a journal or a manifest, and
 * its payload (size 0: none). */
tg_status tg_recording_from_memory(const void *bytes, size_t size, const void *payload,
                                   size_t payload_size, struct tg_recording **recording,
                                   struct tg_error *error);

/* False if a payload that is stored whole does not have its recorded hash: the bytes were damaged on
 * disk, and nothing that they say is what the device saw. */
bool tg_recording_intact(const struct tg_recording *recording, const struct tg_entry *entry);

#endif
