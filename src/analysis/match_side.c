/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What matching knows about the tasks of one recording. Both sides must be looked at in the same way:
 * what only one of them has recorded (inputs, outputs, scalars, addresses) says nothing, and edges
 * are taken from the data of both, or from deps.json of both.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/deps_graph.h"
#include "analysis/match_flow.h"
#include "analysis/match_mix.h"
#include "analysis/timeline_calls.h"
#include "base/error.h"
#include "recording/reader.h"

/* --- what is recorded -------------------------------------------------------------------------- */

struct cover {
    uint64_t inputs, outputs, scalars; /* records */
    uint64_t tasks;                    /* with records */
    uint64_t homeless;                 /* tensors without an address */
    uint64_t hashed;                   /* tensors whose content is known */
};

static void survey(const struct tg_tasks *tasks, struct cover *cover)
{
    *cover = (struct cover){0};
    for (uint32_t i = tg_tasks_first(tasks); i < tasks->n_rows; i++)
        cover->tasks += tasks->row[i].count > 0;
    for (uint64_t i = 0; i < tasks->n_refs; i++) {
        const struct tg_record *record = tg_recording_at(tasks->recording, tasks->ref[i].index);
        if (record->stage == TG_STAGE_ORCHESTRATION)
            continue;
        if (record->kind == TG_KIND_SCALAR) {
            cover->scalars++;
            continue;
        }
        cover->inputs += record->stage == TG_BEFORE_DISPATCH;
        cover->outputs += record->stage == TG_AFTER_COMPLETION;
        cover->homeless += record->data_ptr == 0;
        cover->hashed += (record->flags & TG_RECORD_HASHED) != 0;
    }
}

/* What both sides have. */
struct common {
    bool inputs, outputs, scalars, addresses, contents;
    struct tg_object_rule objects;
};

/* True if one of the two is much smaller: a filter was at work on one side only. */
static bool is_lopsided(uint64_t a, uint64_t b, uint64_t tasks_a, uint64_t tasks_b)
{
    double x = tasks_a ? (double)a / (double)tasks_a : 0;
    double y = tasks_b ? (double)b / (double)tasks_b : 0;
    return x < y ? x < 0.5 * y : y < 0.5 * x;
}

static void find_common(struct tg_matching *m, struct common *common)
{
    const struct tg_tasks *a = m->a.tasks, *b = m->b.tasks;
    uint64_t n_a = a->n_rows - tg_tasks_first(a), n_b = b->n_rows - tg_tasks_first(b);
    struct cover x, y;
    survey(a, &x);
    survey(b, &y);
    common->inputs = x.inputs > 0 && y.inputs > 0;
    common->outputs = x.outputs > 0 && y.outputs > 0;
    common->scalars = x.scalars > 0 && y.scalars > 0;
    common->contents = x.hashed > 0 && y.hashed > 0;
    common->addresses = x.homeless == 0 && y.homeless == 0;
    tg_object_rule_make(m->a.sources, m->b.sources, &common->objects);
    m->has_flow = common->inputs && common->outputs && common->addresses &&
                  !is_lopsided(x.tasks, y.tasks, n_a, n_b) &&
                  !is_lopsided(x.inputs, y.inputs, n_a, n_b) &&
                  !is_lopsided(x.outputs, y.outputs, n_a, n_b);
    m->has_deps = !m->has_flow && a->deps && b->deps;
}

/* --- slots ------------------------------------------------------------------------------------ */

static void fill_slot(const struct tg_side *side, const struct common *common,
                      const struct tg_record *record, struct tg_side_slot *slot)
{
    bool is_scalar = record->kind == TG_KIND_SCALAR;
    bool is_input = record->stage == TG_BEFORE_DISPATCH;
    *slot = (struct tg_side_slot){.is_covered = record->stage != TG_STAGE_ORCHESTRATION &&
                                                (is_scalar  ? common->scalars
                                                 : is_input ? common->inputs
                                                            : common->outputs)};
    slot->view = tg_mix_shape(1, record);
    if (is_scalar) {
        slot->view = tg_mix(slot->view, record->value);
        return;
    }
    if (common->contents && record->flags & TG_RECORD_HASHED)
        slot->content = record->hash ? record->hash : 1;
    if (!common->addresses)
        return;
    slot->view = tg_mix(slot->view, tg_object_place(side->sources, &common->objects, record));
    slot->object =
        tg_object_key(&common->objects, tg_sources_object(side->sources, record->data_ptr));
}

static bool fill_slots(struct tg_side *side, const struct common *common)
{
    const struct tg_tasks *tasks = side->tasks;
    side->slot = malloc((size_t)(tasks->n_refs + 1) * sizeof *side->slot);
    for (uint64_t i = 0; side->slot && i < tasks->n_refs; i++)
        fill_slot(side, common, tg_recording_at(tasks->recording, tasks->ref[i].index),
                  &side->slot[i]);
    return side->slot != NULL;
}

/* --- edges ------------------------------------------------------------------------------------ */

struct link {
    uint32_t from, to; /* rows */
    uint16_t out, in;  /* arguments */
};

struct links {
    struct link *link;
    uint64_t count;
};

static bool links_of_flow(const struct tg_side *side, struct links *links)
{
    const struct tg_flow *flow = &side->sources->flow;
    links->link = malloc((size_t)(flow->n_writers + 1) * sizeof *links->link);
    for (uint32_t i = 0; links->link && i < flow->n_events; i++) {
        const struct tg_flow_event *event = &flow->event[i];
        const struct tg_recording *recording = side->tasks->recording;
        for (uint32_t k = 0; k < event->n_writers && !event->is_write; k++) {
            const struct tg_flow_event *writer =
                &flow->event[flow->writer[event->first_writer + k]];
            if (writer->row != event->row)
                links->link[links->count++] = (struct link){
                    writer->row, event->row, tg_recording_at(recording, writer->record)->arg_index,
                    tg_recording_at(recording, event->record)->arg_index};
        }
    }
    return links->link != NULL;
}

static bool links_of_deps(const struct tg_side *side, struct links *links)
{
    const struct tg_tasks *tasks = side->tasks;
    const struct tg_deps *deps = tasks->deps;
    links->link = malloc((size_t)(deps->n_edges + 1) * sizeof *links->link);
    for (uint32_t i = 0; links->link && i < deps->n_tasks; i++)
        for (uint64_t k = 0; k < deps->task[i].n_edges; k++)
            links->link[links->count++] =
                (struct link){tasks->of_deps[deps->before[deps->task[i].first_edge + k]],
                              tasks->of_deps[i], 0, 0};
    return links->link != NULL;
}

/* A counting sort by the row at one end. */
static bool sort_edges(const struct links *links, uint32_t n_rows, bool by_from,
                       struct tg_side_edges *edges)
{
    edges->first = calloc((size_t)n_rows + 2, sizeof *edges->first);
    edges->edge = malloc((size_t)(links->count + 1) * sizeof *edges->edge);
    if (!edges->first || !edges->edge)
        return false;
    uint64_t *next = edges->first + 1;
    for (uint64_t i = 0; i < links->count; i++)
        next[(by_from ? links->link[i].from : links->link[i].to) + 1]++;
    for (uint32_t i = 1; i <= n_rows; i++)
        next[i] += next[i - 1];
    for (uint64_t i = 0; i < links->count; i++) {
        const struct link *link = &links->link[i];
        edges->edge[next[by_from ? link->from : link->to]++] =
            by_from ? (struct tg_side_edge){link->to, link->out, link->in}
                    : (struct tg_side_edge){link->from, link->in, link->out};
    }
    return true;
}

static bool make_edges(const struct tg_matching *m, struct tg_side *side)
{
    struct links links = {0};
    bool good = true;
    if (m->has_flow)
        good = links_of_flow(side, &links);
    else if (m->has_deps)
        good = links_of_deps(side, &links);
    good = good && sort_edges(&links, side->n_rows, false, &side->before) &&
           sort_edges(&links, side->n_rows, true, &side->after);
    free(links.link);
    return good;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* True if nothing but its content says what this input is. */
static bool is_unplaced(const struct tg_matching *m, const struct tg_side *side, uint32_t row,
                        const struct tg_side_slot *slot, uint64_t ref)
{
    if (slot->object != 0)
        return false;
    if (!m->has_flow)
        return tg_side_n_before(side, row) == 0;
    uint32_t event = side->sources->flow.of_record[side->tasks->ref[ref].index];
    return event == TG_NO_EVENT || side->sources->flow.event[event].n_writers == 0;
}

static void read_slot(const struct tg_matching *m, struct tg_side *side, uint32_t number,
                      uint64_t ref, bool *has_content, bool *has_results)
{
    struct tg_side_row *row = &side->row[number];
    const struct tg_side_slot *slot = &side->slot[ref];
    const struct tg_record *record =
        tg_recording_at(side->tasks->recording, side->tasks->ref[ref].index);
    uint32_t place = side->tasks->ref[ref].place;
    bool is_input = record->stage == TG_BEFORE_DISPATCH;
    if (!slot->is_covered)
        return;
    row->has_records = true;
    row->own = tg_mix(tg_mix(row->own, (uint64_t)record->role << 32 | place), slot->view);
    if (slot->object)
        row->objects = tg_mix(tg_mix(row->objects, place), slot->object);
    if (record->kind == TG_KIND_SCALAR) {
        row->scalars = tg_mix(tg_mix(row->scalars, place), slot->view);
        return;
    }
    row->views = tg_mix(tg_mix(row->views, (uint64_t)record->role << 32 | place), slot->view);
    if (!is_input) {
        row->writes_objects = row->writes_objects || slot->object != 0;
        *has_results = *has_results && slot->content != 0;
        row->results = tg_mix(tg_mix(row->results, place), slot->content);
        return;
    }
    row->reads_objects = row->reads_objects || slot->object != 0;
    *has_content = *has_content && slot->content != 0;
    row->content = tg_mix(tg_mix(row->content, place), slot->content);
    if (is_unplaced(m, side, number, slot, ref))
        row->source = tg_mix(tg_mix(row->source, place), slot->content);
}

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 5;
    for (; *text; text++)
        hash = tg_mix(hash, (unsigned char)*text);
    return hash;
}

static bool fill_rows(const struct tg_matching *m, struct tg_side *side)
{
    side->row = calloc((size_t)side->n_rows + 1, sizeof *side->row);
    side->canon = malloc(((size_t)side->n_rows + 1) * sizeof *side->canon);
    side->waits_before = malloc(((size_t)side->n_rows + 1) * sizeof *side->waits_before);
    side->waits_after = malloc(((size_t)side->n_rows + 1) * sizeof *side->waits_after);
    if (!side->row || !side->canon || !side->waits_before || !side->waits_after)
        return false;
    for (uint32_t i = 0; i < side->n_rows; i++) {
        const struct tg_task_row *task = &side->tasks->row[i];
        uint32_t kind;
        bool is_same = i > 0 && task->kernel == task[-1].kernel;
        side->row[i].kernel = is_same ? side->row[i - 1].kernel : hash_of(task->kernel);
        side->row[i].is_call =
            is_same ? side->row[i - 1].is_call : tg_is_call_name(task->kernel, &kind);
        bool has_content = true, has_results = true;
        for (uint64_t k = task->first; k < task->first + task->count; k++)
            read_slot(m, side, i, k, &has_content, &has_results);
        if (!has_content)
            side->row[i].content = 0;
        if (!has_results)
            side->row[i].results = 0;
        side->canon[i] = TG_NO_ROW;
        side->waits_before[i] = tg_side_n_before(side, i);
        side->waits_after[i] = tg_side_n_after(side, i);
    }
    return true;
}

/* --- everything that depends on a task ---------------------------------------------------------- */

/* The kernels of one side, by the pointers of their names. */
struct kernel_set {
    const char **kernel;
    size_t count;
};

static int by_pointer(const void *a, const void *b)
{
    const char *left = *(const char *const *)a, *right = *(const char *const *)b;
    return ((uintptr_t)left > (uintptr_t)right) - ((uintptr_t)left < (uintptr_t)right);
}

static bool make_set(const struct tg_tasks *tasks, struct kernel_set *set)
{
    size_t kept = 0;
    *set = (struct kernel_set){malloc(((size_t)tasks->n_rows + 1) * sizeof *set->kernel), 0};
    for (uint32_t i = 0; set->kernel && i < tasks->n_rows; i++)
        if (i == 0 || tasks->row[i].kernel != tasks->row[i - 1].kernel)
            set->kernel[set->count++] = tasks->row[i].kernel;
    if (!set->kernel)
        return false;
    qsort((void *)set->kernel, set->count, sizeof *set->kernel, by_pointer);
    for (size_t i = 0; i < set->count; i++)
        if (kept == 0 || set->kernel[i] != set->kernel[kept - 1])
            set->kernel[kept++] = set->kernel[i];
    set->count = kept;
    return true;
}

static bool has_kernel(const struct kernel_set *set, const char *kernel)
{
    return bsearch(&kernel, (const void *)set->kernel, set->count, sizeof kernel, by_pointer);
}

static bool rank_rows(const struct tg_side *side, uint32_t *rank)
{
    struct tg_links links;
    uint64_t count = side->before.first[side->n_rows], at = 0;
    struct tg_link *link = malloc((size_t)(count + 1) * sizeof *link);
    if (!link)
        return false;
    for (uint32_t i = 0; i < side->n_rows; i++)
        for (uint64_t k = side->before.first[i]; k < side->before.first[i + 1]; k++)
            link[at++] = (struct tg_link){side->before.edge[k].row, i};
    bool good = tg_links_make(side->n_rows, link, at, &links);
    free(link);
    good = good && tg_links_rank(&links, rank, NULL);
    tg_links_free(&links);
    return good;
}

/* From the last task to the first, so that all that depend on a task have their hash already. */
static bool look_deep(struct tg_side *side, const struct kernel_set *others)
{
    uint32_t *rank = malloc(((size_t)side->n_rows + 1) * sizeof *rank);
    side->order = malloc(((size_t)side->n_rows + 1) * sizeof *side->order);
    bool good = rank && side->order && rank_rows(side, rank);
    for (uint32_t i = 0; good && i < side->n_rows; i++)
        side->order[rank[i]] = i;
    for (uint32_t i = side->n_rows; good && i > 0; i--) {
        uint32_t number = side->order[i - 1];
        uint64_t sum = 0;
        for (uint64_t k = side->after.first[number]; k < side->after.first[number + 1]; k++) {
            const struct tg_side_edge *edge = &side->after.edge[k];
            sum += tg_mix(side->row[edge->row].deep, (uint64_t)edge->here << 16 | edge->there);
        }
        struct tg_side_row *row = &side->row[number];
        row->is_exclusive = !has_kernel(others, side->tasks->row[number].kernel);
        /* A kernel that the other side does not have may be a renamed one. */
        row->deep = tg_mix(tg_mix(tg_mix(3, row->is_exclusive ? 0 : row->kernel), row->own), sum);
    }
    free(rank);
    return good;
}

/* --- both sides ------------------------------------------------------------------------------- */

static bool look_deep_on_both(struct tg_matching *m)
{
    struct kernel_set of_a = {0}, of_b = {0};
    bool good = make_set(m->a.tasks, &of_a) && make_set(m->b.tasks, &of_b) &&
                look_deep(&m->a, &of_b) && look_deep(&m->b, &of_a);
    free((void *)of_a.kernel);
    free((void *)of_b.kernel);
    return good;
}

/* True if nothing but the kernels and their order tells tasks apart. */
static bool is_blind(const struct tg_matching *m, const struct common *common)
{
    return m->a.before.first[m->a.n_rows] == 0 && m->b.before.first[m->b.n_rows] == 0 &&
           !common->inputs && !common->scalars &&
           !(common->outputs && common->addresses && common->objects.is_known);
}

static bool prepare(struct tg_matching *m)
{
    struct common common;
    find_common(m, &common);
    if (m->has_flow && tg_sources_follow_both(m->a.sources, m->b.sources, NULL) != TG_OK)
        return false;
    if (!make_edges(m, &m->a) || !make_edges(m, &m->b))
        return false;
    m->is_blind = is_blind(m, &common);
    return fill_slots(&m->a, &common) && fill_slots(&m->b, &common) && fill_rows(m, &m->a) &&
           fill_rows(m, &m->b) && (m->is_blind || look_deep_on_both(m));
}

static void begin_side(struct tg_side *side, struct tg_sources *sources)
{
    *side = (struct tg_side){.sources = sources,
                             .tasks = sources->tasks,
                             .first = tg_tasks_first(sources->tasks),
                             .n_rows = sources->tasks->n_rows};
}

bool tg_matching_open(struct tg_sources *a, struct tg_sources *b, struct tg_matching *matching)
{
    *matching = (struct tg_matching){0};
    begin_side(&matching->a, a);
    begin_side(&matching->b, b);
    matching->partner = malloc(((size_t)matching->a.n_rows + 1) * sizeof *matching->partner);
    for (uint32_t i = 0; matching->partner && i < matching->a.n_rows; i++)
        matching->partner[i] = TG_NO_ROW;
    return matching->partner && prepare(matching);
}

static void close_side(struct tg_side *side)
{
    free(side->slot);
    free(side->before.first);
    free(side->before.edge);
    free(side->after.first);
    free(side->after.edge);
    free(side->row);
    free(side->canon);
    free(side->order);
    free(side->waits_before);
    free(side->waits_after);
}

void tg_matching_close(struct tg_matching *matching)
{
    close_side(&matching->a);
    close_side(&matching->b);
    free(matching->partner);
    free(matching->fusion);
    free(matching->part);
    tg_tiles_free(&matching->tiles[0]);
    tg_tiles_free(&matching->tiles[1]);
    *matching = (struct tg_matching){0};
}
