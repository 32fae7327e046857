/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording as tables. Task ids are SQLite's integers, bit for bit, so that tables can be joined;
 * a second column has them as hexadecimal text. Inputs of the orchestration belong to no task and
 * have NULL.
 *
 *   meta  kernels  tasks ─┬─ task_kernels
 *                         ├─ edges                 if there is a deps.json
 *                         └─ records ── statistics
 *
 * Filters select records and their statistics; tasks, kernels and edges are always those of the
 * whole run.
 */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/device.h>
#include <taskglass/analysis.h>
#include <taskglass/dtype.h>
#include <unistd.h>

#include "analysis/stats.h"
#include "base/error.h"
#include <taskglass/array.h>
#include "analysis/deps_read.h"
#include "export/export_job.h"
#include "export/export_sqlite_rows.h"
#include "export/export_tasks.h"
#include "base/files.h"
#include "base/names.h"
#include "base/utf8.h"
#include "recording/reader.h"
#include "recording/record.h"

bool tg_export_has_sqlite(void)
{
    return true;
}

/* user_version changes with the tables; application_id "TgRc" tells the file from other
 * databases. */
static const char schema[] =
    "PRAGMA application_id = 0x54675263;"
    "PRAGMA user_version = 1;"
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE kernels (number INTEGER PRIMARY KEY, name TEXT NOT NULL);"
    "CREATE TABLE tasks (task INTEGER PRIMARY KEY, task_id TEXT NOT NULL, ring INTEGER NOT NULL,"
    " number INTEGER NOT NULL, kernel TEXT NOT NULL, scope TEXT, core INTEGER, begin_ns INTEGER,"
    " end_ns INTEGER, records INTEGER NOT NULL, partial INTEGER NOT NULL);"
    "CREATE TABLE task_kernels (task INTEGER NOT NULL REFERENCES tasks, position INTEGER NOT NULL,"
    " kernel INTEGER NOT NULL REFERENCES kernels, PRIMARY KEY (task, position)) WITHOUT ROWID;"
    "CREATE TABLE edges (task INTEGER NOT NULL, waits_for INTEGER NOT NULL, kind TEXT NOT NULL,"
    " PRIMARY KEY (task, waits_for, kind)) WITHOUT ROWID;"
    "CREATE TABLE records (record INTEGER PRIMARY KEY, task INTEGER REFERENCES tasks,"
    " stage TEXT NOT NULL, role TEXT NOT NULL, kind TEXT NOT NULL, arg INTEGER NOT NULL,"
    " dtype TEXT, shape TEXT, strides TEXT, start INTEGER, contiguous INTEGER NOT NULL,"
    " bytes INTEGER NOT NULL, bin_offset INTEGER NOT NULL, bin_size INTEGER NOT NULL,"
    " truncated INTEGER NOT NULL, overwritten INTEGER NOT NULL, partial INTEGER NOT NULL,"
    " marked INTEGER NOT NULL, hash TEXT, data_ptr TEXT NOT NULL, value, raw TEXT, core INTEGER,"
    " time_ns INTEGER);"
    "CREATE TABLE statistics (record INTEGER PRIMARY KEY REFERENCES records,"
    " elements INTEGER NOT NULL, min, max, mean REAL, nans INTEGER NOT NULL,"
    " infs INTEGER NOT NULL, zeros INTEGER NOT NULL);";

/* Created last, because filling a table that has an index takes longer. */
static const char indices[] =
    "CREATE INDEX records_by_task ON records (task);"
    "CREATE INDEX records_by_hash ON records (hash);"
    "CREATE INDEX edges_by_waits_for ON edges (waits_for);"
    "CREATE VIEW tensors AS SELECT r.*, t.kernel AS kernel, s.elements, s.min, s.max, s.mean,"
    " s.nans, s.infs, s.zeros FROM records r LEFT JOIN tasks t ON t.task = r.task"
    " LEFT JOIN statistics s ON s.record = r.record WHERE r.kind = 'tensor';";

enum { RECENT_KERNELS = 64 }; /* a power of two */

struct export
{
    struct tg_export_job *job;
    struct tg_db db;
    struct tg_export_tasks tasks;
    uint64_t recent[RECENT_KERNELS]; /* number + 1 of kernels that the table has, by number */
    struct tg_row kernel, task, task_kernel, edge, record, statistic;
};

static bool is_good(const struct export *export)
{
    return export->db.status == TG_OK;
}

/* --- meta ----------------------------------------------------------------------------------- */

static void put_meta_text(struct tg_row *row, const char *key, const char *value)
{
    tg_row_text(row, key);
    tg_row_text(row, value);
    tg_row_put(row);
}

static void put_meta_uint(struct tg_row *row, const char *key, uint64_t value)
{
    tg_row_text(row, key);
    tg_row_uint(row, value);
    tg_row_put(row);
}

/* Copies the text to `file`, with characters that are not inert as JSON's escapes; line ends and tabs
 * stay, because JSON has them between its words. False if the text is not UTF-8, or has a zero byte or
 * another control character, which JSON does not allow. */
static bool put_inert_json(FILE *file, const unsigned char *text, size_t size)
{
    for (size_t at = 0, length; at < size; at += length) {
        bool is_space = text[at] == '\n' || text[at] == '\r' || text[at] == '\t';
        length = tg_utf8_length(text + at, size - at);
        if (length == 0 || (text[at] < ' ' && !is_space))
            return false;
        uint32_t code = tg_utf8_code(text + at, length);
        if (is_space || tg_code_is_inert(code))
            fwrite(text + at, 1, length, file);
        else if (code < 0x10000)
            fprintf(file, "\\u%04x", (unsigned)code);
        else
            fprintf(file, "\\u%04x\\u%04x", (unsigned)(0xd800 + ((code - 0x10000) >> 10)),
                    (unsigned)(0xdc00 + (code & 0x3ff)));
    }
    return true;
}

/* Stores the whole run.json, for SQLite's JSON functions; a run that was killed has none. */
static void put_run_json(struct tg_row *row, const struct tg_recording *recording)
{
    const struct tg_map *map = &recording->run_json;
    char *text = NULL;
    size_t size = 0;
    FILE *file = map->size > 0 ? open_memstream(&text, &size) : NULL;
    bool good = file && put_inert_json(file, map->bytes, map->size);
    if (file)
        good = fclose(file) == 0 && good;
    if (good && text) {
        tg_row_text(row, "run_json");
        tg_row_text_of(row, text, size);
        tg_row_put(row);
    }
    free(text);
}

static void put_meta(struct export *export)
{
    const struct tg_recording_info *info = &export->job->info;
    char name[TG_NAME_MAX + 1];
    struct tg_row row;
    tg_row_open(&export->db, "INSERT INTO meta", 2, "", &row);
    tg_name_clean(info->dir, strlen(info->dir), name, sizeof name);
    put_meta_text(&row, "taskglass_version", tg_version());
    put_meta_text(&row, "dir", name);
    put_meta_text(&row, "run", info->run_dir);
    put_meta_text(&row, "level", info->level ? tg_level_name(info->level) : NULL);
    put_meta_uint(&row, "complete", info->complete);
    put_meta_uint(&row, "damaged", info->damaged);
    put_meta_uint(&row, "foreign", info->foreign);
    put_meta_uint(&row, "records", info->records);
    put_meta_uint(&row, "payload_bytes", tg_recording_stored(export->job->recording));
    for (unsigned cause = 0; cause < TG_LOSS_CAUSES; cause++) {
        char key[40];
        (void)snprintf(key, sizeof key, "lost_%s", tg_loss_name(cause));
        put_meta_uint(&row, key, info->summary.lost[cause]);
    }
    put_run_json(&row, export->job->recording);
    tg_row_close(&row);
}

/* --- tasks, kernels, edges ------------------------------------------------------------------ */

static void put_kernel(struct export *export, uint64_t task, int position, uint32_t number,
                       const char *name)
{
    uint64_t *recent = &export->recent[number % RECENT_KERNELS];
    if (*recent != (uint64_t)number + 1) {
        *recent = (uint64_t)number + 1;
        tg_row_int(&export->kernel, number);
        tg_row_text(&export->kernel, name);
        tg_row_put(&export->kernel);
    }
    tg_row_int(&export->task_kernel, (int64_t)task);
    tg_row_int(&export->task_kernel, position);
    tg_row_int(&export->task_kernel, number);
    tg_row_put(&export->task_kernel);
}

static void begin_task(struct tg_row *row, uint64_t id, const char *kernel, const char *scope)
{
    tg_row_int(row, (int64_t)id);
    tg_row_hex(row, id);
    tg_row_int(row, (int64_t)(id >> 32));
    tg_row_int(row, (int64_t)(id & UINT32_MAX));
    tg_row_text(row, kernel);
    tg_row_text(row, scope);
}

static void add_name(char *names, size_t room, const char *name)
{
    size_t at = strlen(names);
    (void)snprintf(names + at, room - at, "%s%s", at > 0 ? "+" : "", name);
}

static void put_times(struct export *export, const struct tg_export_task *task)
{
    bool timed = export->job->info.from_journal && (task->has_begin || task->has_end);
    if (timed) {
        tg_row_int(&export->task, task->core);
        tg_row_uint(&export->task, task->begin);
        tg_row_uint(&export->task, task->end);
    } else {
        for (int i = 0; i < 3; i++)
            tg_row_null(&export->task);
    }
}

static void put_kernels(struct export *export, struct tg_export_task *task)
{
    struct tg_entry entry;
    int position = 0;
    if (!tg_recording_get(export->job->recording, task->first, &entry))
        return;
    for (int part = 0; part < TG_PARTS; part++) {
        if (entry.record.kernel[part] != TG_NO_KERNEL)
            put_kernel(export, task->id, position++, entry.record.kernel[part],
                       entry.kernel[part] ? entry.kernel[part] : "");
    }
}

static void put_recorded_task(struct export *export, struct tg_export_task *task, const char *scope)
{
    char names[TG_PARTS * (TG_NAME_MAX + 2)] = "";
    struct tg_entry entry;
    if (!tg_recording_get(export->job->recording, task->first, &entry))
        return;
    for (int part = 0; part < TG_PARTS; part++) {
        if (entry.record.kernel[part] != TG_NO_KERNEL)
            add_name(names, sizeof names, entry.kernel[part] ? entry.kernel[part] : "");
    }
    begin_task(&export->task, task->id, names, scope);
    put_times(export, task);
    tg_row_uint(&export->task, task->records);
    tg_row_int(&export->task, task->is_partial);
    tg_row_put(&export->task);
    task->is_written = true;
}

/* A task without a record: a filter left it out, records were lost, or the run ended before it. */
static void put_unrecorded_task(struct export *export, const struct tg_deps_read_task *task,
                                const char *scope)
{
    char names[TG_PARTS * (TG_DEPS_TEXT + 1)] = "";
    for (uint32_t i = 0; i < task->n_kernels; i++) {
        add_name(names, sizeof names, task->kernel[i]);
        put_kernel(export, task->id, (int)i, task->number[i], task->kernel[i]);
    }
    begin_task(&export->task, task->id, names, scope);
    for (int i = 0; i < 3; i++)
        tg_row_null(&export->task);
    tg_row_int(&export->task, 0);
    tg_row_int(&export->task, 0);
    tg_row_put(&export->task);
}

static void put_deps_task(struct export *export, const struct tg_deps_read_task *task)
{
    struct tg_export_task *recorded = tg_export_tasks_find(&export->tasks, task->id);
    const char *scope = *task->scope ? task->scope : NULL;
    if (recorded)
        put_recorded_task(export, recorded, scope);
    else
        put_unrecorded_task(export, task, scope);
    for (size_t i = 0; is_good(export) && i < task->n_edges; i++) {
        tg_row_int(&export->edge, (int64_t)task->id);
        tg_row_int(&export->edge, (int64_t)task->edge[i].before);
        tg_row_text(&export->edge, task->edge[i].kind);
        tg_row_put(&export->edge);
    }
}

/* The tasks of deps.json, with their scopes, and its edges. */
static tg_status put_deps(struct export *export)
{
    struct tg_export_job *job = export->job;
    struct tg_deps_reader deps;
    bool more;
    tg_status status = tg_deps_reader_open(&job->info, &deps, &more, job->error);
    if (!more)
        return status;
    for (uint64_t i = 0; (status = tg_deps_reader_next(&deps, &more, job->error)) == TG_OK &&
                         more && is_good(export);
         i++) {
        put_deps_task(export, &deps.task);
        if (i % 64 == 0 && !tg_export_tell(job))
            break;
    }
    tg_deps_reader_close(&deps);
    return tg_export_end(job, status);
}

static void put_rest_of_task(struct export *export, struct tg_export_task *task)
{
    if (!task->is_written)
        put_recorded_task(export, task, NULL);
}

static tg_status for_each_task(struct export *export,
                               void (*put)(struct export *export, struct tg_export_task *task))
{
    for (size_t i = 0; is_good(export) && i < export->tasks.count; i++) {
        put(export, &export->tasks.at[i]);
        if (i % 256 == 0 && !tg_export_tell(export->job))
            break;
    }
    return tg_export_end(export->job, TG_OK);
}

/* Kernels come first, since the recording's name of one counts where deps.json has another. A task gets its
 * row when deps.json tells its scope. */
static tg_status put_tasks(struct export *export)
{
    tg_status status = tg_export_tasks_gather(export->job, &export->tasks);
    if (status == TG_OK)
        status = for_each_task(export, put_kernels);
    if (status == TG_OK)
        status = put_deps(export);
    if (status == TG_OK)
        status = for_each_task(export, put_rest_of_task);
    return status;
}

/* --- records -------------------------------------------------------------------------------- */

static void put_who(struct tg_row *row, uint64_t index, const struct tg_record *record)
{
    tg_row_uint(row, index);
    if (record->stage == TG_STAGE_ORCHESTRATION || record->task_id == TG_TASK_NONE)
        tg_row_null(row);
    else
        tg_row_int(row, (int64_t)record->task_id);
    tg_row_text(row, tg_stage_name(record->stage));
    tg_row_text(row, tg_record_role_name(record->role));
    tg_row_text(row, tg_kind_name(record->kind));
    tg_row_int(row, record->arg_index);
    tg_row_text(row, tg_dtype_valid(record->dtype) ? tg_dtype_name(record->dtype) : NULL);
}

static void put_what(struct tg_row *row, const struct tg_record *record)
{
    bool is_scalar = record->kind == TG_KIND_SCALAR;
    tg_row_numbers(row, record->shape, record->ndim);
    tg_row_numbers(row, record->strides, record->ndim);
    tg_row_int(row, record->start);
    tg_row_int(row, is_scalar || (record->flags & TG_RECORD_CONTIGUOUS));
    tg_row_uint(row, record->bytes);
    tg_row_uint(row, record->position);
    tg_row_uint(row, record->stored);
    tg_row_int(row, (record->flags & TG_RECORD_TRUNCATED) != 0);
    tg_row_int(row, (record->flags & TG_RECORD_OVERWRITTEN) != 0);
    tg_row_int(row, (record->flags & TG_RECORD_PARTIAL) != 0);
    tg_row_int(row, (record->flags & TG_RECORD_MARKED) != 0);
    if (record->flags & TG_RECORD_HASHED)
        tg_row_hex(row, record->hash);
    else
        tg_row_null(row);
    tg_row_hex(row, record->data_ptr);
}

static void put_value_and_time(struct tg_row *row, const struct tg_record *record, bool timed)
{
    if (record->kind == TG_KIND_SCALAR && !(record->flags & TG_RECORD_NO_VALUE)) {
        tg_row_value(row, record->dtype, record->value);
        tg_row_hex(row, record->value);
    } else {
        tg_row_null(row);
        tg_row_null(row);
    }
    if (timed && record->stage != TG_STAGE_ORCHESTRATION) {
        tg_row_int(row, record->core);
        tg_row_uint(row, record->time);
    } else {
        tg_row_null(row);
        tg_row_null(row);
    }
}

static void put_statistics(struct export *export, const struct tg_array *array)
{
    struct tg_row *row = &export->statistic;
    const struct tg_array_asked asked = {.goes_on = tg_export_goes_on, .context = export->job};
    struct tg_tensor_stats statistics;
    if (!tg_array_measure_asking(array, &asked, &statistics))
        return; /* the export is cancelled */
    tg_row_uint(row, export->job->index);
    tg_row_int(row, array->elements);
    tg_row_value(row, statistics.has_range ? array->dtype : TG_DTYPE_NONE, statistics.least);
    tg_row_value(row, statistics.has_range ? array->dtype : TG_DTYPE_NONE, statistics.most);
    if (statistics.finite > 0)
        tg_row_real(row, statistics.mean);
    else
        tg_row_null(row);
    tg_row_uint(row, statistics.nan);
    tg_row_uint(row, statistics.infinite);
    tg_row_uint(row, statistics.zero);
    tg_row_put(row);
}

static tg_status put_records(struct export *export)
{
    struct tg_export_job *job = export->job;
    struct tg_entry entry;
    struct tg_array array;
    tg_export_walk(job);
    while (is_good(export) && tg_export_next(job, &entry)) {
        put_who(&export->record, job->index, &entry.record);
        put_what(&export->record, &entry.record);
        put_value_and_time(&export->record, &entry.record, job->info.from_journal);
        tg_row_put(&export->record);
        if (entry.record.kind == TG_KIND_TENSOR && tg_array_of(job->recording, &entry, &array)) {
            put_statistics(export, &array);
            job->result.truncated += array.cut;
        }
        job->result.written++;
    }
    return tg_export_end(job, TG_OK);
}

/* --- the whole ------------------------------------------------------------------------------ */

/* The files are not trusted: numbers, names and edges may come twice. The first one counts, but the last
 * scope of a task. */
static void open_rows(struct export *export)
{
    struct tg_db *db = &export->db;
    tg_row_open(db, "INSERT OR IGNORE INTO kernels", 2, "", &export->kernel);
    tg_row_open(db, "INSERT INTO tasks", 11,
                "ON CONFLICT (task) DO UPDATE SET scope = excluded.scope", &export->task);
    tg_row_open(db, "INSERT OR IGNORE INTO task_kernels", 3, "", &export->task_kernel);
    tg_row_open(db, "INSERT OR IGNORE INTO edges", 3, "", &export->edge);
    tg_row_open(db, "INSERT INTO records", 24, "", &export->record);
    tg_row_open(db, "INSERT INTO statistics", 8, "", &export->statistic);
}

static void close_rows(struct export *export)
{
    tg_row_close(&export->kernel);
    tg_row_close(&export->task);
    tg_row_close(&export->task_kernel);
    tg_row_close(&export->edge);
    tg_row_close(&export->record);
    tg_row_close(&export->statistic);
}

static tg_status fill(struct export *export)
{
    tg_db_run(&export->db, "BEGIN");
    tg_db_run(&export->db, schema);
    open_rows(export);
    put_meta(export);
    tg_status status = put_tasks(export);
    if (status == TG_OK)
        status = put_records(export);
    close_rows(export);
    if (status == TG_OK) {
        tg_db_run(&export->db, indices);
        tg_db_run(&export->db, "COMMIT");
    }
    return tg_export_end(export->job, status);
}

/* Sorting an index takes a while too, so SQLite asks every so many steps of its machine. */
enum { LOOK_STEPS = 100000 };
static int is_cancelled(void *job)
{
    return !tg_export_tell(job);
}

/* SQLite would take the journal that another database of this name left behind for its own. So such a
 * file is removed, or else refused. */
static tg_status clear_side_files(struct tg_export_job *job, const char *path, bool remove)
{
    static const char *const endings[] = {"-journal", "-wal", "-shm"};
    tg_status status = TG_OK;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0] && status == TG_OK; i++) {
        struct stat info;
        char *name;
        if (asprintf(&name, "%s%s", path, endings[i]) < 0)
            return tg_export_no_memory(job->error);
        if (remove)
            (void)unlink(name);
        else if (lstat(name, &info) == 0)
            status = tg_error_set(job->error, TG_BAD_ARGUMENT,
                                  "'%s' already exists; --force overwrites it", name);
        free(name);
    }
    return status;
}

static tg_status write_database(struct tg_export_job *job, const char *path)
{
    struct export export = {.job = job};
    tg_export_walks(job, 2);
    tg_db_open(&export.db, path, job->error);
    if (is_good(&export))
        sqlite3_progress_handler(export.db.handle, LOOK_STEPS, is_cancelled, job);
    tg_status status = fill(&export);
    tg_export_tasks_free(&export.tasks);
    tg_status of_database = tg_db_close(&export.db);
    if (status == TG_OK)
        status = of_database;
    if (status != TG_OK)
        (void)clear_side_files(job, path, true);
    return status;
}

tg_status tg_export_as_sqlite(struct tg_export_job *job)
{
    struct tg_export_file file;
    const char *path = job->config->path;
    if (strcmp(path, "-") == 0)
        return tg_error_set(job->error, TG_BAD_ARGUMENT,
                            "a database cannot go to the standard output; name a file");
    tg_status status = clear_side_files(job, path, job->config->overwrite);
    if (status == TG_OK)
        status = tg_export_file_open_named(job, path, &file);
    if (status != TG_OK)
        return status;
    if (tg_new_file_name(file.made))
        status = write_database(job, tg_new_file_name(file.made));
    else
        status = tg_error_set(job->error, TG_IO_ERROR, "it is not a regular file");
    return tg_export_file_close(job, &file, status);
}
