/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads deps.json. The file may be a stranger's: edges may point to tasks that come later, to tasks that only the
 * records have, or to nothing. So an id that nobody knows yet gets a number when it is first met, and those that never
 * became tasks are taken out at the end, with their edges.
 */
#define _GNU_SOURCE 1
#include "workbench/edges.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/deps_read.h"
#include "base/error.h"
#include "base/files.h"
#include "base/grow.h"
#include "base/spread.h"

enum { FIRST_SLOTS = 1024 };

/* A task of deps.json. */
struct row {
    uint32_t task, scope, line, kernel;
};

/* A task that tasks.h does not have. */
struct extra {
    uint64_t id;
    uint32_t number; /* among those that deps.json lists, once that is known */
    bool is_listed;
};

struct load {
    const struct tg_bench_tasks *tasks;
    struct tg_bench_edges *edges;
    struct tg_deps_reader reader;
    uint32_t lists; /* of the reader, which counts them: the last list counts */
    struct row *row;
    uint64_t *submitted; /* by row; only if a task has a time */
    bool has_times;
    size_t n_rows, row_room, time_room;
    struct extra *extra;
    size_t n_extra, extra_room;
    uint32_t *slot; /* number + 1 by id; open addressing, at most half full */
    size_t n_slots;
    uint32_t *before, *after; /* known tasks, and behind them numbers of `extra` */
    uint8_t *kind;
    size_t n_edges, before_room, after_room, kind_room;
};

/* --- tasks by id ------------------------------------------------------------------------------ */

static size_t place_of(const struct load *load, uint64_t id)
{
    size_t at = (size_t)tg_spread(id) & (load->n_slots - 1);
    while (load->slot[at] && load->extra[load->slot[at] - 1].id != id)
        at = (at + 1) & (load->n_slots - 1);
    return at;
}

static bool grow_slots(struct load *load)
{
    if (2 * (load->n_extra + 1) <= load->n_slots)
        return true;
    size_t n_slots = load->n_slots > 0 ? 2 * load->n_slots : FIRST_SLOTS;
    uint32_t *slot = load->n_extra < UINT32_MAX / 2 - load->tasks->count / 2
                         ? calloc(n_slots, sizeof *slot)
                         : NULL;
    if (!slot)
        return false;
    free(load->slot);
    load->slot = slot;
    load->n_slots = n_slots;
    for (size_t i = 0; i < load->n_extra; i++)
        slot[place_of(load, load->extra[i].id)] = (uint32_t)i + 1;
    return true;
}

static bool find_extra(struct load *load, uint64_t id, uint32_t *number)
{
    if (!grow_slots(load))
        return false;
    size_t at = place_of(load, id);
    if (!load->slot[at]) {
        if (!tg_grow(&load->extra, &load->extra_room, load->n_extra + 1, sizeof *load->extra))
            return false;
        load->extra[load->n_extra++] = (struct extra){.id = id};
        load->slot[at] = (uint32_t)load->n_extra;
    }
    *number = load->slot[at] - 1;
    return true;
}

/* The number of a task, also of one that nobody knows yet; false if memory ran out. */
static bool find_task(struct load *load, uint64_t id, uint32_t *task)
{
    const uint32_t known = load->tasks->count;
    *task = tg_bench_task_find(load->tasks, id);
    if (*task != TG_BENCH_NONE)
        return true;
    uint32_t number;
    if (!find_extra(load, id, &number))
        return false;
    *task = known + number;
    return true;
}

/* --- one task of the file --------------------------------------------------------------------- */

/* "mat+add"; "#3" for a kernel without a name. */
static void name_kernel(const struct tg_deps_read_task *task, char *text, size_t room)
{
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < task->n_kernels && at + 1 < room; i++) {
        const char *plus = i > 0 ? "+" : "";
        int n = *task->kernel[i] ? snprintf(text + at, room - at, "%s%s", plus, task->kernel[i])
                                 : snprintf(text + at, room - at, "%s#%u", plus, task->number[i]);
        at += n > 0 ? (size_t)n : 0;
    }
}

static uint8_t kind_of(const char *word)
{
#define KIND(constant, number, name, ...) (name),
    static const char *const words[] = {TG_EDGE_MAP(KIND)};
#undef KIND
    for (unsigned i = 0; i < TG_EDGE_KINDS; i++)
        if (strcmp(words[i], word) == 0)
            return (uint8_t)i;
    return UINT8_MAX;
}

static bool add_edges(struct load *load, uint32_t after)
{
    const struct tg_deps_read_task *task = &load->reader.task;
    const size_t n = load->n_edges + task->n_edges;
    if (!tg_grow(&load->before, &load->before_room, n, sizeof *load->before) ||
        !tg_grow(&load->after, &load->after_room, n, sizeof *load->after) ||
        !tg_grow(&load->kind, &load->kind_room, n, sizeof *load->kind))
        return false;
    for (size_t i = 0; i < task->n_edges; i++) {
        if (!find_task(load, task->edge[i].before, &load->before[load->n_edges]))
            return false;
        load->after[load->n_edges] = after;
        load->kind[load->n_edges++] = kind_of(task->edge[i].kind);
    }
    return true;
}

static bool add_time(struct load *load, uint64_t time)
{
    if (time == TG_NONE && !load->has_times)
        return true;
    if (!tg_grow(&load->submitted, &load->time_room, load->n_rows + 1, sizeof *load->submitted))
        return false;
    for (size_t i = 0; !load->has_times && i < load->n_rows; i++)
        load->submitted[i] = TG_NONE;
    load->has_times = true;
    load->submitted[load->n_rows] = time;
    return true;
}

static bool add_task(struct load *load)
{
    const struct tg_deps_read_task *task = &load->reader.task;
    struct tg_bench_edges *edges = load->edges;
    char kernel[TG_PARTS * (TG_DEPS_TEXT + 1)];
    struct row row;
    name_kernel(task, kernel, sizeof kernel);
    if (load->n_rows >= UINT32_MAX - 1 || !find_task(load, task->id, &row.task) ||
        !tg_texts_add(&edges->scopes, task->scope, &row.scope) ||
        !tg_texts_add(&edges->lines, task->line, &row.line) ||
        !tg_texts_add(&edges->kernels, kernel, &row.kernel) || !add_time(load, task->submitted) ||
        !tg_grow(&load->row, &load->row_room, load->n_rows + 1, sizeof *load->row))
        return false;
    if (row.task >= load->tasks->count)
        load->extra[row.task - load->tasks->count].is_listed = true;
    load->row[load->n_rows++] = row;
    return add_edges(load, row.task);
}

/* If the document has several lists of tasks, the last one counts. */
static void begin_list(struct load *load)
{
    load->lists = load->reader.lists;
    load->n_rows = load->n_edges = load->n_extra = 0;
    load->has_times = false;
    if (load->slot)
        memset(load->slot, 0, load->n_slots * sizeof *load->slot);
}

static tg_status read_file(struct load *load, struct tg_error *error)
{
    bool more = true;
    tg_status status = TG_OK;
    while (status == TG_OK && more) {
        status = tg_deps_reader_next(&load->reader, &more, error);
        if (status != TG_OK || !more)
            break;
        if (load->lists != load->reader.lists)
            begin_list(load);
        if (!add_task(load))
            status = tg_file_no_memory(error);
    }
    return status;
}

/* --- the columns ------------------------------------------------------------------------------ */

/* Numbers the tasks that deps.json lists and tasks.h lacks, and counts the edges that remain. */
static void number_extra(struct load *load)
{
    struct tg_bench_edges *edges = load->edges;
    const uint32_t known = load->tasks->count;
    for (size_t i = 0; i < load->n_extra; i++)
        load->extra[i].number = load->extra[i].is_listed ? edges->n_extra++ : TG_BENCH_NONE;
    for (size_t i = 0; i < load->n_edges; i++)
        edges->unknown +=
            load->before[i] >= known && !load->extra[load->before[i] - known].is_listed;
    edges->n_edges = load->n_edges - edges->unknown;
}

/* Times are of 32 bits unless one of them does not fit, as of a task that was submitted before the first one began. */
static void choose_width(struct load *load)
{
    const uint64_t start = load->tasks->start;
    for (size_t i = 0; load->has_times && i < load->n_rows; i++)
        if (load->submitted[i] != TG_NONE &&
            (load->submitted[i] < start || load->submitted[i] - start >= TG_BENCH_NO_TIME))
            load->edges->is_wide = true;
}

/* The columns, in the order in which the answer has them. */
enum { TASK, EXTRA_ID, SCOPE, LINE, KERNEL, SUBMITTED, BEFORE, AFTER, KIND, COLUMNS };

static tg_status add_columns(struct tg_bench_edges *edges, struct tg_error *error)
{
    const uint64_t n = edges->count;
    const struct {
        const char *name;
        enum tg_column_type type;
        uint64_t count;
    } column[COLUMNS] = {
        [TASK] = {"task", TG_COLUMN_U32, n},
        [EXTRA_ID] = {"extra_id", TG_COLUMN_U64, edges->n_extra},
        [SCOPE] = {"scope", TG_COLUMN_U32, n},
        [LINE] = {"line", TG_COLUMN_U32, n},
        [KERNEL] = {"kernel", TG_COLUMN_U32, n},
        [SUBMITTED] = {"submitted", edges->is_wide ? TG_COLUMN_F64 : TG_COLUMN_U32, n},
        [BEFORE] = {"before", TG_COLUMN_U32, edges->n_edges},
        [AFTER] = {"after", TG_COLUMN_U32, edges->n_edges},
        [KIND] = {"kind", TG_COLUMN_U8, edges->n_edges},
    };
    tg_status status = TG_OK;
    for (int i = 0; status == TG_OK && i < COLUMNS; i++)
        status =
            tg_columns_add(&edges->columns, column[i].name, column[i].type, column[i].count, error);
    return status;
}

static void point_into_columns(struct tg_bench_edges *edges)
{
    edges->task = tg_columns_at(&edges->columns, TASK);
    edges->extra_id = tg_columns_at(&edges->columns, EXTRA_ID);
    edges->scope = tg_columns_at(&edges->columns, SCOPE);
    edges->line = tg_columns_at(&edges->columns, LINE);
    edges->kernel = tg_columns_at(&edges->columns, KERNEL);
    edges->submitted = tg_columns_at(&edges->columns, SUBMITTED);
    edges->before = tg_columns_at(&edges->columns, BEFORE);
    edges->after = tg_columns_at(&edges->columns, AFTER);
    edges->kind = tg_columns_at(&edges->columns, KIND);
}

/* The number of a task in the answer; TG_BENCH_NONE: no task has this id. */
static uint32_t final_task(const struct load *load, uint32_t task)
{
    const uint32_t known = load->tasks->count;
    if (task < known)
        return task;
    uint32_t number = load->extra[task - known].number;
    return number == TG_BENCH_NONE ? TG_BENCH_NONE : known + number;
}

static void set_time(const struct load *load, size_t row)
{
    const uint64_t start = load->tasks->start;
    const uint64_t time = load->has_times ? load->submitted[row] : TG_NONE;
    if (load->edges->is_wide)
        ((double *)load->edges->submitted)[row] = time == TG_NONE ? NAN
                                                  : time >= start ? (double)(time - start)
                                                                  : -(double)(start - time);
    else
        ((uint32_t *)load->edges->submitted)[row] =
            time == TG_NONE ? TG_BENCH_NO_TIME : (uint32_t)(time - start);
}

static void fill_columns(const struct load *load)
{
    struct tg_bench_edges *edges = load->edges;
    size_t at = 0;
    for (size_t i = 0; i < load->n_rows; i++) {
        edges->task[i] = final_task(load, load->row[i].task);
        edges->scope[i] = load->row[i].scope;
        edges->line[i] = load->row[i].line;
        edges->kernel[i] = load->row[i].kernel;
        set_time(load, i);
    }
    for (size_t i = 0; i < load->n_extra; i++)
        if (load->extra[i].is_listed)
            edges->extra_id[load->extra[i].number] = load->extra[i].id;
    for (size_t i = 0; i < load->n_edges; i++) {
        uint32_t before = final_task(load, load->before[i]);
        if (before == TG_BENCH_NONE)
            continue;
        edges->before[at] = before;
        edges->after[at] = final_task(load, load->after[i]);
        edges->kind[at++] = load->kind[i];
    }
}

static tg_status number_rows(struct tg_bench_edges *edges, struct tg_error *error)
{
    const size_t n = (size_t)edges->known + edges->n_extra;
    edges->row_of = malloc((n + 1) * sizeof *edges->row_of);
    if (!edges->row_of)
        return tg_file_no_memory(error);
    memset(edges->row_of, 0xff, n * sizeof *edges->row_of);
    for (uint32_t i = 0; i < edges->count; i++)
        edges->row_of[edges->task[i]] = i;
    return TG_OK;
}

static tg_status make_columns(struct load *load, struct tg_error *error)
{
    struct tg_bench_edges *edges = load->edges;
    edges->count = (uint32_t)load->n_rows;
    edges->known = load->tasks->count;
    edges->lost = load->reader.lost;
    (void)snprintf(edges->runtime, sizeof edges->runtime, "%s", load->reader.runtime);
    number_extra(load);
    choose_width(load);
    tg_status status = add_columns(edges, error);
    if (status != TG_OK)
        return status;
    point_into_columns(edges);
    fill_columns(load);
    return number_rows(edges, error);
}

/* --- the whole -------------------------------------------------------------------------------- */

static tg_status open_file(const struct tg_bench_run *run, struct load *load,
                           struct tg_error *error)
{
    struct tg_recording_info info = {
        .dir = run->folder}; /* the dump itself may be a link to another run's */
    bool found;
    tg_status status = tg_deps_reader_open(&info, &load->reader, &found, error);
    if (status == TG_OK && !found)
        return tg_error_set(error, TG_UNSUPPORTED, "the run has no %s, which lists tasks and edges",
                            TG_DEPS_FILE);
    return status;
}

static void free_load(struct load *load)
{
    tg_deps_reader_close(&load->reader);
    free(load->row);
    free(load->submitted);
    free(load->extra);
    free(load->slot);
    free(load->before);
    free(load->after);
    free(load->kind);
}

static tg_status make_edges(struct tg_bench_run *run, const struct tg_bench_tasks *tasks,
                            struct tg_error *error)
{
    struct tg_bench_edges *edges = calloc(1, sizeof *edges);
    struct load load = {.tasks = tasks, .edges = edges};
    if (!edges)
        return tg_file_no_memory(error);
    tg_status status = open_file(run, &load, error);
    if (status == TG_OK)
        status = read_file(&load, error);
    if (status == TG_OK)
        status = make_columns(&load, error);
    free_load(&load);
    if (status == TG_OK) {
        tg_bench_weigh(run, edges->columns.room + 4 * ((size_t)edges->known + edges->n_extra));
        run->edges = edges;
    } else {
        tg_bench_edges_free(edges);
    }
    if (status == TG_BAD_ARGUMENT) /* the file is none: the run can be shown without it */
        status = TG_UNSUPPORTED;
    return status;
}

tg_status tg_bench_edges_of(struct tg_bench_run *run, const struct tg_bench_edges **edges,
                            struct tg_error *error)
{
    const struct tg_bench_tasks *tasks;
    tg_status status = tg_bench_tasks_of(run, &tasks, error);
    *edges = NULL;
    if (status != TG_OK)
        return status;
    pthread_mutex_lock(&run->lock);
    if (!run->edges)
        status = make_edges(run, tasks, error);
    *edges = run->edges;
    pthread_mutex_unlock(&run->lock);
    return status;
}

void tg_bench_edges_free(struct tg_bench_edges *edges)
{
    if (!edges)
        return;
    tg_columns_free(&edges->columns);
    free(edges->row_of);
    tg_texts_free(&edges->scopes);
    tg_texts_free(&edges->lines);
    tg_texts_free(&edges->kernels);
    free(edges);
}

uint64_t tg_bench_edges_id(const struct tg_bench_edges *edges, const struct tg_bench_tasks *tasks,
                           uint32_t task)
{
    return task < edges->known ? tasks->id[task] : edges->extra_id[task - edges->known];
}

double tg_bench_submitted_at(const struct tg_bench_edges *edges, uint32_t row)
{
    if (edges->is_wide)
        return ((const double *)edges->submitted)[row];
    uint32_t time = ((const uint32_t *)edges->submitted)[row];
    return time == TG_BENCH_NO_TIME ? NAN : (double)time;
}
