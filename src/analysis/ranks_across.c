/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors that must be the same on all ranks. Ranks with the same content form a class. Where there is a tolerance,
 * classes that are close to each other form a group. Being close is not transitive: of 0, 1 and 2 with a tolerance of
 * 1 the ends differ, and nobody can say which of them is wrong. So a group is only taken for right if more than half
 * of all ranks are in it and each of its classes is close to each other one; the ranks outside are odd then.
 */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/array.h>

#include "analysis/diff.h"
#include "analysis/ranks_sides.h"
#include "base/error.h"
#include "base/files.h"
#include "base/grow.h"
#include "recording/ranks.h"

/* One tensor: its record on each rank. */
struct tensor {
    bool is_there;
    struct tg_entry entry;
    uint32_t class; /* number of its class; UINT32_MAX: its content is not known */
};

/* Ranks that have the same content. */
struct class
{
    uint32_t rank;  /* one of them; if some have the values, one of those */
    uint32_t size;  /* ranks */
    uint32_t group; /* a class of its group that stands for all */
    uint32_t close; /* other classes that are surely close to it */
};

struct across {
    struct tg_rank_sides sides;
    const struct tg_diff_options *options;
    tg_ranks_same_fn tell;
    void *context;
    struct tg_ranks_sameness *sum;
    struct tensor *tensor; /* of each rank */
    struct class *class;   /* room for one of each rank */
    uint32_t n_classes;
    bool has_unclear; /* some classes may be close or not */
    bool has_pair;    /* two classes that differ: */
    uint32_t pair[2];
    bool is_over;
};

/* ── two ranks ─────────────────────────────────────────────────────────────────────────── */

static bool is_hashed(const struct tg_entry *entry)
{
    return (entry->record.flags & (TG_RECORD_HASHED | TG_RECORD_PARTIAL)) == TG_RECORD_HASHED;
}

static bool has_same_form(const struct tg_record *a, const struct tg_record *b)
{
    if (a->dtype != b->dtype || a->kind != b->kind || a->ndim != b->ndim)
        return false;
    return memcmp(a->shape, b->shape, a->ndim * sizeof a->shape[0]) == 0;
}

/* What a task that has not finished had written by then is not its result. */
static bool find_values(const struct across *x, uint32_t rank, struct tg_array *array)
{
    if (x->tensor[rank].entry.record.flags & TG_RECORD_PARTIAL)
        return false;
    return tg_array_of(x->sides.side[rank].recording, &x->tensor[rank].entry, array) && !array->cut;
}

static struct tg_tolerance tolerance_of(const struct across *x, uint32_t rank)
{
    static const struct tg_tolerance none;
    const struct tg_diff_options *options = x->options;
    return options
               ? tg_rules_tolerance(options->rules, options->n_rules, &x->tensor[rank].entry, none)
               : none;
}

static bool compare_values(const struct across *x, uint32_t a, uint32_t b,
                           struct tg_comparison *values)
{
    struct tg_array one, other;
    if (!find_values(x, a, &one) || !find_values(x, b, &other) || one.elements != other.elements)
        return false;
    struct tg_tolerance tolerance = tolerance_of(x, b);
    return tg_tensor_compare((int)one.dtype, one.bytes, other.bytes, one.elements, &tolerance,
                             x->options && x->options->equal_nan, values, NULL) == TG_OK;
}

/* SAME, DIFFERS or UNKNOWN. */
static enum tg_verdict compare_bits(const struct across *x, uint32_t a, uint32_t b)
{
    const struct tg_entry *one = &x->tensor[a].entry, *other = &x->tensor[b].entry;
    struct tg_comparison values;
    if (!has_same_form(&one->record, &other->record))
        return TG_VERDICT_DIFFERS;
    if (is_hashed(one) && is_hashed(other))
        return one->record.hash == other->record.hash ? TG_VERDICT_SAME : TG_VERDICT_DIFFERS;
    if (!compare_values(x, a, b, &values))
        return TG_VERDICT_UNKNOWN;
    return values.identical ? TG_VERDICT_SAME : TG_VERDICT_DIFFERS;
}

/* Of two ranks whose bits differ: CLOSE, DIFFERS or UNKNOWN. A relative error is relative to one of them, so that
 * both have to be close to the other. */
static enum tg_verdict compare_tolerantly(const struct across *x, uint32_t a, uint32_t b)
{
    struct tg_comparison values;
    struct tg_tolerance of_a = tolerance_of(x, a), of_b = tolerance_of(x, b);
    bool is_exact = of_a.absolute == 0 && of_a.relative == 0 && of_b.absolute == 0 &&
                    of_b.relative == 0 && !(x->options && x->options->equal_nan);
    if (is_exact || !has_same_form(&x->tensor[a].entry.record, &x->tensor[b].entry.record))
        return TG_VERDICT_DIFFERS;
    if (!compare_values(x, a, b, &values))
        return TG_VERDICT_UNKNOWN;
    if (values.mismatches == 0 && (of_a.relative > 0 || of_b.relative > 0))
        (void)compare_values(x, b, a, &values);
    return values.mismatches > 0 ? TG_VERDICT_DIFFERS : TG_VERDICT_CLOSE;
}

/* ── all ranks ─────────────────────────────────────────────────────────────────────────── */

/* Puts the rank into its class, or into one of its own. Does nothing if nothing can be said about it. */
static void classify(struct across *x, uint32_t rank)
{
    struct tg_array array;
    bool is_unclear = false;
    for (uint32_t c = 0; c < x->n_classes; c++) {
        struct class *class = &x->class[c];
        enum tg_verdict verdict = compare_bits(x, rank, class->rank);
        is_unclear |= verdict == TG_VERDICT_UNKNOWN;
        if (verdict != TG_VERDICT_SAME)
            continue;
        x->tensor[rank].class = c;
        class->size++;
        if (!find_values(x, class->rank, &array) && find_values(x, rank, &array))
            class->rank = rank;
        return;
    }
    if (is_unclear)
        return;
    x->tensor[rank].class = x->n_classes;
    x->class[x->n_classes] = (struct class){.rank = rank, .size = 1, .group = x->n_classes};
    x->n_classes++;
}

/* Hashes first: they can all be compared with each other. A rank that has only values then finds, in each class, a
 * rank that has them too, if there is one. Returns how many ranks are known. */
static uint32_t find_classes(struct across *x)
{
    struct tg_array array;
    uint32_t known = 0;
    x->n_classes = 0;
    for (uint32_t r = 0; r < x->sides.n; r++) {
        x->tensor[r].class = UINT32_MAX;
        if (x->tensor[r].is_there && is_hashed(&x->tensor[r].entry))
            classify(x, r);
    }
    for (uint32_t r = 0; r < x->sides.n; r++)
        if (x->tensor[r].is_there && !is_hashed(&x->tensor[r].entry) && find_values(x, r, &array))
            classify(x, r);
    for (uint32_t r = 0; r < x->sides.n; r++)
        known += x->tensor[r].class != UINT32_MAX;
    return known;
}

static uint32_t group_of(const struct across *x, uint32_t class)
{
    while (x->class[class].group != class)
        class = x->class[class].group;
    return class;
}

/* Classes that may be close belong to the same group, too: neither can be called odd beside the other. */
static void relate(struct across *x, uint32_t a, uint32_t b)
{
    enum tg_verdict verdict = compare_tolerantly(x, x->class[a].rank, x->class[b].rank);
    if (verdict == TG_VERDICT_DIFFERS) {
        if (!x->has_pair) {
            x->pair[0] = x->class[a].rank;
            x->pair[1] = x->class[b].rank;
        }
        x->has_pair = true;
        return;
    }
    x->has_unclear |= verdict == TG_VERDICT_UNKNOWN;
    x->class[a].close += verdict == TG_VERDICT_CLOSE;
    x->class[b].close += verdict == TG_VERDICT_CLOSE;
    uint32_t low = group_of(x, a), high = group_of(x, b);
    x->class[low > high ? low : high].group = low < high ? low : high;
}

static void find_groups(struct across *x)
{
    bool has_rules = x->options && (x->options->n_rules > 0 || x->options->equal_nan);
    x->has_unclear = x->has_pair = false;
    for (uint32_t a = 0; a < x->n_classes && (has_rules || !x->has_pair); a++)
        for (uint32_t b = a + 1; b < x->n_classes; b++)
            relate(x, a, b);
    for (uint32_t c = 0; c < x->n_classes; c++)
        x->class[c].group = group_of(x, c);
}

/* Whether these are most of all ranks, and all of them agree with each other. */
static bool is_usual(const struct across *x, uint32_t group)
{
    uint64_t ranks = 0, classes = 0;
    for (uint32_t c = 0; c < x->n_classes; c++)
        if (x->class[c].group == group) {
            ranks += x->class[c].size;
            classes++;
        }
    for (uint32_t c = 0; c < x->n_classes; c++)
        if (x->class[c].group == group && x->class[c].close + 1 != classes)
            return false;
    return 2 * ranks > x->sides.n;
}

/* Of ranks that differ. */
static void choose_odd(const struct across *x, struct tg_ranks_same *same)
{
    uint32_t usual = 0;
    while (usual < x->n_classes && (x->class[usual].group != usual || !is_usual(x, usual)))
        usual++;
    same->has_odd = usual < x->n_classes;
    same->odd = x->pair[0] > x->pair[1] ? x->pair[0] : x->pair[1];
    same->usual = x->pair[0] < x->pair[1] ? x->pair[0] : x->pair[1];
    if (!same->has_odd)
        return;
    same->usual = x->class[usual].rank;
    for (uint32_t r = x->sides.n; r-- > 0;) {
        uint32_t class = x->tensor[r].class;
        if (class == UINT32_MAX || x->class[class].group == usual)
            continue;
        same->odd = r;
        same->n_odd++;
    }
}

static void describe_difference(const struct across *x, struct tg_ranks_same *same)
{
    bool has_form =
        has_same_form(&x->tensor[same->odd].entry.record, &x->tensor[same->usual].entry.record);
    bool has_place = !same->has_values || same->values.mismatches > 0;
    const char *how = !has_form    ? " in type or shape"
                      : !has_place ? " in bits alone, as 0 and -0 do,"
                                   : "";
    if (same->has_odd)
        snprintf(same->text, sizeof same->text,
                 "rank %u is the odd one out: it differs%s from most ranks%s", same->odd, how,
                 same->n_odd > 1 ? ", and so do others" : "");
    else
        snprintf(same->text, sizeof same->text,
                 "ranks %u and %u differ%s; which of them is wrong is not known: no majority",
                 same->usual, same->odd, how);
}

/* Says why of the first rank that could not be read. */
static void describe_unknown(const struct across *x, struct tg_ranks_same *same)
{
    uint32_t r = 0;
    while (r < x->sides.n && x->sides.side[r].why.status == TG_OK)
        r++;
    int at = snprintf(same->text, sizeof same->text, "of %u of %u ranks its content is known",
                      same->known, x->sides.n);
    if (r < x->sides.n)
        snprintf(same->text + at, sizeof same->text - (size_t)at, "; rank %u: %.300s", r,
                 x->sides.side[r].why.text);
}

static void describe(const struct across *x, struct tg_ranks_same *same)
{
    char *text = same->text;
    size_t room = sizeof same->text;
    if (same->verdict == TG_VERDICT_DIFFERS)
        describe_difference(x, same);
    else if (same->verdict != TG_VERDICT_UNKNOWN)
        snprintf(text, room, "the same on all %u ranks%s", same->known,
                 same->verdict == TG_VERDICT_CLOSE ? ", within the tolerance" : "");
    else if (same->known < x->sides.n)
        describe_unknown(x, same);
    else
        snprintf(text, room,
                 "hashes differ, and the values of some ranks were not recorded: whether they are "
                 "within the tolerance is not known");
}

static void tell(struct across *x, const struct tg_ranks_same *same)
{
    x->sum->tensors++;
    x->sum->same += same->verdict == TG_VERDICT_SAME;
    x->sum->close += same->verdict == TG_VERDICT_CLOSE;
    x->sum->differ += same->verdict == TG_VERDICT_DIFFERS;
    x->sum->unknown += same->verdict == TG_VERDICT_UNKNOWN;
    x->is_over = x->tell && x->tell(x->context, same) != 0;
}

/* The form is that of the rank that is like most, or of the first that has the tensor. */
static void describe_form(const struct across *x, struct tg_ranks_same *same)
{
    uint32_t rank = same->usual;
    for (uint32_t r = 0; !x->tensor[rank].is_there && r < x->sides.n; r++)
        rank = r;
    if (!x->tensor[rank].is_there)
        return;
    const struct tg_record *record = &x->tensor[rank].entry.record;
    same->dtype = record->dtype;
    same->ndim = record->ndim;
    memcpy(same->shape, record->shape, sizeof same->shape);
}

/* Judges the tensor that x->tensor has; same->name is set. */
static void judge(struct across *x, struct tg_ranks_same *same)
{
    same->known = find_classes(x);
    find_groups(x);
    if (x->has_pair)
        same->verdict = TG_VERDICT_DIFFERS;
    else if (same->known < x->sides.n || x->has_unclear)
        same->verdict = TG_VERDICT_UNKNOWN;
    else
        same->verdict = x->n_classes > 1 ? TG_VERDICT_CLOSE : TG_VERDICT_SAME;
    if (same->verdict == TG_VERDICT_DIFFERS)
        choose_odd(x, same);
    describe_form(x, same);
    if (same->verdict == TG_VERDICT_DIFFERS &&
        has_same_form(&x->tensor[same->odd].entry.record, &x->tensor[same->usual].entry.record))
        same->has_values = compare_values(x, same->odd, same->usual, &same->values);
    describe(x, same);
    tell(x, same);
}

/* ── calls ─────────────────────────────────────────────────────────────────────────────── */

static bool shares_result(uint32_t kind)
{
    return kind == TG_COMM_ALL_REDUCE || kind == TG_COMM_ALL_GATHER || kind == TG_COMM_BROADCAST;
}

/* What a rank has after the call; the root of a broadcast may have only what it gave. */
static uint64_t result_record(const struct tg_rank_side *side, const struct tg_call *call)
{
    uint64_t index;
    if (!side->call || !tg_calls_index(side->calls, call->task, &index))
        return TG_NONE;
    const struct tg_rank_call *records = &side->call[index];
    bool is_root = call->kind == TG_COMM_BROADCAST && (uint32_t)call->peer == side->rank.rank;
    return records->out == TG_NONE && is_root ? records->in : records->out;
}

static void judge_call(struct across *x, const struct tg_call *call)
{
    struct tg_ranks_same same = {.verdict = TG_VERDICT_UNKNOWN};
    for (uint32_t r = 0; r < x->sides.n; r++) {
        struct tg_call own;
        const struct tg_rank_side *side = &x->sides.side[r];
        uint64_t record = tg_calls_collective(side->calls, call->number, &own) &&
                                  own.state == TG_CALL_DONE && own.kind == call->kind
                              ? result_record(side, &own)
                              : TG_NONE;
        x->tensor[r].is_there =
            record != TG_NONE && tg_recording_get(side->recording, record, &x->tensor[r].entry);
    }
    snprintf(same.name, sizeof same.name, "%s number %" PRIu64 "%s%.120s", tg_call_name(call->kind),
             call->number, *call->site ? " at " : "", call->site);
    judge(x, &same);
}

static bool is_first_with(const struct across *x, uint32_t rank, uint64_t number)
{
    for (uint32_t r = 0; r < rank; r++)
        if (tg_calls_collective(x->sides.side[r].calls, number, NULL))
            return false;
    return true;
}

/* A call of all ranks is in the file of each, so that one whole file tells of all of them. If there is none, the calls
 * that no file tells of may have other results. */
static void tell_gap(struct across *x)
{
    struct tg_ranks_same same = {.verdict = TG_VERDICT_UNKNOWN, .name = "calls that no file has"};
    uint32_t lacking = UINT32_MAX;
    for (uint32_t r = 0; r < x->sides.n; r++) {
        struct tg_calls_info info = {0};
        tg_calls_get_info(x->sides.side[r].calls, &info);
        if (info.is_complete)
            return;
        if (x->sides.side[r].calls && lacking == UINT32_MAX)
            lacking = r;
    }
    if (lacking == UINT32_MAX)
        return;
    snprintf(same.text, sizeof same.text,
             "no rank's " TG_CALLS_FILE " has all of its calls; rank %u: %s", lacking,
             x->sides.side[lacking].damaged > 0 ? "lines cannot be read" : "it has no end");
    tell(x, &same);
}

static void judge_calls(struct across *x)
{
    struct tg_call call;
    for (uint32_t r = 0; r < x->sides.n; r++)
        for (uint64_t i = 0; !x->is_over && tg_calls_get(x->sides.side[r].calls, i, &call); i++)
            if (shares_result(call.kind) && is_first_with(x, r, call.number))
                judge_call(x, &call);
    if (!x->is_over && x->sum->tensors > 0)
        tell_gap(x);
}

/* ── selected records ──────────────────────────────────────────────────────────────────── */

/* Records lie in the file as the cores made them, so their place is that of their task, stage and argument. */
struct place {
    uint64_t task, record;
    uint32_t stage, argument;
};

struct places {
    struct place *place;
    size_t count, room;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    if (x->argument != y->argument)
        return x->argument < y->argument ? -1 : 1;
    return x->record < y->record ? -1 : x->record > y->record;
}

static bool find_places(const struct tg_recording *recording, const struct tg_query *query,
                        struct places *places)
{
    struct tg_entry entry;
    for (uint64_t i = 0; recording && tg_query_next(query, recording, &i, &entry); i++) {
        const struct tg_record *record = &entry.record;
        if (!tg_grow(&places->place, &places->room, places->count + 1, sizeof *places->place))
            return false;
        places->place[places->count++] =
            (struct place){record->task_id, i, record->stage, record->arg_index};
    }
    if (places->count > 1)
        qsort(places->place, places->count, sizeof *places->place, compare_places);
    return true;
}

static const char *kernel_of(const struct tg_entry *entry)
{
    const char *kernel = "";
    for (int part = TG_PARTS - 1; part >= 0; part--)
        kernel = entry->kernel[part] ? entry->kernel[part] : kernel;
    return kernel;
}

static void name_record(const struct tg_entry *entry, char *name, size_t room)
{
    char task[48];
    snprintf(name, room, "task %s %.100s argument %u, %s",
             tg_task_words(entry->record.task_id, task), kernel_of(entry), entry->record.arg_index,
             tg_stage_name(entry->record.stage));
}

static bool is_same_place(const struct tg_entry *a, const struct tg_entry *b)
{
    return a->record.stage == b->record.stage && a->record.arg_index == b->record.arg_index &&
           strcmp(kernel_of(a), kernel_of(b)) == 0;
}

/* Where every recording lacks records, each may lack another one, although all have the same number of those that are
 * selected. A recording that lacks nothing says that the others lack none of these. */
static bool may_be_shifted(const struct across *x)
{
    for (uint32_t r = 0; r < x->sides.n; r++)
        if (x->sides.side[r].recording && tg_recording_is_whole(x->sides.side[r].recording))
            return false;
    return true;
}

/* The n-th that is selected on each rank. If they may be shifted, the n-th must be of the same task. */
static void judge_place(struct across *x, const struct places *places, size_t n, bool may_shift)
{
    struct tg_ranks_same same = {.verdict = TG_VERDICT_UNKNOWN};
    const struct tensor *first = NULL;
    uint32_t other = UINT32_MAX;
    for (uint32_t r = 0; r < x->sides.n; r++) {
        struct tensor *tensor = &x->tensor[r];
        tensor->is_there =
            n < places[r].count &&
            tg_recording_get(x->sides.side[r].recording, places[r].place[n].record, &tensor->entry);
        if (tensor->is_there && !first)
            first = tensor;
        else if (tensor->is_there && other == UINT32_MAX &&
                 (!is_same_place(&first->entry, &tensor->entry) ||
                  (may_shift && first->entry.record.task_id != tensor->entry.record.task_id)))
            other = r;
    }
    if (first)
        name_record(&first->entry, same.name, sizeof same.name);
    if (other == UINT32_MAX) {
        judge(x, &same);
        return;
    }
    int at = snprintf(same.text, sizeof same.text, "what belongs to it is not known: rank %u has ",
                      other);
    name_record(&x->tensor[other].entry, same.text + at, sizeof same.text - (size_t)at);
    tell(x, &same);
}

/* With different numbers of records the n-th ones need not belong together, and neither need those of the same task:
 * a rank that submits one task less has other ids from there on. */
static bool have_other_counts(const struct across *x, const struct places *places, uint32_t *a,
                              uint32_t *b)
{
    *a = 0;
    while (*a < x->sides.n && !x->sides.side[*a].recording)
        ++*a;
    for (*b = *a; *b < x->sides.n; ++*b)
        if (x->sides.side[*b].recording && places[*b].count != places[*a].count)
            return true;
    return false;
}

static void tell_counts(struct across *x, const struct places *places, uint32_t a, uint32_t b)
{
    struct tg_ranks_same same = {.verdict = TG_VERDICT_UNKNOWN, .name = "the selected records"};
    snprintf(
        same.text, sizeof same.text,
        "rank %u has %zu of them and rank %u has %zu; which belong together is not known: select "
        "those that all ranks have, such as with --task",
        a, places[a].count, b, places[b].count);
    tell(x, &same);
}

/* Where no recording is whole, there may have been more records that the query selects: unless it names tasks. */
static void tell_records_gap(struct across *x, const struct tg_query *query)
{
    struct tg_ranks_same same = {.verdict = TG_VERDICT_UNKNOWN,
                                 .name = "records that no recording has"};
    struct tg_recording_info info;
    struct tg_note note;
    uint64_t first, last;
    uint32_t r = 0;
    if (tg_query_get_range(query, "task", 0, &first, &last))
        return;
    while (!x->sides.side[r].recording)
        r++;
    tg_recording_get_info(x->sides.side[r].recording, &info);
    if (tg_recording_note(&info, 0, &note))
        snprintf(same.text, sizeof same.text, "rank %u: %.400s", r, note.text);
    tell(x, &same);
}

static void judge_places(struct across *x, const struct tg_query *query,
                         const struct places *places, size_t most)
{
    uint32_t a, b;
    if (most > 0 && have_other_counts(x, places, &a, &b)) {
        tell_counts(x, places, a, b);
        return;
    }
    bool may_shift = most > 0 && may_be_shifted(x);
    for (size_t n = 0; n < most && !x->is_over; n++)
        judge_place(x, places, n, may_shift);
    if (may_shift && !x->is_over)
        tell_records_gap(x, query);
}

static bool judge_selected(struct across *x, const struct tg_query *query)
{
    struct places *places = calloc(x->sides.n, sizeof *places);
    bool is_good = places != NULL;
    size_t most = 0;
    for (uint32_t r = 0; is_good && r < x->sides.n; r++) {
        is_good = find_places(x->sides.side[r].recording, query, &places[r]);
        most = places[r].count > most ? places[r].count : most;
    }
    if (is_good)
        judge_places(x, query, places, most);
    for (uint32_t r = 0; places && r < x->sides.n; r++)
        free(places[r].place);
    free(places);
    return is_good;
}

/* ── the call ──────────────────────────────────────────────────────────────────────────── */

static tg_status run(struct across *x, const struct tg_query *query, struct tg_error *error)
{
    if (x->sides.n < 2)
        return tg_error_set(error, TG_NOT_FOUND,
                            "the run has one rank, and nothing to compare it with");
    x->tensor = calloc(x->sides.n, sizeof *x->tensor);
    x->class = calloc(x->sides.n, sizeof *x->class);
    bool is_good = x->tensor && x->class;
    if (is_good && tg_query_is_empty(query))
        judge_calls(x);
    else if (is_good)
        is_good = judge_selected(x, query);
    free(x->tensor);
    free(x->class);
    if (!is_good)
        return tg_file_no_memory(error);
    if (x->sum->tensors > 0)
        return TG_OK;
    return tg_error_set(
        error, TG_NOT_FOUND, "%s",
        tg_query_is_empty(query)
            ? "no rank has a result of tg_all_reduce, tg_broadcast or tg_all_gather "
              "in its comm.jsonl; select records with --kernel, --task or --arg"
            : "no record matches on any rank");
}

tg_status tg_ranks_across(const struct tg_ranks *ranks, const struct tg_query *query,
                          const struct tg_diff_options *options, tg_ranks_same_fn tell,
                          void *context, struct tg_ranks_sameness *sameness, struct tg_error *error)
{
    TG_REFUSE_NULL(error, ranks);
    struct tg_ranks_sameness unread;
    struct across x = {
        .options = options, .tell = tell, .context = context, .sum = sameness ? sameness : &unread};
    *x.sum = (struct tg_ranks_sameness){0};
    tg_status status = tg_rank_sides_open(ranks, true, &x.sides, error);
    if (status == TG_OK)
        status = run(&x, query, error);
    if (status == TG_OK)
        status = tg_rank_sides_check(&x.sides, error);
    tg_rank_sides_close(&x.sides);
    return status;
}
