/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports a recording to files that other programs read, as `taskglass export` does: arrays for
 * NumPy and for machine-learning tools, tables to query, a timeline to view. tg_export_format_get
 * lists the formats; taskglass-export(1) describes each.
 */
#ifndef TASKGLASS_EXPORT_H
#define TASKGLASS_EXPORT_H

#include <taskglass/query.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A format that exports can have. */
struct tg_export_format_info {
    const char *name;    /* "npz" */
    const char *ending;  /* of its files, ".npz"; "" if there is none */
    const char *summary; /* one line */
    bool available;      /* this library was built with it */
};
/* False if there is no format with that number. */
TG_API bool tg_export_format_get(uint32_t number, struct tg_export_format_info *info);

/* The format that the ending of a file's name says; NULL if it says none. */
TG_API const char *tg_export_format_of(const char *path);
/* Room for the name of a file. */
struct tg_export_path {
    char text[300];
};
/* The name that an export gets if nobody names one, made from the name of the run. An npy export is a folder,
 * so its name ends in "_npy". BAD_ARGUMENT: no such format; IO_ERROR. */
TG_API tg_status tg_export_default_path(const struct tg_recording *recording, const char *format,
                                        struct tg_export_path *path, struct tg_error *error);

/* The export calls it now and then on the caller's thread. A return other than 0 cancels. */
typedef int (*tg_export_progress_fn)(void *context, uint64_t done, uint64_t total);

/* Zero means the default, except for format and path. */
struct tg_export_config {
    const char *format;
    /* The file to write; for simpler a folder, and for npy too, unless it ends in .npy. "-" is
     * standard output, if the format is one stream (neither a folder nor sqlite). */
    const char *path;
    const struct tg_query *query; /* NULL: every record */
    uint64_t limit;               /* export at most this many records; 0: all */
    bool overwrite;               /* replace existing files; else they are BAD_ARGUMENT */
    /* Write values also if the selected records claim far more than the payload file has on the disk,
     * because they share bytes or are holes; else that is BAD_ARGUMENT. No recording that Taskglass
     * wrote does, unless it is a sparse copy with more than 1 GiB of zeros. */
    bool oversize;
    tg_export_progress_fn progress;
    void *progress_context;
};

/* What an export wrote and left out. */
struct tg_export_result {
    uint64_t written;   /* records; trace: tasks */
    uint64_t missing;   /* records that were left out, because nothing of them is stored; simpler:
                           because their tasks had not finished */
    uint64_t truncated; /* written records with only the first elements, in one dimension */
    uint32_t as_bits;   /* bit d: the format lacks type d (enum tg_dtype), its bits were written */
};

/*
 * Writes the export; `result` may be NULL. If it fails, it removes the unfinished file.
 * BAD_ARGUMENT: no such format, the file exists, or it would be oversize; NOT_FOUND: nothing to export; UNSUPPORTED: this
 * library was built without the format; IO_ERROR; CANCELLED.
 */
TG_API tg_status tg_recording_export(const struct tg_recording *recording,
                                     const struct tg_export_config *config,
                                     struct tg_export_result *result, struct tg_error *error);

/* ── names and types in those files ────────────────────────────────────────────────────────── */

/* The type that npy and npz files have for a dtype: "float32" for float32. Types that NumPy lacks
 * are stored bit for bit as unsigned integers: "uint16" for bfloat16, "uint8" for the smaller ones.
 * `dtype` must be valid. */
TG_API const char *tg_export_type(unsigned dtype);

/*
 * The names of records in an .npz, a .safetensors and a folder of .npy: "task_1_12_before_arg0"
 * (ring 1, index 12), "orchestration_arg0". A second record of the same name gets its index at the
 * end: "task_1_12_before_arg0_record9". So a name depends on the records that were named before: to
 * find a record by its name, name all of them in order. A handle belongs to one thread at a time.
 */
struct tg_export_names; /* remembers the names it has given */
/* Room for a name. */
struct tg_export_name {
    char text[100];
};
/* Returns NULL if memory ran out. The caller destroys it. */
TG_API struct tg_export_names *tg_export_names_create(void);
TG_API void tg_export_names_destroy(struct tg_export_names *names);
/* Names record `index`. Returns false if memory ran out. */
TG_API bool tg_export_names_make(struct tg_export_names *names, uint64_t index,
                                 const struct tg_entry *entry, struct tg_export_name *name);

#ifdef __cplusplus
}
#endif
#endif
