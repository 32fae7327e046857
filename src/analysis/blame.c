/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/blame.h"
#include "recording/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"

const char *tg_guilt_name(unsigned guilt)
{
#define WORD(constant, word, meaning) word,
    static const char *const words[] = {TG_GUILT_MAP(WORD)};
#undef WORD
    return guilt < TG_GUILTS ? words[guilt] : "?";
}

const char *tg_guilt_text(unsigned guilt)
{
#define MEANING(constant, word, meaning) meaning,
    static const char *const meanings[] = {TG_GUILT_MAP(MEANING)};
#undef MEANING
    return guilt < TG_GUILTS ? meanings[guilt] : "?";
}

/* --- suspects --------------------------------------------------------------------------------- */

static void find_orders(struct tg_blame *blame, struct tg_suspect *suspect)
{
    for (int side = 0; side < 2; side++) {
        uint32_t row = tg_blame_row(blame, (uint32_t)suspect->task, side);
        uint32_t other = tg_blame_row(blame, (uint32_t)suspect->other, side);
        bool *is_ordered = side == 0 ? &suspect->ordered_a : &suspect->ordered_b;
        if (row != TG_NO_ROW && other != TG_NO_ROW)
            *is_ordered =
                tg_blame_waits(blame, side, other, row) || tg_blame_waits(blame, side, row, other);
    }
}

bool tg_blame_accuse(struct tg_blame *blame, enum tg_guilt guilt, uint32_t task, uint64_t pair,
                     uint64_t other)
{
    const struct tg_pair_state *state = pair == TG_NONE ? NULL : &blame->diff->state[pair];
    struct tg_suspect suspect = {.guilt = guilt,
                                 .task = task,
                                 .other = other,
                                 .pair = pair,
                                 .depth = blame->depth[task],
                                 .error = state ? (double)state->error : (double)NAN,
                                 .ulp = state ? state->ulp : 0,
                                 .left = TG_NONE};
    if (tg_blame_follows_read(blame, guilt, task)) {
        tg_blame_want(blame, blame->read.task); /* no task, if a scalar was given */
        return true;
    }
    if (!tg_grow(&blame->suspect, &blame->room, (size_t)blame->n_suspects + 1,
                 sizeof *blame->suspect))
        return false;
    if (other != TG_NONE)
        find_orders(blame, &suspect);
    blame->suspect[blame->n_suspects++] = suspect;
    return true;
}

/* The earliest suspect comes first, then the one with the largest error; an unknown error sorts
 * last. */
static int by_rank(const void *a, const void *b)
{
    const struct tg_suspect *left = a, *right = b;
    double x = isnan(left->error) ? -1 : left->error, y = isnan(right->error) ? -1 : right->error;
    if (left->guilt != right->guilt)
        return left->guilt < right->guilt ? -1 : 1;
    if (left->depth != right->depth)
        return left->depth < right->depth ? -1 : 1;
    if (x != y)
        return x > y ? -1 : 1;
    if (left->task != right->task)
        return left->task < right->task ? -1 : 1;
    return (left->pair > right->pair) - (left->pair < right->pair);
}

/* --- one of a kind ---------------------------------------------------------------------------- */

/* What makes two suspects the same: the two tasks of a race, the tensor from outside, the argument
 * that was given. */
struct identity {
    uint32_t guilt;
    uint64_t first, second;
    uint64_t at; /* in the list of suspects */
};

static struct identity identify(const struct tg_blame *blame, uint64_t at)
{
    const struct tg_suspect *suspect = &blame->suspect[at];
    struct identity identity = {suspect->guilt, suspect->task, suspect->pair, at};
    struct tg_entry entry;
    if (suspect->guilt == TG_GUILT_UNORDERED) {
        identity.second = suspect->other;
    } else if (suspect->guilt == TG_GUILT_GIVEN && tg_blame_get(blame, suspect->pair, 0, &entry) &&
               entry.record.data_ptr != 0) {
        const struct tg_object *object = tg_blame_object(blame, 0, &entry.record);
        identity.first = object ? object->address : entry.record.data_ptr;
        identity.second = 0;
    }
    return identity;
}

static int by_identity(const void *a, const void *b)
{
    const struct identity *left = a, *right = b;
    if (left->guilt != right->guilt)
        return left->guilt < right->guilt ? -1 : 1;
    if (left->first != right->first)
        return left->first < right->first ? -1 : 1;
    if (left->second != right->second)
        return left->second < right->second ? -1 : 1;
    return (left->at > right->at) - (left->at < right->at);
}

static bool is_same(const struct identity *a, const struct identity *b)
{
    return a->guilt == b->guilt && a->first == b->first && a->second == b->second;
}

/* Sorts the suspects, and keeps the first of those that say the same. */
static bool settle_suspects(struct tg_blame *blame)
{
    uint64_t count = blame->n_suspects, kept = 0;
    struct identity *identity = malloc((size_t)(count + 1) * sizeof *identity);
    if (!identity)
        return false;
    if (count > 0)
        qsort(blame->suspect, (size_t)count, sizeof *blame->suspect, by_rank);
    for (uint64_t i = 0; i < count; i++)
        identity[i] = identify(blame, i);
    qsort(identity, (size_t)count, sizeof *identity, by_identity);
    for (uint64_t i = 1; i < count; i++)
        if (is_same(&identity[i - 1], &identity[i]))
            blame->suspect[identity[i].at].guilt = TG_GUILTS; /* said already */
    for (uint64_t i = 0; i < count; i++)
        if (blame->suspect[i].guilt != TG_GUILTS)
            blame->suspect[kept++] = blame->suspect[i];
    blame->n_suspects = kept;
    free(identity);
    return true;
}

/* --- the public functions --------------------------------------------------------------------- */

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY,
                        "no memory to find the tasks that began the difference");
}

static void open_side(struct tg_blame *blame, int number, struct tg_sources *sources)
{
    blame->side[number].tasks = sources->tasks;
    blame->side[number].sources = sources;
    blame->side[number].flow = &sources->flow;
}

static tg_status make_blame(struct tg_blame *blame, struct tg_error *error)
{
    struct tg_diff *diff = blame->diff;
    tg_status status = tg_sources_follow_both(&diff->source_a, &diff->source_b, error);
    if (status != TG_OK)
        return status;
    open_side(blame, 0, &diff->source_a);
    open_side(blame, 1, &diff->source_b);
    if (!tg_blame_open_sides(blame) || !tg_blame_read_graph(blame) || !tg_blame_read_tasks(blame))
        return no_memory(error);
    tg_blame_find_read(blame);
    if (!tg_blame_find_given(blame) || !tg_blame_trace(blame) || !tg_blame_find_ways(blame) ||
        !settle_suspects(blame))
        return no_memory(error);
    return TG_OK;
}

tg_status tg_blame_open(struct tg_diff *diff, struct tg_blame **blame, struct tg_error *error)
{
    TG_REFUSE_NULL(error, diff);
    TG_REFUSE_NULL(error, blame);
    struct tg_blame *b = calloc(1, sizeof *b);
    *blame = NULL;
    if (!b)
        return no_memory(error);
    b->diff = diff;
    tg_status status = make_blame(b, error);
    status = tg_recording_conclude(diff->a.recording, status, error);
    status = tg_recording_conclude(diff->b.recording, status, error);
    if (status == TG_OK)
        *blame = b;
    else
        tg_blame_close(b);
    return status;
}

void tg_blame_close(struct tg_blame *blame)
{
    if (!blame)
        return;
    tg_links_free(&blame->before);
    tg_blame_close_side(&blame->side[0]);
    tg_blame_close_side(&blame->side[1]);
    free(blame->task);
    free(blame->place);
    free(blame->rank);
    free(blame->depth);
    free(blame->todo);
    free(blame->next);
    free(blame->suspect);
    free(blame->step);
    free(blame->path);
    free(blame);
}

static const char *why_unknown(const struct tg_blame *blame)
{
    if (blame->n_suspects > 0)
        return "";
    if (blame->has_dead_end)
        return "an input differs, and neither deps.json nor addresses say which task wrote it";
    if (blame->has_unused && blame->wrong == 0)
        return "memory that no task had written differs before a task that changes it, and no "
               "output of the task shows it";
    return blame->wrong > 0 ? "the inputs of each wrong task explain it, and none is the first"
                            : "";
}

void tg_blame_get_info(const struct tg_blame *blame, struct tg_blame_info *info)
{
    if (blame == NULL || info == NULL)
        return;
    *info = (struct tg_blame_info){.graph = blame->graph,
                                   .suspects = blame->n_suspects,
                                   .inherited = blame->inherited,
                                   .wrong = blame->wrong,
                                   .unknown = why_unknown(blame)};
}

static struct tg_suspect_part part_of(const struct tg_blame *blame, uint64_t pair, int side)
{
    const struct tg_blame_side *of = &blame->side[side];
    struct tg_suspect_part part = {.name = "", .task = TG_NONE, .record = TG_NONE};
    struct tg_source source;
    if (pair == TG_NONE || !tg_source_of(of->sources, tg_blame_record(blame, pair, side), &source))
        return part;
    part.name = source.object ? source.object->name : "";
    part.first = source.low;
    part.last = source.high;
    if (source.row != TG_NO_ROW) {
        part.task = of->task_of[source.row];
        part.record = source.record;
    }
    return part;
}

static struct tg_suspect_step step_of(const struct tg_blame *blame, uint32_t task)
{
    uint64_t pair = blame->task[task].pair;
    const struct tg_pair_state *state = pair == TG_NONE ? NULL : &blame->diff->state[pair];
    return (struct tg_suspect_step){.task = task,
                                    .pair = pair,
                                    .ulp = state ? state->ulp : 0,
                                    .error = state ? (double)state->error : (double)NAN,
                                    .beyond = state && tg_diff_is_beyond(blame->diff, pair)};
}

enum { WITH_PATH = 100 };

bool tg_blame_get_suspect(const struct tg_blame *blame, uint64_t number, struct tg_suspect *suspect)
{
    if (blame == NULL || suspect == NULL)
        return false;
    if (number >= blame->n_suspects)
        return false;
    *suspect = blame->suspect[number];
    size_t length = 0;
    if (suspect->pair != TG_NONE && tg_diff_is_beyond(blame->diff, suspect->pair))
        suspect->left = suspect->pair;
    for (uint32_t task = (uint32_t)suspect->task; task != TG_NO_ROW;
         task = number < WITH_PATH ? blame->next[task] : TG_NO_ROW) {
        blame->path[length] = task;
        blame->step[length] = step_of(blame, task);
        if (blame->step[length].beyond && suspect->left == TG_NONE)
            suspect->left = blame->step[length].pair;
        length++;
    }
    suspect->part_a = part_of(blame, suspect->pair, 0);
    suspect->part_b = part_of(blame, suspect->pair, 1);
    suspect->path = blame->path;
    suspect->step = blame->step;
    suspect->n_path = length;
    return true;
}
