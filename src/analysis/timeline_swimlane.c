/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads chip_swimlane_records.json of another implementation:
 *
 *   metadata                    clock_freq_hz; core_types: "aic" or "aiv" for each core
 *   aicore_tasks                [core, task_id, number, begin, end, …]: a task ran on a core
 *   aicpu_tasks                 [core, number, dispatch, finish, …]: when a scheduler gave that task to the
 *                               core, and when it saw the end
 *   aicpu_orchestrator_phases   [[{task_id, start_cycles, end_cycles, …}]]: submissions
 *   aicpu_scheduler_phases      what schedulers did; not used, since it names no tasks
 *
 * Times are cycles. A task is ready when it is submitted and a scheduler has seen the end of all tasks that
 * it waits for. The kernels of a task come from deps.json.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/deps.h"
#include "analysis/deps_read.h"
#include "analysis/timeline_load.h"
#include "base/error.h"
#include "base/files.h"
#include "base/grow.h"
#include "base/json_pull.h"

enum { ROW = 5 }; /* numbers of a row that are kept */
#define NANOSECONDS UINT64_C(1000000000)
#define MOST_SECONDS UINT64_C(9000000000)
#define MOST_HZ UINT64_C(10000000000)

/* A task on a core, in cycles. */
struct ran {
    uint64_t core, task, number, begin, end;
};

/* What a scheduler says about it. */
struct served {
    uint64_t core, number, dispatch, finish;
};

struct submitted {
    uint64_t task, begin, end;
};

struct swimlane {
    struct tg_pull pull;
    const char *name, *problem;
    struct tg_timeline *timeline;
    uint64_t frequency; /* 0: not known yet */
    uint8_t *kind;      /* of each core */
    struct ran *ran;
    struct served *served;
    struct submitted *submitted;
    size_t n_kinds, n_ran, n_served, n_submitted;
    size_t kind_room, ran_room, served_room, submitted_room;
    bool has_tasks;
};

static bool wrong(struct swimlane *lane, const char *problem)
{
    lane->problem = problem;
    return false;
}

/* --- rows -------------------------------------------------------------------------------------- */

/* Reads the numbers of a row; those behind the first `count` may be anything. */
static bool read_row(struct swimlane *lane, uint64_t *number, int count)
{
    struct tg_pull *pull = &lane->pull;
    int at = 0;
    if (pull->token != TG_PULL_BEGIN_ARRAY)
        return wrong(lane, "a value of the wrong kind where a row belongs");
    for (; tg_pull_next(pull) != TG_PULL_END_ARRAY; at++) {
        if (pull->token == TG_PULL_ERROR)
            return false;
        if (at < count && !tg_pull_u64(pull, &number[at]))
            return wrong(lane, "a row has a value that is not a whole number");
        if (!tg_pull_skip(pull))
            return false;
    }
    return at >= count || wrong(lane, "a row is too short");
}

static bool take_ran(struct swimlane *lane)
{
    uint64_t row[ROW];
    if (!read_row(lane, row, 5))
        return false;
    if (row[0] >= TG_TIMELINE_NONE || row[1] == TG_TASK_NONE)
        return wrong(lane, "a row of aicore_tasks has no such core or task");
    if (!tg_grow(&lane->ran, &lane->ran_room, lane->n_ran + 1, sizeof *lane->ran))
        return false;
    lane->ran[lane->n_ran++] = (struct ran){row[0], row[1], row[2], row[3], row[4]};
    return true;
}

static bool take_served(struct swimlane *lane)
{
    uint64_t row[ROW];
    if (!read_row(lane, row, 4) ||
        !tg_grow(&lane->served, &lane->served_room, lane->n_served + 1, sizeof *lane->served))
        return false;
    lane->served[lane->n_served++] = (struct served){row[0], row[1], row[2], row[3]};
    return true;
}

/* A phase without a task_id is none of a submission. */
static bool take_submitted(struct swimlane *lane)
{
    struct tg_pull *pull = &lane->pull;
    struct submitted made = {TG_TASK_NONE, UINT64_MAX, UINT64_MAX};
    if (pull->token != TG_PULL_BEGIN_OBJECT)
        return wrong(lane, "a value of the wrong kind where a phase of the orchestrator belongs");
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        uint64_t *to = tg_pull_is(pull, "task_id")        ? &made.task
                       : tg_pull_is(pull, "start_cycles") ? &made.begin
                       : tg_pull_is(pull, "end_cycles")   ? &made.end
                                                          : NULL;
        if (tg_pull_next(pull) == TG_PULL_ERROR)
            return false;
        if (to && !tg_pull_u64(pull, to))
            return wrong(lane,
                         "a phase of the orchestrator has a value that is not a whole number");
        if (!tg_pull_skip(pull))
            return false;
    }
    if (pull->token != TG_PULL_END_OBJECT)
        return false;
    if (made.task == TG_TASK_NONE || made.end == UINT64_MAX)
        return true;
    if (!tg_grow(&lane->submitted, &lane->submitted_room, lane->n_submitted + 1, sizeof made))
        return false;
    lane->submitted[lane->n_submitted++] = made;
    return true;
}

static bool take_kind(struct swimlane *lane)
{
    if (lane->pull.token != TG_PULL_STRING)
        return wrong(lane, "core_types has a value that is not a word");
    if (!tg_grow(&lane->kind, &lane->kind_room, lane->n_kinds + 1, sizeof *lane->kind))
        return false;
    lane->kind[lane->n_kinds++] = tg_pull_is(&lane->pull, "aic")   ? TG_AIC
                                  : tg_pull_is(&lane->pull, "aiv") ? TG_AIV
                                                                   : TG_CORE_KINDS;
    return true;
}

static bool read_list(struct swimlane *lane, bool (*take)(struct swimlane *lane))
{
    if (lane->pull.token != TG_PULL_BEGIN_ARRAY)
        return wrong(lane, "a value of the wrong kind where a list belongs");
    while (tg_pull_next(&lane->pull) != TG_PULL_END_ARRAY)
        if (lane->pull.token == TG_PULL_ERROR || !take(lane))
            return false;
    return true;
}

static bool take_thread(struct swimlane *lane)
{
    return read_list(lane, take_submitted);
}

/* --- the document ------------------------------------------------------------------------------ */

static bool read_metadata(struct swimlane *lane)
{
    struct tg_pull *pull = &lane->pull;
    if (pull->token != TG_PULL_BEGIN_OBJECT)
        return wrong(lane, "a value of the wrong kind where the metadata belong");
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        bool is_clock = tg_pull_is(pull, "clock_freq_hz"),
             is_cores = tg_pull_is(pull, "core_types");
        if (tg_pull_next(pull) == TG_PULL_ERROR)
            return false;
        if (is_clock && (!tg_pull_u64(pull, &lane->frequency) || lane->frequency == 0 ||
                         lane->frequency > MOST_HZ))
            return wrong(lane, "clock_freq_hz is no frequency from 1 Hz to 10 GHz");
        if (is_cores) {
            lane->n_kinds = 0;
            if (!read_list(lane, take_kind))
                return false;
        } else if (!tg_pull_skip(pull)) {
            return false;
        }
    }
    return pull->token == TG_PULL_END_OBJECT;
}

/* If a key comes twice, the last one counts. */
static bool read_member(struct swimlane *lane)
{
    struct tg_pull *pull = &lane->pull;
    bool is_metadata = tg_pull_is(pull, "metadata"), is_ran = tg_pull_is(pull, "aicore_tasks");
    bool is_served = tg_pull_is(pull, "aicpu_tasks");
    bool is_submitted = tg_pull_is(pull, "aicpu_orchestrator_phases");
    if (tg_pull_next(pull) == TG_PULL_ERROR)
        return false;
    if (is_metadata)
        return read_metadata(lane);
    if (is_ran) {
        lane->n_ran = 0;
        lane->has_tasks = true;
        return read_list(lane, take_ran);
    }
    if (is_served) {
        lane->n_served = 0;
        return read_list(lane, take_served);
    }
    if (is_submitted) {
        lane->n_submitted = 0;
        return read_list(lane, take_thread);
    }
    return tg_pull_skip(pull);
}

static bool read_document(struct swimlane *lane)
{
    struct tg_pull *pull = &lane->pull;
    if (tg_pull_next(pull) != TG_PULL_BEGIN_OBJECT)
        return wrong(lane, "a value of the wrong kind where an object belongs");
    while (tg_pull_next(pull) == TG_PULL_KEY)
        if (!read_member(lane))
            return false;
    if (pull->token != TG_PULL_END_OBJECT || tg_pull_next(pull) != TG_PULL_END)
        return false;
    if (!lane->has_tasks)
        return wrong(lane, "no aicore_tasks");
    return lane->frequency > 0 || wrong(lane, "no clock_freq_hz");
}

/* --- into the timeline ------------------------------------------------------------------------- */

/* Exact, because the frequency is at most MOST_HZ. */
static bool nanoseconds(const struct swimlane *lane, uint64_t cycles, uint64_t *time)
{
    uint64_t seconds = cycles / lane->frequency, rest = cycles % lane->frequency;
    if (seconds >= MOST_SECONDS)
        return false;
    *time = seconds * NANOSECONDS + rest * NANOSECONDS / lane->frequency;
    return true;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_core_and_number(const void *a, const void *b)
{
    const struct served *left = a, *right = b;
    int order = compare(left->core, right->core);
    order = order ? order : compare(left->number, right->number);
    order = order ? order : compare(left->dispatch, right->dispatch);
    return order ? order : compare(left->finish, right->finish);
}

static int by_task_and_core(const void *a, const void *b)
{
    const struct ran *left = a, *right = b;
    int order = compare(left->task, right->task);
    order = order ? order : compare(left->core, right->core);
    order = order ? order : compare(left->begin, right->begin);
    return order ? order : compare(left->end, right->end);
}

static const struct served *find_served(const struct swimlane *lane, const struct ran *ran)
{
    struct served wanted = {.core = ran->core, .number = ran->number};
    size_t low = 0, high = lane->n_served;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_core_and_number(&lane->served[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct served *found = low < lane->n_served ? &lane->served[low] : NULL;
    return found && found->core == ran->core && found->number == ran->number ? found : NULL;
}

static bool add_part(struct swimlane *lane, const struct ran *ran, uint8_t number)
{
    struct tg_timeline *timeline = lane->timeline;
    struct tg_timeline_part part = tg_timeline_part_of(ran->task);
    const struct served *served = find_served(lane, ran);
    uint32_t kind = ran->core < lane->n_kinds ? lane->kind[ran->core] : TG_CORE_KINDS;
    char name[64];
    (void)snprintf(name, sizeof name, "core %u%s", (unsigned)ran->core,
                   kind == TG_AIC   ? " (AIC)"
                   : kind == TG_AIV ? " (AIV)"
                                    : "");
    part.part = number;
    part.core = tg_timeline_add_core(timeline, (uint32_t)ran->core, kind, name);
    if (!nanoseconds(lane, ran->begin, &part.begin) || !nanoseconds(lane, ran->end, &part.end) ||
        (served && (!nanoseconds(lane, served->dispatch, &part.dispatch) ||
                    !nanoseconds(lane, served->finish, &part.done))))
        return wrong(lane, "a time is larger than 285 years");
    return part.core != TG_TIMELINE_NONE && tg_timeline_add_part(timeline, &part);
}

static bool add_parts(struct swimlane *lane)
{
    uint32_t number = 0;
    for (size_t i = 0; i < lane->n_ran; i++) {
        number = i > 0 && lane->ran[i].task == lane->ran[i - 1].task ? number + 1 : 0;
        /* A task has at most as many parts as a byte counts; further ones count as twins. */
        if (!add_part(lane, &lane->ran[i], number < UINT8_MAX ? (uint8_t)number : UINT8_MAX))
            return false;
    }
    return true;
}

static bool add_submitted(struct swimlane *lane)
{
    for (size_t i = 0; i < lane->n_submitted; i++) {
        struct tg_timeline_task task = tg_timeline_task_of(lane->submitted[i].task);
        uint64_t begin = lane->submitted[i].begin;
        if ((begin != UINT64_MAX && !nanoseconds(lane, begin, &task.submit_begin)) ||
            !nanoseconds(lane, lane->submitted[i].end, &task.submit))
            return wrong(lane, "a time is larger than 285 years");
        if (!tg_timeline_add_task(lane->timeline, &task))
            return false;
    }
    return true;
}

static bool add_cores(struct swimlane *lane)
{
    for (size_t i = 0; i < lane->n_kinds; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "core %zu%s", i,
                       lane->kind[i] == TG_AIC   ? " (AIC)"
                       : lane->kind[i] == TG_AIV ? " (AIV)"
                                                 : "");
        if (tg_timeline_add_core(lane->timeline, (uint32_t)i, lane->kind[i], name) ==
            TG_TIMELINE_NONE)
            return false;
    }
    return true;
}

static bool fill(struct swimlane *lane)
{
    if (lane->n_served > 0)
        qsort(lane->served, lane->n_served, sizeof *lane->served, by_core_and_number);
    if (lane->n_ran > 0)
        qsort(lane->ran, lane->n_ran, sizeof *lane->ran, by_task_and_core);
    lane->timeline->facts.source = "swimlane";
    lane->timeline->facts.clock_step = (NANOSECONDS + lane->frequency - 1) / lane->frequency;
    return add_cores(lane) && add_parts(lane) && add_submitted(lane);
}

static tg_status refuse(const struct swimlane *lane, struct tg_error *error)
{
    const struct tg_pull *pull = &lane->pull;
    const char *problem = lane->problem;
    if (pull->token == TG_PULL_ERROR)
        problem = pull->problem ? pull->problem : "the file ends too early";
    if (!problem)
        return tg_file_no_memory(error);
    return tg_error_set(error, TG_BAD_ARGUMENT,
                        "'%s', line %lu: %s; this is not the swimlane of a run", lane->name,
                        tg_pull_line(pull), problem);
}

static tg_status parse(struct swimlane *lane, struct tg_error *error)
{
    bool good = read_document(lane) && fill(lane);
    tg_status status = good ? TG_OK : refuse(lane, error);
    free(lane->kind);
    free(lane->ran);
    free(lane->served);
    free(lane->submitted);
    return status;
}

tg_status tg_swimlane_parse(const char *text, size_t size, const char *name,
                            struct tg_timeline *timeline, struct tg_error *error)
{
    struct swimlane lane = {.name = name, .timeline = timeline};
    tg_pull_start(&lane.pull, text, size);
    return parse(&lane, error);
}

/* --- kernels ----------------------------------------------------------------------------------- */

/* deps.json names the kernels of a task by part; parts of the swimlane are told apart by their cores. If
 * both vector parts have a kernel, vector cores take them in turn. */
static uint32_t slot_of(const struct tg_deps_task *task, uint32_t kind, uint32_t vectors)
{
    uint32_t count = 0;
    while (count < TG_PARTS && task->func[count] != TG_NO_KERNEL)
        count++;
    if (count == 0)
        return TG_PARTS;
    bool has_aic = task->slot[0] == TG_PART_AIC;
    if (kind == TG_AIC || count == 1)
        return 0;
    uint32_t first = has_aic ? 1 : 0, n = count - first;
    return first + (n > 1 ? vectors % n : 0);
}

static int by_id(const void *a, const void *b)
{
    return compare((*(const struct tg_deps_task *const *)a)->id,
                   (*(const struct tg_deps_task *const *)b)->id);
}

/* Parts are in the order of their tasks' ids still. */
static bool name_parts(struct tg_timeline *timeline, const struct tg_deps_task **sorted,
                       uint32_t count)
{
    uint32_t at = 0, vectors = 0;
    for (size_t i = 0; i < timeline->n_parts; i++) {
        struct tg_timeline_part *part = &timeline->part[i];
        if (i == 0 || part->task != timeline->part[i - 1].task)
            vectors = 0;
        while (at < count && sorted[at]->id < part->task)
            at++;
        if (at == count || sorted[at]->id != part->task)
            continue;
        uint32_t kind = timeline->core[part->core].kind;
        uint32_t slot = slot_of(sorted[at], kind, vectors);
        vectors += kind != TG_AIC;
        if (slot == TG_PARTS)
            continue;
        const char *name = sorted[at]->kernel[slot];
        part->kernel =
            tg_timeline_add_kernel(timeline, sorted[at]->func[slot], TG_CORE_KINDS, name);
        if (part->kernel == TG_TIMELINE_NONE)
            return false;
    }
    return true;
}

static bool name_kernels(struct tg_timeline *timeline, const struct tg_deps *deps)
{
    const struct tg_deps_task **sorted =
        malloc(((size_t)deps->n_tasks + 1) * sizeof(const struct tg_deps_task *));
    if (!sorted)
        return false;
    for (uint32_t i = 0; i < deps->n_tasks; i++)
        sorted[i] = &deps->task[i];
    qsort(sorted, deps->n_tasks, sizeof(const struct tg_deps_task *), by_id);
    bool good = name_parts(timeline, sorted, deps->n_tasks);
    free(sorted);
    return good;
}

tg_status tg_swimlane_add_deps(const struct tg_deps *deps, struct tg_timeline *timeline,
                               struct tg_error *error)
{
    if (!name_kernels(timeline, deps))
        return tg_file_no_memory(error);
    return tg_timeline_add_deps(deps, timeline, error);
}

/* --- the files --------------------------------------------------------------------------------- */

static tg_status read_deps(const char *path, struct tg_timeline *timeline, struct tg_error *error)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *file = folder ? tg_path_join(folder, TG_DEPS_FILE) : NULL;
    struct tg_deps *deps = NULL;
    struct tg_map map = {0};
    tg_status status = TG_OK;
    int cause = file ? tg_map_text(file, &map) : ENOMEM;
    if (cause == 0) {
        status = tg_deps_parse((const char *)map.bytes, map.size, file, &deps, error);
        tg_status lost = tg_map_report(&map, file, error);
        status = lost != TG_OK ? lost : status;
        tg_map_close(&map);
    } else if (cause != ENOENT) {
        status = file ? tg_file_error(error, "read", file, cause) : tg_file_no_memory(error);
    }
    if (status == TG_OK && deps)
        status = tg_swimlane_add_deps(deps, timeline, error);
    tg_deps_free(deps);
    free(folder);
    free(file);
    return status;
}

tg_status tg_timeline_of_swimlane(const char *path, struct tg_timeline *timeline,
                                  struct tg_error *error)
{
    struct swimlane lane = {.name = path, .timeline = timeline};
    struct tg_map map;
    int cause = tg_map_text(path, &map);
    if (cause != 0)
        return tg_file_error(error, "read", path, cause);
    tg_timeline_start(timeline);
    tg_pull_start_map(&lane.pull, &map);
    tg_status status = parse(&lane, error);
    tg_status lost = tg_map_report(&map, path, error);
    status = lost != TG_OK ? lost : status;
    tg_map_close(&map);
    if (status == TG_OK)
        status = read_deps(path, timeline, error);
    if (status == TG_OK)
        status = tg_timeline_finish(timeline, error);
    if (status != TG_OK)
        tg_timeline_free(timeline);
    return status;
}
