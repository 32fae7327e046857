/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/tensor.h>
#include <taskglass/wire/stream.h>

#include "base/error.h"
#include "recording/reader.h"

/* --- words ------------------------------------------------------------------------------------ */

const char *tg_verdict_name(unsigned verdict)
{
    static const char *const names[] = {"same", "close", "differs", "unknown"};
    return verdict < TG_VERDICTS ? names[verdict] : "?";
}

const char *tg_reason_name(unsigned reason)
{
#define WORD(constant, word, verdict, meaning) word,
    static const char *const words[] = {TG_REASON_MAP(WORD)};
#undef WORD
    return reason < TG_REASONS ? words[reason] : "?";
}

const char *tg_reason_text(unsigned reason)
{
#define MEANING(constant, word, verdict, meaning) meaning,
    static const char *const meanings[] = {TG_REASON_MAP(MEANING)};
#undef MEANING
    return reason < TG_REASONS ? meanings[reason] : "?";
}

/* --- opening ---------------------------------------------------------------------------------- */

static bool get(const struct tg_tasks *side, uint64_t record, struct tg_entry *entry)
{
    return record != TG_NONE && tg_recording_get(side->recording, record, entry);
}

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "no memory to compare two recordings");
}

static tg_status take_options(struct tg_diff *diff, const struct tg_diff_options *options,
                              struct tg_error *error)
{
    if (!options)
        return TG_OK;
    if (options->n_rules > 0)
        TG_REFUSE_NULL_AS(error, options->rules, "options->rules");
    diff->equal_nan = options->equal_nan;
    diff->progress = options->progress;
    diff->context = options->context;
    diff->rule = calloc(options->n_rules + 1, sizeof *diff->rule);
    if (!diff->rule)
        return no_memory(error);
    if (options->n_rules > 0)
        memcpy(diff->rule, options->rules, options->n_rules * sizeof *diff->rule);
    diff->n_rules = options->n_rules;
    return TG_OK;
}

/* True if the two records are equal by what they say of themselves: the same stage, type, shape, hash
 * and place. That is so for most pairs, so it is found without a copy of the records, which were
 * checked when the tasks were read. */
static bool is_equal_at_once(const struct tg_diff *diff, const struct tg_matched_pair *pair)
{
    const struct tg_record *a =
        pair->a == TG_NONE ? NULL : tg_recording_at(diff->a.recording, pair->a);
    const struct tg_record *b =
        pair->b == TG_NONE ? NULL : tg_recording_at(diff->b.recording, pair->b);
    if (!a || !b || a->kind != TG_KIND_TENSOR || b->kind != TG_KIND_TENSOR ||
        a->stage != b->stage || a->stage >= TG_STAGE_ORCHESTRATION)
        return false;
    if (!(a->flags & b->flags & TG_RECORD_HASHED) || a->hash != b->hash ||
        ((a->flags | b->flags) & TG_RECORD_PARTIAL))
        return false;
    if (a->dtype != b->dtype || tg_bits_of(a->dtype) == 0 || a->ndim != b->ndim ||
        a->ndim > TG_MAX_DIMS || a->start != b->start)
        return false;
    for (unsigned i = 0; i < a->ndim; i++)
        if (a->shape[i] <= 0 || a->shape[i] != b->shape[i] || a->strides[i] != b->strides[i])
            return false;
    if (a->stage != TG_AFTER_COMPLETION)
        return true;
    const struct tg_object *of_a = tg_sources_object(&diff->source_a, a->data_ptr);
    const struct tg_object *of_b = tg_sources_object(&diff->source_b, b->data_ptr);
    return (!of_a && !of_b) || (of_a && of_b && tg_object_is(of_a, of_b) &&
                                a->data_ptr - of_a->address == b->data_ptr - of_b->address);
}

static tg_status make_states(struct tg_diff *diff, struct tg_error *error)
{
    struct tg_entry a, b;
    diff->state = malloc((size_t)(diff->match.n_pairs + 1) * sizeof *diff->state);
    if (!diff->state)
        return no_memory(error);
    for (uint64_t i = 0; i < diff->match.n_pairs; i++) {
        const struct tg_matched_pair *pair = &diff->match.pair[i];
        diff->state[i] = (struct tg_pair_state){
            .reason = TG_REASON_NOT_COMPARED, .verdict = TG_VERDICT_UNKNOWN, .error = (float)NAN};
        if (is_equal_at_once(diff, pair))
            continue;
        if (get(&diff->a, pair->a, &a) && get(&diff->b, pair->b, &b))
            diff->payload_bytes += tg_diff_bytes(&a, &b);
    }
    return TG_OK;
}

/* Uses the kernels' names if both sides have them, otherwise their numbers. */
static tg_status name_tasks(struct tg_diff *diff, struct tg_error *error)
{
    bool by_number = !diff->a.has_names || !diff->b.has_names;
    if (tg_tasks_name(&diff->a, by_number, &diff->names) &&
        tg_tasks_name(&diff->b, by_number, &diff->names))
        return TG_OK;
    return no_memory(error);
}

struct side_job {
    const struct tg_recording *recording;
    struct tg_tasks *tasks;
    tg_status status;
    struct tg_error error;
};

static void *open_side(void *context)
{
    struct side_job *job = context;
    job->status = tg_tasks_open(job->recording, job->tasks, &job->error);
    return NULL;
}

/* Reads both recordings at the same time if they are large; neither needs anything of the other. */
static tg_status open_sides(struct tg_diff *diff, const struct tg_recording *a,
                            const struct tg_recording *b, struct tg_error *error)
{
    enum { WORTH_A_THREAD = 10000 };
    struct side_job job = {.recording = b, .tasks = &diff->b};
    struct tg_recording_info info;
    pthread_t thread;
    tg_recording_get_info(b, &info);
    bool is_apart =
        info.records > WORTH_A_THREAD && pthread_create(&thread, NULL, open_side, &job) == 0;
    tg_status status = tg_tasks_open(a, &diff->a, error);
    if (is_apart)
        (void)pthread_join(thread, NULL);
    else
        (void)open_side(&job);
    if (status == TG_OK && job.status != TG_OK && error)
        *error = job.error;
    return status == TG_OK ? job.status : status;
}

tg_status tg_diff_open(const struct tg_recording *a, const struct tg_recording *b,
                       const struct tg_diff_options *options, struct tg_diff **diff,
                       struct tg_error *error)
{
    TG_REFUSE_NULL(error, a);
    TG_REFUSE_NULL(error, b);
    TG_REFUSE_NULL(error, diff);
    struct tg_diff *d = calloc(1, sizeof *d);
    *diff = NULL;
    if (!d)
        return no_memory(error);
    tg_status status = take_options(d, options, error);
    if (status == TG_OK)
        status = open_sides(d, a, b, error);
    if (status == TG_OK)
        status = name_tasks(d, error);
    if (status == TG_OK)
        status = tg_sources_open(&d->a, &d->source_a, error);
    if (status == TG_OK)
        status = tg_sources_open(&d->b, &d->source_b, error);
    if (status == TG_OK)
        status = tg_match_make(&d->source_a, &d->source_b, &d->match, error);
    if (status == TG_OK)
        status = make_states(d, error);
    if (status == TG_OK)
        tg_diff_compare_reads(d);
    status = tg_recording_conclude(a, status, error);
    status = tg_recording_conclude(b, status, error);
    if (status == TG_OK)
        *diff = d;
    else
        tg_diff_close(d);
    return status;
}

void tg_diff_close(struct tg_diff *diff)
{
    if (!diff)
        return;
    tg_match_free(&diff->match);
    tg_sources_close(&diff->source_a);
    tg_sources_close(&diff->source_b);
    tg_tasks_close(&diff->a);
    tg_tasks_close(&diff->b);
    tg_names_free(&diff->names);
    free(diff->state);
    free(diff->rule);
    free(diff->known);
    tg_noise_free(&diff->noise);
    free(diff->edge);
    tg_places_free(&diff->places[0]);
    tg_places_free(&diff->places[1]);
    free(diff);
}

/* --- asking ----------------------------------------------------------------------------------- */

void tg_diff_get_info(const struct tg_diff *diff, struct tg_diff_info *info)
{
    if (diff == NULL || info == NULL)
        return;
    const struct tg_match *match = &diff->match;
    const char *wrong = diff->a.deps_error.text;
    *info = (struct tg_diff_info){.matched_by = match->how,
                                  .tasks = match->n_tasks,
                                  .matched = match->matched,
                                  .only_a = match->only_a,
                                  .only_b = match->only_b,
                                  .renamed = match->renamed,
                                  .fused = match->fused,
                                  .parts_a = match->parts_a,
                                  .parts_b = match->parts_b,
                                  .pairs = match->n_pairs,
                                  .payload_bytes = diff->payload_bytes,
                                  .damaged_a = diff->a.damaged,
                                  .damaged_b = diff->b.damaged,
                                  .deps_a = diff->a.deps != NULL,
                                  .deps_b = diff->b.deps != NULL,
                                  .noise_runs = diff->noise.runs,
                                  .deps_error = *wrong ? wrong : diff->b.deps_error.text};
}

bool tg_diff_get_task(const struct tg_diff *diff, uint64_t number, struct tg_diff_task *task)
{
    if (diff == NULL || task == NULL)
        return false;
    if (number >= diff->match.n_tasks)
        return false;
    const struct tg_matched_task *matched = &diff->match.task[number];
    const struct tg_task_row *a = matched->a == TG_NO_ROW ? NULL : &diff->a.row[matched->a];
    const struct tg_task_row *b = matched->b == TG_NO_ROW ? NULL : &diff->b.row[matched->b];
    *task =
        (struct tg_diff_task){.in_a = a != NULL,
                              .in_b = b != NULL,
                              .id_a = a ? a->id : TG_TASK_NONE,
                              .id_b = b ? b->id : TG_TASK_NONE,
                              .kernel = a   ? a->kernel
                                        : b ? b->kernel
                                            : "",
                              .kernel_b = b   ? b->kernel
                                          : a ? a->kernel
                                              : "",
                              .fused = matched->is_fused,
                              .part_of = matched->part_of == TG_NO_ROW ? TG_NONE : matched->part_of,
                              .records_a = a ? a->count : 0,
                              .records_b = b ? b->count : 0,
                              .first_pair = matched->first_pair,
                              .pairs = matched->n_pairs};
    return true;
}

bool tg_diff_get_pair(const struct tg_diff *diff, uint64_t number, struct tg_diff_pair *pair)
{
    if (diff == NULL || pair == NULL)
        return false;
    if (number >= diff->match.n_pairs)
        return false;
    const struct tg_matched_pair *matched = &diff->match.pair[number];
    *pair = (struct tg_diff_pair){matched->task, matched->a, matched->b};
    return true;
}

/* The relative error of the finite values as vectors; infinite if some are not finite. */
static float error_of(const struct tg_diff_result *result)
{
    if (result->verdict == TG_VERDICT_UNKNOWN)
        return (float)NAN;
    if (result->verdict == TG_VERDICT_SAME)
        return 0;
    if (!result->has_values || result->values.special > 0)
        return (float)INFINITY;
    return (float)pow(10, -result->values.sqnr / 20);
}

static bool is_partial(const struct tg_entry *entry)
{
    return entry->record.flags & TG_RECORD_PARTIAL;
}

/* Stored parts with other bits, or other hashes, are enough to know that two records disagree. What
 * a task that had not finished left behind says nothing. */
static enum tg_agreement agreement_of(const struct tg_diff_result *result, bool equal_nan,
                                      const struct tg_entry *a, const struct tg_entry *b)
{
    const struct tg_comparison *values = &result->values;
    if (!a || !b || is_partial(a) || is_partial(b))
        return TG_AGREEMENT_UNKNOWN;
    if (result->verdict == TG_VERDICT_SAME || result->reason == TG_REASON_NOISE ||
        (result->reason == TG_REASON_PLACE && a->record.hash == b->record.hash))
        return TG_AGREES;
    /* Only the bits of NaN differ, and the caller calls them equal. */
    if (equal_nan && result->verdict == TG_VERDICT_CLOSE && result->has_values &&
        values->nan_a > 0 && values->max_abs_at.element == TG_NONE)
        return TG_AGREES;
    if (result->verdict != TG_VERDICT_UNKNOWN || result->reason == TG_REASON_OTHER_HASH)
        return TG_DISAGREES;
    bool has_other_hash =
        (a->record.flags & b->record.flags & TG_RECORD_HASHED) && a->record.hash != b->record.hash;
    bool has_other_values = result->has_values && !result->values.identical;
    return has_other_hash || has_other_values ? TG_DISAGREES : TG_AGREEMENT_UNKNOWN;
}

enum tg_agreement tg_diff_agreement(const struct tg_diff *diff, uint64_t pair)
{
    return (enum tg_agreement)diff->state[pair].agreement;
}

bool tg_diff_is_beyond(const struct tg_diff *diff, uint64_t pair)
{
    const struct tg_pair_state *state = &diff->state[pair];
    return state->reason != TG_REASON_PLACE && state->agreement == TG_DISAGREES &&
           (state->verdict == TG_VERDICT_DIFFERS || state->verdict == TG_VERDICT_UNKNOWN);
}

static void call_equal(struct tg_diff *diff, uint64_t number, struct tg_diff_result *result)
{
    const struct tg_matched_pair *pair = &diff->match.pair[number];
    memset(result, 0, sizeof *result);
    result->floor = (double)NAN;
    result->tolerance = tg_tolerance_default(tg_recording_at(diff->a.recording, pair->a)->dtype);
    result->reason = TG_REASON_HASH;
    result->verdict = TG_VERDICT_SAME;
    diff->state[number] = (struct tg_pair_state){
        .reason = TG_REASON_HASH, .verdict = TG_VERDICT_SAME, .agreement = TG_AGREES};
}

bool tg_diff_compare(struct tg_diff *diff, uint64_t number, struct tg_diff_result *result)
{
    if (diff == NULL || result == NULL)
        return false;
    struct tg_entry a, b;
    if (number >= diff->match.n_pairs)
        return false;
    const struct tg_matched_pair *pair = &diff->match.pair[number];
    if (diff->n_rules == 0 && diff->noise.runs == 0 && is_equal_at_once(diff, pair)) {
        call_equal(diff, number, result);
        return true;
    }
    bool has_a = get(&diff->a, pair->a, &a), has_b = get(&diff->b, pair->b, &b);
    tg_diff_compare_entries(diff, has_a ? &a : NULL, has_b ? &b : NULL,
                            tg_noise_floor(&diff->noise, pair->b), result);
    bool agrees = result->verdict == TG_VERDICT_SAME || result->verdict == TG_VERDICT_CLOSE;
    if (agrees && has_a && has_b && tg_place_differs(diff, &a, &b)) {
        result->reason = TG_REASON_PLACE;
        result->verdict = TG_VERDICT_DIFFERS;
    }
    diff->state[number] =
        (struct tg_pair_state){.reason = (uint8_t)result->reason,
                               .verdict = (uint8_t)result->verdict,
                               .agreement = (uint8_t)agreement_of(
                                   result, diff->equal_nan, has_a ? &a : NULL, has_b ? &b : NULL),
                               .is_scalar = (has_a ? &a : &b)->record.kind == TG_KIND_SCALAR,
                               .error = error_of(result),
                               .ulp = result->has_values ? result->values.max_ulp : 0};
    if (has_a && has_b)
        diff->done += tg_diff_bytes(&a, &b);
    if (diff->progress)
        diff->progress(diff->context, diff->done, diff->payload_bytes);
    return true;
}

enum tg_reason tg_diff_reason(const struct tg_diff *diff, uint64_t number, enum tg_verdict *verdict)
{
    if (diff == NULL)
        return TG_REASON_NOT_COMPARED;
    bool is_there = number < diff->match.n_pairs;
    if (verdict)
        *verdict = is_there ? diff->state[number].verdict : TG_VERDICT_UNKNOWN;
    return is_there ? diff->state[number].reason : TG_REASON_NOT_COMPARED;
}

/* --- in all ----------------------------------------------------------------------------------- */

static bool has_lost(const struct tg_recording_info *info)
{
    uint64_t lost = 0;
    for (int i = 0; i < TG_LOSS_CAUSES; i++)
        lost += info->summary.lost[i];
    return lost > 0;
}

/* True if the run did not end by itself, so that tasks that it lacks prove nothing. */
static bool is_cut_short(const struct tg_tasks *side)
{
    uint32_t state = side->info.state;
    return state != TG_RECORDING_FINISHED && state != TG_RECORDING_UNKNOWN;
}

bool tg_diff_has_all_tasks(const struct tg_tasks *side)
{
    if (is_cut_short(side))
        return false;
    if (side->deps)
        return side->deps->lost == 0;
    return side->info.complete && !has_lost(&side->info) && side->damaged == 0 &&
           side->info.level != TG_LEVEL_MARKED;
}

static uint32_t gaps_of(const struct tg_tasks *side, uint32_t missing)
{
    uint32_t gaps = 0;
    gaps |= side->info.complete ? 0 : TG_GAP_INCOMPLETE_A;
    gaps |= has_lost(&side->info) ? TG_GAP_LOST_A : 0;
    gaps |= side->damaged > 0 ? TG_GAP_DAMAGED_A : 0;
    gaps |= is_cut_short(side) ? TG_GAP_ENDED_A : 0;
    gaps |= missing > 0 && !tg_diff_has_all_tasks(side) ? TG_GAP_TASKS_A : 0;
    return gaps;
}

static enum tg_verdict verdict_of(const struct tg_diff_summary *summary)
{
    /* Reads count where everything was compared. A recording without them may be an old one. */
    const uint64_t none[TG_VERDICTS] = {0};
    const uint64_t *reads = summary->not_compared == 0 ? summary->reads : none;
    if (summary->pairs[TG_VERDICT_DIFFERS] > 0 || summary->graphs_differ ||
        reads[TG_VERDICT_DIFFERS] > 0)
        return TG_VERDICT_DIFFERS;
    uint64_t settled = summary->not_compared + (summary->nothing ? 0 : summary->not_hashed);
    if (summary->pairs[TG_VERDICT_UNKNOWN] > settled || summary->gaps)
        return TG_VERDICT_UNKNOWN;
    return summary->pairs[TG_VERDICT_CLOSE] + reads[TG_VERDICT_CLOSE] > 0 ? TG_VERDICT_CLOSE
                                                                          : TG_VERDICT_SAME;
}

/* True if no argument of a task could be compared, although tasks match and one side says why it has
 * none: what the orchestrations were given says little about the tasks. */
static bool has_no_task(const struct tg_diff *diff)
{
    const struct tg_match *match = &diff->match;
    for (uint64_t i = 0; i < match->n_pairs; i++) {
        const struct tg_matched_task *task = &match->task[match->pair[i].task];
        uint64_t id = task->a != TG_NO_ROW ? diff->a.row[task->a].id : diff->b.row[task->b].id;
        if (id != TG_TASK_NONE)
            return false;
    }
    return match->matched > 0 &&
           (tg_recording_why_empty(diff->a.recording) || tg_recording_why_empty(diff->b.recording));
}

void tg_diff_summarize(const struct tg_diff *diff, struct tg_diff_summary *summary)
{
    if (diff == NULL || summary == NULL)
        return;
    const struct tg_match *match = &diff->match;
    uint64_t tensors = 0, known = 0;
    *summary = (struct tg_diff_summary){0};
    memcpy(summary->reads, diff->reads, sizeof summary->reads);
    for (uint64_t i = 0; i < match->n_pairs; i++) {
        const struct tg_pair_state *state = &diff->state[i];
        bool is_tensor = !state->is_scalar && state->reason != TG_REASON_NOT_COMPARED &&
                         state->reason != TG_REASON_METADATA;
        summary->pairs[state->verdict]++;
        summary->not_compared += state->reason == TG_REASON_NOT_COMPARED;
        summary->not_hashed += state->reason == TG_REASON_NOT_HASHED;
        tensors += is_tensor;
        known += is_tensor &&
                 (state->verdict != TG_VERDICT_UNKNOWN || state->reason == TG_REASON_OTHER_HASH ||
                  state->reason == TG_REASON_CUT || state->reason == TG_REASON_UNFINISHED);
    }
    summary->nothing = tensors > 0 && known == 0;
    /* The bits of B are those of A, shifted left by one. */
    summary->gaps = gaps_of(&diff->a, match->only_b) | gaps_of(&diff->b, match->only_a) << 1;
    summary->graphs_differ = (match->only_b > 0 && tg_diff_has_all_tasks(&diff->a)) ||
                             (match->only_a > 0 && tg_diff_has_all_tasks(&diff->b));
    summary->verdict = verdict_of(summary);
    if (summary->verdict != TG_VERDICT_DIFFERS && has_no_task(diff)) {
        summary->nothing = true;
        summary->verdict = TG_VERDICT_UNKNOWN;
    }
}
