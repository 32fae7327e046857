/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One device against many: a whole tensor beside its parts. A block of a rank is compared with the same
 * region of the whole, so that blocks need not be put together; only parts that are summands are.
 */
#define _GNU_SOURCE 1
#include "analysis/ranks_shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

#include "analysis/diff.h"
#include "analysis/ranks_sides.h"
#include "base/error.h"
#include "base/files.h"

struct comparing {
    const struct tg_recording *one;
    struct tg_rank_sides sides;
    const struct tg_diff_options *options;
    const struct tg_shard *shard;
    struct tg_selected whole, *part; /* of the one device; of each rank */
    struct tg_block *block;          /* of each rank, for the tensor at hand */
    tg_shard_fn tell;
    void *context;
    struct tg_ranks_sameness *sum;
    bool is_over;
};

/* ── regions ───────────────────────────────────────────────────────────────────────────── */

/* Copies a region of the whole, packed. NULL if memory ran out. */
static void *copy_region(const struct tg_block *whole, const int64_t *offset,
                         const struct tg_block *part)
{
    unsigned bits = tg_bits_of(whole->dtype);
    int64_t at[TG_MAX_DIMS] = {0}, row = part->ndim > 0 ? part->shape[part->ndim - 1] : 1;
    char *copy = calloc(((size_t)part->elements * bits + 7) / 8 + 1, 1);
    for (int64_t i = 0; copy && row > 0 && i < part->elements; i += row) {
        int64_t from = 0;
        for (int d = 0; d < part->ndim; d++)
            from = from * whole->shape[d] + offset[d] + at[d];
        if (bits % 8 == 0)
            memcpy(copy + (size_t)i * (bits / 8),
                   (const char *)whole->bytes + (size_t)from * (bits / 8),
                   (size_t)row * (bits / 8));
        for (int64_t k = 0; bits % 8 != 0 && k < row; k++)
            tg_store_bits(whole->dtype, copy, i + k,
                          tg_load_bits(whole->dtype, whole->bytes, from + k));
        for (int d = part->ndim - 2; d >= 0 && ++at[d] == part->shape[d]; d--)
            at[d] = 0;
    }
    return copy;
}

/* ── results ───────────────────────────────────────────────────────────────────────────── */

/* What is being found out about one tensor. */
struct finding {
    struct tg_shard_result result;
    size_t number;
    struct tg_block whole;
    uint32_t n_unknown; /* ranks; result.text says why of the first */
};

/* Of the tensor as a whole. */
static void unknown(struct finding *finding, const char *why)
{
    finding->result.verdict = TG_VERDICT_UNKNOWN;
    snprintf(finding->result.text, sizeof finding->result.text, "%s", why);
}

/* Of the part of a rank; the others are compared all the same. */
static void unknown_of_rank(struct finding *finding, uint32_t rank, const char *why)
{
    if (finding->n_unknown++ == 0)
        snprintf(finding->result.text, sizeof finding->result.text, "rank %u: %.400s", rank, why);
}

/* What was found to differ does, whatever else is not known. */
static void settle(struct finding *finding)
{
    struct tg_shard_result *result = &finding->result;
    if (finding->n_unknown == 0)
        return;
    if (result->verdict != TG_VERDICT_DIFFERS)
        result->verdict = TG_VERDICT_UNKNOWN;
    size_t used = strlen(result->text);
    uint32_t more = finding->n_unknown - 1;
    if (more > 0)
        snprintf(result->text + used, sizeof result->text - used, " (and %u more rank%s)", more,
                 more == 1 ? "" : "s");
}

/* Adds the comparison of a part that begins at `offset`. True if the first mismatch is in it. */
static bool add_values(const struct comparing *c, struct finding *finding,
                       const struct tg_comparison *values, const struct tg_block *part,
                       const int64_t *offset)
{
    struct tg_shard_result *result = &finding->result;
    result->mismatches += values->mismatches;
    result->max_abs = values->max_abs > result->max_abs ? values->max_abs : result->max_abs;
    if (values->mismatches > 0)
        result->verdict = TG_VERDICT_DIFFERS;
    else if (!values->identical && result->verdict == TG_VERDICT_SAME)
        result->verdict = TG_VERDICT_CLOSE;
    if (result->has_first || values->n_first == 0)
        return false;
    int64_t element = (int64_t)values->first[0].element, in_whole = 0;
    result->has_first = true;
    result->one = values->first[0].a;
    result->many = values->first[0].b;
    for (int d = part->ndim - 1; d >= 0; d--) {
        result->first[d] = offset[d] + element % part->shape[d];
        element /= part->shape[d];
    }
    for (int d = 0; d < part->ndim; d++)
        in_whole = in_whole * finding->whole.shape[d] + result->first[d];
    result->task_one = tg_selected_task(&c->whole, finding->number, in_whole);
    return true;
}

static struct tg_tolerance tolerance_of(const struct comparing *c, const struct tg_entry *entry)
{
    struct tg_tolerance usual = tg_tolerance_default(entry->record.dtype);
    return c->options ? tg_rules_tolerance(c->options->rules, c->options->n_rules, entry, usual)
                      : usual;
}

static bool compare_values(const struct comparing *c, const struct tg_block *whole, const void *one,
                           const struct tg_block *part, const void *many,
                           struct tg_comparison *values)
{
    struct tg_tolerance tolerance = tolerance_of(c, &whole->entry);
    return tg_tensor_compare((int)part->dtype, one, many, part->elements, &tolerance,
                             c->options && c->options->equal_nan, values, NULL) == TG_OK;
}

/* ── split and replicated ──────────────────────────────────────────────────────────────── */

static void compare_block(const struct comparing *c, const struct tg_shard_places *places,
                          uint32_t rank, struct finding *finding)
{
    int64_t offset[TG_MAX_DIMS] = {0};
    struct tg_comparison values;
    const struct tg_block *whole = &finding->whole, *part = &c->block[rank];
    const char *why = tg_shard_places_get(places, whole, part, rank, offset);
    if (why)
        unknown_of_rank(finding, rank, why);
    if (why || part->elements == 0)
        return;
    void *region = copy_region(whole, offset, part);
    if (!region || !compare_values(c, whole, region, part, part->bytes, &values)) {
        unknown_of_rank(finding, rank, "out of memory");
    } else if (add_values(c, finding, &values, part, offset)) {
        struct tg_shard_result *result = &finding->result;
        result->has_rank = true;
        result->rank = rank;
        result->task_rank =
            tg_selected_task(&c->part[rank], finding->number, (int64_t)values.first[0].element);
    }
    free(region);
}

static void compare_blocks(const struct comparing *c, struct finding *finding)
{
    struct tg_shard_places places;
    const char *why =
        tg_shard_places_find(c->shard, &finding->whole, c->block, c->sides.n, &places);
    if (why && finding->n_unknown == 0)
        unknown(finding, why);
    for (uint32_t r = 0; r < c->sides.n && !why; r++)
        if (c->block[r].is_there)
            compare_block(c, &places, r, finding);
    tg_shard_places_free(&places);
}

/* ── summands ──────────────────────────────────────────────────────────────────────────── */

/* A sum of some of the ranks says nothing. */
static void compare_partial(const struct comparing *c, struct finding *finding)
{
    const struct tg_shard_places places = {.shard = c->shard};
    const struct tg_block *whole = &finding->whole;
    int64_t origin[TG_MAX_DIMS] = {0};
    struct tg_comparison values;
    for (uint32_t r = 0; r < c->sides.n; r++) {
        const char *why = c->block[r].is_there
                              ? tg_shard_places_get(&places, whole, &c->block[r], r, origin)
                              : NULL;
        if (why)
            unknown_of_rank(finding, r, why);
    }
    if (finding->n_unknown > 0)
        return;
    void *all = tg_parts_reduce(c->block, c->sides.n, c->shard->operation);
    if (!all || !compare_values(c, whole, whole->bytes, whole, all, &values))
        unknown(finding, "out of memory");
    else
        add_values(c, finding, &values, whole, origin);
    free(all);
}

/* ── one tensor ────────────────────────────────────────────────────────────────────────── */

/* False if the tensor of the one device cannot be had. */
static bool load_whole(const struct comparing *c, struct finding *finding)
{
    struct tg_shard_result *result = &finding->result;
    struct tg_block *whole = &finding->whole;
    const char *why = tg_selected_get(&c->whole, finding->number, whole);
    size_t count = tg_selected_count(&c->whole);
    result->task_one = whole->entry.record.task_id;
    result->dtype = whole->dtype;
    result->ndim = whole->ndim;
    memcpy(result->shape, whole->shape, sizeof result->shape);
    if (why)
        unknown(finding, why);
    for (uint32_t r = 0; finding->number >= count && r < c->sides.n; r++)
        if (tg_selected_count(&c->part[r]) > finding->number) {
            snprintf(result->text, sizeof result->text,
                     "the one device has %zu such tensor%s, and rank %u has %zu", count,
                     count == 1 ? "" : "s", r, tg_selected_count(&c->part[r]));
            break;
        }
    return !why;
}

static void load_parts(struct comparing *c, struct finding *finding)
{
    for (uint32_t r = 0; r < c->sides.n; r++) {
        const char *why = c->sides.side[r].recording
                              ? tg_selected_get(&c->part[r], finding->number, &c->block[r])
                              : c->sides.side[r].why.text;
        if (why)
            unknown_of_rank(finding, r, why);
    }
}

static void compare_tensor(struct comparing *c, size_t number)
{
    struct finding finding = {.number = number,
                              .result = {.shard = c->shard,
                                         .number = number,
                                         .task_rank = TG_TASK_NONE,
                                         .verdict = TG_VERDICT_SAME}};
    struct tg_shard_result *result = &finding.result;
    if (load_whole(c, &finding)) {
        load_parts(c, &finding);
        if (c->shard->how == TG_SHARD_PARTIAL)
            compare_partial(c, &finding);
        else
            compare_blocks(c, &finding);
        settle(&finding);
    }
    tg_block_free(&finding.whole);
    for (uint32_t r = 0; r < c->sides.n; r++)
        tg_block_free(&c->block[r]);
    c->sum->tensors++;
    c->sum->same += result->verdict == TG_VERDICT_SAME;
    c->sum->close += result->verdict == TG_VERDICT_CLOSE;
    c->sum->differ += result->verdict == TG_VERDICT_DIFFERS;
    c->sum->unknown += result->verdict == TG_VERDICT_UNKNOWN;
    c->is_over = c->tell && c->tell(c->context, result) != 0;
}

/* ── which belong together ─────────────────────────────────────────────────────────────── */

static bool lacks_records(const struct tg_selected *selected)
{
    return !tg_recording_is_whole(selected->recording);
}

/* The first rank that has tensors and whose recording lacks records, or has another number of tensors than the one
 * device; the number of ranks if there is none. */
static uint32_t find_rank(const struct comparing *c, bool lacks)
{
    uint32_t r = 0;
    for (; r < c->sides.n; r++) {
        const struct tg_selected *part = &c->part[r];
        size_t count = part->recording ? tg_selected_count(part) : 0;
        if (count > 0 && (lacks ? lacks_records(part) : count != tg_selected_count(&c->whole)))
            break;
    }
    return r;
}

static bool any_is_whole(const struct comparing *c)
{
    for (uint32_t r = 0; r < c->sides.n; r++)
        if (c->part[r].recording && tg_selected_count(&c->part[r]) > 0 &&
            !lacks_records(&c->part[r]))
            return true;
    return !lacks_records(&c->whole);
}

static void tell_unknown(struct comparing *c, const char *why)
{
    struct tg_shard_result result = {.shard = c->shard,
                                     .task_one = TG_TASK_NONE,
                                     .task_rank = TG_TASK_NONE,
                                     .verdict = TG_VERDICT_UNKNOWN};
    snprintf(result.text, sizeof result.text, "%s", why);
    c->sum->tensors++;
    c->sum->unknown++;
    c->is_over = c->tell && c->tell(c->context, &result) != 0;
}

/* The n-th tensor of the one device goes with the n-th of each rank. Where one side has more of them than another, or
 * lacks records, the n-th may be another one, and tiles may be of another time: a difference would accuse a task that
 * did nothing wrong. Tells so, and returns true, if it is not known which belong together. */
static bool tell_shifted(struct comparing *c)
{
    char why[TG_RANKS_TEXT], who[32] = "the one device";
    uint32_t other = find_rank(c, false), lacking = find_rank(c, true);
    bool lacks = lacks_records(&c->whole);
    bool is_joined =
        (lacks && c->whole.is_joined) || (lacking < c->sides.n && c->part[lacking].is_joined);
    size_t count = tg_selected_count(&c->whole);
    if (c->shard->task[0] != TG_TASK_NONE && c->shard->task[1] != TG_TASK_NONE)
        return false;
    if (!lacks)
        snprintf(who, sizeof who, "rank %u", lacking);
    if (other < c->sides.n)
        snprintf(why, sizeof why,
                 "the one device has %zu such tensor%s, and rank %u has %zu; which belong together "
                 "is not known: name one of each, as in @12.2:@1:7.2",
                 count, count == 1 ? "" : "s", other, tg_selected_count(&c->part[other]));
    else if (is_joined || !any_is_whole(c))
        snprintf(why, sizeof why,
                 "the recording of %s lacks records; which belong together is not known: name "
                 "one of each, as in @12.2:@1:7.2",
                 who);
    else
        return false;
    tell_unknown(c, why);
    return true;
}

/* ── all of them ───────────────────────────────────────────────────────────────────────── */

/* *most: how many tensors the side with the most of them has. One that a side lacks is not known. */
static tg_status select_tensors(struct comparing *c, size_t *most, struct tg_error *error)
{
    size_t opened = 0, selected = 0;
    tg_status status = tg_selected_open(c->one, c->shard, 0, &c->whole, error);
    *most = status == TG_OK ? tg_selected_count(&c->whole) : 0;
    if (status == TG_OK && *most == 0)
        return tg_error_set(error, TG_NOT_FOUND, "--shard '%s' selects no tensor of the one device",
                            c->shard->text);
    for (uint32_t r = 0; status == TG_OK && r < c->sides.n; r++) {
        if (!c->sides.side[r].recording)
            continue;
        opened++;
        status = tg_selected_open(c->sides.side[r].recording, c->shard, 1, &c->part[r], error);
        size_t count = status == TG_OK ? tg_selected_count(&c->part[r]) : 0;
        selected += count > 0;
        *most = count > *most ? count : *most;
    }
    if (status == TG_OK && opened > 0 && selected == 0)
        return tg_error_set(error, TG_NOT_FOUND, "--shard '%s' selects no tensor of the ranks",
                            c->shard->text);
    return status;
}

static tg_status compare_shard(struct comparing *c, struct tg_error *error)
{
    size_t most;
    tg_status status = select_tensors(c, &most, error);
    if (status == TG_OK && tell_shifted(c))
        return TG_OK;
    for (size_t i = 0; status == TG_OK && i < most && !c->is_over; i++)
        compare_tensor(c, i);
    return status;
}

static void close_shard(struct comparing *c)
{
    tg_selected_close(&c->whole);
    for (uint32_t r = 0; c->part && r < c->sides.n; r++)
        tg_selected_close(&c->part[r]);
}

static tg_status compare_all(struct comparing *c, const struct tg_shard *shard, size_t n,
                             struct tg_error *error)
{
    tg_status status = TG_OK;
    c->part = calloc(c->sides.n, sizeof *c->part);
    c->block = calloc(c->sides.n, sizeof *c->block);
    if (!c->part || !c->block)
        status = tg_file_no_memory(error);
    for (size_t i = 0; status == TG_OK && i < n && !c->is_over; i++) {
        c->shard = &shard[i];
        status = compare_shard(c, error);
        close_shard(c);
    }
    free(c->part);
    free(c->block);
    return status;
}

tg_status tg_ranks_compare(const struct tg_recording *one, const struct tg_ranks *many,
                           const struct tg_shard *shard, size_t n_shards,
                           const struct tg_diff_options *options, tg_shard_fn tell, void *context,
                           struct tg_ranks_sameness *sameness, struct tg_error *error)
{
    TG_REFUSE_NULL(error, one);
    TG_REFUSE_NULL(error, many);
    TG_REFUSE_NULL(error, shard);
    struct tg_ranks_sameness unread;
    struct comparing c = {.one = one,
                          .options = options,
                          .tell = tell,
                          .context = context,
                          .sum = sameness ? sameness : &unread};
    *c.sum = (struct tg_ranks_sameness){0};
    tg_status status = tg_rank_sides_open(many, true, &c.sides, error);
    if (status == TG_OK)
        status = compare_all(&c, shard, n_shards, error);
    if (status == TG_OK)
        status = tg_recording_check_files(one, error);
    if (status == TG_OK)
        status = tg_rank_sides_check(&c.sides, error);
    tg_rank_sides_close(&c.sides);
    return status;
}
