/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taskglass view --export. What cannot be exported is left out and counted, and types that NumPy
 * does not have are told of: on stderr, since txt may go to stdout.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/dtype.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/view.h"
#include "dump/export.h"

struct export
{
    const struct view *view;
    char path[4096]; /* of the file, or of the directory for many */
    FILE *file;      /* the one that all go to; NULL: each has its own */
    struct tg_npz *npz;
    struct tg_export_names *names;
    uint64_t written, missing, cut;
    uint32_t raw; /* bit d: a record of dtype d was stored as integers */
    struct tg_error error;
};

typedef tg_status (*write_fn)(struct export *export, uint64_t index, const struct tg_entry *entry,
                              const struct tg_array *array);

static tg_status file_failed(struct export *export, const char *path, const char *cause)
{
    char why[200];
    snprintf(why, sizeof why, "%.199s", cause); /* it may be the error's own text */
    export->error.status = TG_IO_ERROR;
    snprintf(export->error.text, sizeof export->error.text, "cannot write '%.250s': %s", path, why);
    return TG_IO_ERROR;
}

static tg_status make_name(struct export *export, uint64_t index, const struct tg_entry *entry,
                           struct tg_export_name *name)
{
    if (tg_export_names_make(export->names, index, entry, name))
        return TG_OK;
    export->error = (struct tg_error){TG_NO_MEMORY, "out of memory"};
    return TG_NO_MEMORY;
}

/* A file that is not whole is worse than none. */
static tg_status close_file(struct export *export, FILE *file, const char *path, tg_status status)
{
    struct stat info;
    bool regular = fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode);
    if (fclose(file) != 0 && status == TG_OK)
        status = file_failed(export, path, strerror(errno));
    else if (status == TG_IO_ERROR)
        file_failed(export, path, export->error.text);
    if (status != TG_OK && regular)
        unlink(path);
    return status;
}

static tg_status write_txt(struct export *export, uint64_t index, const struct tg_entry *entry,
                           const struct tg_array *array)
{
    if (export->written > 0)
        fputc('\n', export->file);
    return tg_export_txt(export->file, index, entry, array, &export->error);
}

static tg_status write_npz(struct export *export, uint64_t index, const struct tg_entry *entry,
                           const struct tg_array *array)
{
    struct tg_export_name name;
    tg_status status = make_name(export, index, entry, &name);
    if (status == TG_OK)
        status = tg_export_npz_add(export->npz, name.text, array, &export->error);
    return status;
}

static tg_status write_npy(struct export *export, uint64_t index, const struct tg_entry *entry,
                           const struct tg_array *array)
{
    struct tg_export_name name;
    char path[sizeof export->path + sizeof name.text + 8];
    tg_status status = make_name(export, index, entry, &name);
    if (status != TG_OK)
        return status;
    if (export->file) /* the only one */
        return tg_export_npy(export->file, array, &export->error);
    snprintf(path, sizeof path, "%s/%s.npy", export->path, name.text);
    FILE *file = fopen(path, "wbe");
    if (!file)
        return file_failed(export, path, strerror(errno));
    status = tg_export_npy(file, array, &export->error);
    return close_file(export, file, path, status);
}

static bool is_raw(unsigned dtype)
{
    return strcmp(tg_dtype_name((int)dtype), tg_export_type(dtype)) != 0;
}

static tg_status each(struct export *export, write_fn write)
{
    const struct view *view = export->view;
    struct tg_entry entry;
    struct tg_array array;
    tg_status status = TG_OK;
    uint64_t taken = 0;
    for (uint64_t i = 0; status == TG_OK && taken < view->limit; i++, taken++) {
        if (!tg_selection_next(&view->selection, view->recording, &i, &entry))
            break;
        if (!tg_array_of(view->recording, &entry, &array)) {
            export->missing++;
            continue;
        }
        status = write(export, i, &entry, &array);
        export->cut += array.cut;
        export->raw |= is_raw(array.dtype) ? 1u << array.dtype : 0;
        export->written += status == TG_OK;
    }
    return status;
}

/* How many there are, as far as it matters: 0, 1, 2. */
static int count_few(const struct view *view)
{
    struct tg_entry entry;
    struct tg_array array;
    int found = 0;
    uint64_t taken = 0;
    for (uint64_t i = 0; found < 2 && taken < view->limit; i++, taken++) {
        if (!tg_selection_next(&view->selection, view->recording, &i, &entry))
            break;
        found += tg_array_of(view->recording, &entry, &array);
    }
    return found;
}

static tg_status open_file(struct export *export)
{
    export->file = fopen(export->path, "wbe");
    return export->file ? TG_OK : file_failed(export, export->path, strerror(errno));
}

static tg_status export_txt(struct export *export)
{
    if (!export->view->out) {
        export->file = stdout;
        tg_status status = each(export, write_txt);
        return status == TG_IO_ERROR ? TG_OK : status; /* main looks at its state */
    }
    tg_status status = open_file(export);
    if (status != TG_OK)
        return status;
    status = each(export, write_txt);
    return close_file(export, export->file, export->path, status);
}

static tg_status export_npz(struct export *export)
{
    tg_status status = open_file(export);
    if (status != TG_OK)
        return status;
    status = tg_export_npz_begin(export->file, &export->npz, &export->error);
    if (status == TG_OK)
        status = each(export, write_npz);
    if (status == TG_OK)
        status = tg_export_npz_end(export->npz, &export->error);
    tg_export_npz_free(export->npz);
    return close_file(export, export->file, export->path, status);
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* A name that ends in .npy is a file, any other a directory. */
static tg_status export_npy(struct export *export)
{
    if (!ends_in(export->path, ".npy")) {
        if (mkdir(export->path, 0777) != 0 && errno != EEXIST)
            return file_failed(export, export->path, strerror(errno));
        return each(export, write_npy);
    }
    tg_status status = open_file(export);
    if (status != TG_OK)
        return status;
    status = each(export, write_npy);
    return close_file(export, export->file, export->path, status);
}

/* Where it goes to, unless --out says: here, by the name of the run. */
static void choose_path(struct export *export)
{
    const struct view *view = export->view;
    char name[256];
    if (view->out) {
        snprintf(export->path, sizeof export->path, "%s", view->out);
        return;
    }
    cli_recording_name(&view->info, name, sizeof name);
    const char *run = *name && strcmp(name, "/") != 0 ? name : "recording";
    snprintf(export->path, sizeof export->path,
             strcmp(view->export, "npz") == 0 ? "%s.npz" : "%s_npy", run);
}

static void put_notes(const struct export *export)
{
    struct cli_text text;
    for (unsigned dtype = 1; dtype < TG_DTYPE_END; dtype++)
        if (export->raw >> dtype & 1 && strcmp(export->view->export, "txt") != 0)
            fprintf(stderr, "taskglass: NumPy has no %s; stored as %s, bit for bit\n",
                    tg_dtype_name((int)dtype), tg_export_type(dtype));
    if (export->cut > 0)
        fprintf(stderr, "taskglass: %s truncated: the first elements, in one dimension\n",
                export->cut == 1 ? "1 record is" : "some records are");
    if (export->missing > 0)
        fprintf(stderr, "taskglass: %s without values left out\n",
                cli_format_count(&text, export->missing, "record"));
    if (export->file != stdout)
        printf("%s in %s\n", cli_format_count(&text, export->written, "record"), export->path);
}

static tg_status run_export(struct export *export)
{
    const char *format = export->view->export;
    if (strcmp(format, "txt") == 0)
        return export_txt(export);
    return strcmp(format, "npz") == 0 ? export_npz(export) : export_npy(export);
}

int view_export(const struct view *view)
{
    struct export export = {.view = view};
    int few = count_few(view);
    if (few == 0)
        return cli_error("nothing to export: no record is selected that has values");
    if (view->out && strlen(view->out) >= sizeof export.path)
        return cli_error("the path of --out is too long");
    choose_path(&export);
    if (few > 1 && strcmp(view->export, "npy") == 0 && ends_in(export.path, ".npy"))
        return cli_error("'%s' would hold one record; name a directory for several", export.path);
    export.names = tg_export_names_create();
    if (!export.names)
        return cli_error("out of memory");
    tg_status status = run_export(&export);
    tg_export_names_destroy(export.names);
    if (status != TG_OK)
        return cli_fail(&export.error);
    put_notes(&export);
    return CLI_OK;
}
