/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a recording: the folder tensor_dump of a run, or what another implementation wrote
 * (args_dump, or a manifest with its payload file). The reader maps the journal if there is one,
 * and otherwise parses the manifest. It does not trust the files: it checks sizes and offsets before
 * use, and no number in a file decides how much it allocates. Opening checks every record: damaged ones
 * are left out and counted, unless the other file has them.
 *
 * A recording is read-only; several threads may use one at the same time.
 */
#ifndef TASKGLASS_RECORDING_H
#define TASKGLASS_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/status.h>
#include <taskglass/wire/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/* No such record, task or element. */
#define TG_NONE UINT64_MAX

struct tg_recording;

/* `path`: a run's directory, the recording folder inside it, or a journal or manifest file.
 * NOT_FOUND: nothing there; BAD_ARGUMENT: not a recording, or too broken to read (says where). */
TG_API tg_status tg_recording_open(const char *path, struct tg_recording **recording,
                                   struct tg_error *error);
TG_API void tg_recording_close(struct tg_recording *recording);

/* Whether the files still have the bytes that they had when the recording was opened. A recording's files
 * are mapped; if another program makes one shorter while it is read, or its disk fails, the lost bytes
 * read as zeros and nothing that was computed from them is true. So ask this behind the last look at a
 * record or payload, before you give an answer: IO_ERROR names the file. Functions of this library that
 * return a status have asked. Files that grow, or that are replaced, change nothing. */
TG_API tg_status tg_recording_check_files(const struct tg_recording *recording,
                                          struct tg_error *error);

/* For programs that write files made of a run: BAD_ARGUMENT if `path` is one of the run's own files, under
 * whatever name, or a name that a run gives its files. `run`: the run's directory, one in it, or a file in
 * one of these, which counts too. Exports of this library have asked. */
TG_API tg_status tg_run_check_output(const char *run, const char *path, struct tg_error *error);

/* How the run that wrote a recording ended, or that it has not. */
/* clang-format off */
/*      constant                  number word           meaning */
#define TG_RECORDING_STATE_MAP(X)                                                                  \
    X(TG_RECORDING_UNKNOWN,       0, "unknown",     "nothing says whether the run has ended")      \
    X(TG_RECORDING_FINISHED,      1, "finished",    "the run ended by itself")                     \
    X(TG_RECORDING_RUNNING,       2, "running",     "a process is still writing the recording")    \
    X(TG_RECORDING_CANCELLED,     3, "cancelled",   "the run was cancelled; later tasks never ran") \
    X(TG_RECORDING_FAILED,        4, "failed",      "the run ended with an error")                 \
    X(TG_RECORDING_INTERRUPTED,   5, "interrupted", "the writing process died before it finished")
/* clang-format on */
enum tg_recording_state { TG_RECORDING_STATE_MAP(TG_WORD_ENUM_) TG_RECORDING_STATES };

/* What a recording is, and how complete. Texts live as long as the recording. */
struct tg_recording_info {
    const char *dir;      /* the folder its files are in */
    const char *manifest; /* file names in it; "" if there is none */
    const char *journal;
    const char *payload;
    const char *run_dir; /* as the recording itself says; may be "" */
    bool from_journal;   /* the journal was read, not the manifest */
    bool complete;       /* a summary, or a manifest, says that no record is missing at the end */
    bool foreign;        /* written by another implementation: no hashes, other counters */
    uint32_t level;      /* enum tg_record_level; 0 if unknown */
    uint32_t poison;     /* what `run --poison` filled memory with (TG_POISON); 0: it did not */
    uint64_t records;
    uint64_t payload_bytes;           /* size of the payload file */
    struct tg_record_summary summary; /* as written; zero if the recording is not complete */
    uint32_t state;      /* enum tg_recording_state, as it was when the recording was opened */
    uint64_t damaged;    /* records that are skipped because their bytes are damaged */
    uint64_t zero_bytes; /* zeros at the journal's end, as a power loss leaves them */
    uint64_t torn_bytes; /* an unfinished record at its end, as a killed writer leaves it */
    uint64_t excess;     /* records with the flag EXCESS */
};
/* Fills `info`. */
TG_API void tg_recording_get_info(const struct tg_recording *recording,
                                  struct tg_recording_info *info);

/* A record with the names of its kernels. The strings live as long as the recording. */
struct tg_entry {
    struct tg_record record;      /* position and stored are inside the payload file, checked */
    const char *kernel[TG_PARTS]; /* names, "" if unknown; NULL if the task has no such part */
};
/* Record `index`, counted from 0 in the order of the file, without gaps where damaged records are left
 * out; false past the end. */
TG_API bool tg_recording_get(const struct tg_recording *recording, uint64_t index,
                             struct tg_entry *entry);

/*
 * The record's payload in the mapped file: `stored` bytes. NULL if nothing is stored.
 *
 * NULL also if the entry has the flag TG_RECORD_EXCESS. The reader sets it if all records together claim far
 * more bytes than the payload file has on the disk, for records that share bytes with one without the flag
 * or that are holes. So the time that reading all records takes depends on the size of the files, whatever
 * a stranger wrote into them. To look at such a record all the same, clear the flag in the entry.
 */
TG_API const void *tg_recording_payload(const struct tg_recording *recording,
                                        const struct tg_entry *entry);
/*
 * For a report on single records: lets it read an entry with the flag EXCESS, as long as the entries that it
 * was let read so have at most as many bytes as the payload file, and 16 GiB. So one record can be looked at.
 * `*used` begins with 0.
 */
TG_API void tg_entry_allow(const struct tg_recording_info *info, uint64_t *used,
                           struct tg_entry *entry);
/* Takes the flag EXCESS from records that have it only because they are holes, for a caller that has the time
 * to read them. Those that share bytes keep it. No other thread may use the recording meanwhile. Fails with
 * NO_MEMORY only. */
TG_API tg_status tg_recording_read_holes(struct tg_recording *recording, struct tg_error *error);

/* One line of text. */
struct tg_note {
    char text[400];
};
/* What the recording itself says that it lacks: its run still goes on, was cancelled, failed or died;
 * records were lost or are damaged. Note `number`, from 0; false past the last. An answer from a recording
 * with notes is about what it has. */
TG_API bool tg_recording_note(const struct tg_recording_info *info, unsigned number,
                              struct tg_note *note);
/* The name of the run, which is that of the directory around the recording's folder; clean text (text.h).
 * IO_ERROR: the directory cannot be found, and the name is "". */
TG_API tg_status tg_recording_name(const struct tg_recording_info *info, char *name, size_t room,
                                   struct tg_error *error);
/* Why a recording that has no tensor of any task need not be one of a run without tasks: nothing was
 * marked, a filter left everything out, records were lost … NULL: the recorder saw every task. */
TG_API const char *tg_recording_why_empty(const struct tg_recording *recording);

/* The command line that made the recording, quoted for a shell, with `option` behind it (NULL: none),
 * as run.json has it, without --output: it is to make another recording. False, with "" in `text`, if that is not known or does not fit into `room`. */
TG_API bool tg_recording_command(const struct tg_recording *recording, const char *option,
                                 char *text, size_t room);

/* The bytes of all payloads that the records have. The payload file may be larger: payloads that were
 * lost, cut or overwritten leave gaps in it. Reads all records unless the recording is complete and
 * without losses. */
TG_API uint64_t tg_recording_stored(const struct tg_recording *recording);

/* How many records claim a payload that ends behind the payload file, or whose payload file is missing. Their
 * entries have only what is there. Reads all records unless the sizes agree. */
TG_API uint64_t tg_recording_cut_off(const struct tg_recording *recording);

/* "before_dispatch" …, "input" …, "tensor" …: the words of the manifest; "unknown" for a number that
 * is none. */
TG_API const char *tg_stage_name(unsigned stage);
TG_API const char *tg_record_role_name(unsigned role);
TG_API const char *tg_kind_name(unsigned kind);
TG_API const char *tg_level_name(unsigned level);
TG_API const char *tg_policy_name(unsigned policy);
TG_API const char *tg_loss_name(unsigned cause);
/* "finished", "running", "cancelled" …: enum tg_recording_state; "unknown" for any other number. */
TG_API const char *tg_recording_state_name(unsigned state);

/* "in", "out", "inout", and "scalar" for 0: the words of signatures and options; "nothing" for a number
 * that is none. */
TG_API const char *tg_role_name(unsigned role);

/* The content hash of logical bytes (docs/wire-format.md), as records have it. */
TG_API uint64_t tg_content_hash(const void *bytes, size_t size);

#ifdef __cplusplus
}
#endif
#endif
