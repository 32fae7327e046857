/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares one pair. Kind, dtype and shape decide first, then equal hashes, then the values as far
 * as both are stored. A pair that none of these decides is unknown, and never counts as equal.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/array.h>
#include <taskglass/dtype.h>

#include "analysis/compare.h"
#include "analysis/diff.h"
#include "recording/reader.h"

static enum tg_verdict verdict_of(enum tg_reason reason)
{
#define VERDICT(constant, word, verdict, meaning) TG_VERDICT_##verdict,
    static const enum tg_verdict verdicts[] = {TG_REASON_MAP(VERDICT)};
#undef VERDICT
    return verdicts[reason];
}

static void settle(struct tg_diff_result *result, enum tg_reason reason)
{
    result->reason = reason;
    result->verdict = verdict_of(reason);
}

static bool same_shape(const struct tg_record *a, const struct tg_record *b)
{
    return a->ndim == b->ndim && memcmp(a->shape, b->shape, a->ndim * sizeof a->shape[0]) == 0;
}

static bool is_hashed(const struct tg_entry *entry)
{
    return entry->record.flags & TG_RECORD_HASHED;
}

static bool is_whole(const struct tg_entry *entry)
{
    return entry->record.stored == entry->record.bytes && entry->record.stored > 0;
}

/* --- hashes ----------------------------------------------------------------------------------- */

/* The recorded hash, or that of a payload that is stored whole. Returns false if there is
 * neither. */
static bool hash_of(const struct tg_recording *recording, const struct tg_entry *entry,
                    uint64_t *hash)
{
    const void *bytes = tg_recording_payload(recording, entry);
    if (is_hashed(entry))
        *hash = entry->record.hash;
    else if (is_whole(entry) && bytes)
        *hash = tg_content_hash(bytes, (size_t)entry->record.stored);
    else
        return false;
    return true;
}

/* One side has no payload, so only the hashes can decide. */
static enum tg_reason settle_by_hash(const struct tg_diff *diff, const struct tg_entry *a,
                                     const struct tg_entry *b, const struct tg_diff_result *result)
{
    const struct tg_tolerance *tolerance = &result->tolerance;
    uint64_t hash_a, hash_b;
    unsigned dtype = a->record.dtype;
    bool is_exact = tolerance->absolute == 0 && tolerance->relative == 0 && !isinf(result->floor);
    if (!hash_of(diff->a.recording, a, &hash_a) || !hash_of(diff->b.recording, b, &hash_b))
        return TG_REASON_NOT_STORED;
    if (hash_a == hash_b)
        return TG_REASON_HASH;
    /* Floats have 0 and -0, and a bool may be any byte but 0, so their hashes may differ for equal
     * values. */
    if (is_exact && dtype != TG_BOOL && tg_dtype_valid((int)dtype) &&
        !tg_dtype_is_float((int)dtype))
        return TG_REASON_INTEGER_HASH;
    return TG_REASON_OTHER_HASH;
}

/* --- values ----------------------------------------------------------------------------------- */

static void show_progress(struct tg_diff *diff, uint64_t more)
{
    if (diff->progress)
        diff->progress(diff->context, diff->done + more, diff->payload_bytes);
}

/* Compares two tensors of any size, a window at a time. */
static void compare_values(struct tg_diff *diff, const struct tg_array *a, const struct tg_array *b,
                           struct tg_diff_result *result)
{
    uint64_t elements = (uint64_t)(a->elements < b->elements ? a->elements : b->elements);
    struct tg_comparer comparer;
    uint64_t most = 0;
    tg_comparer_init(&comparer, a->dtype, a->bytes, b->bytes, elements, &result->tolerance,
                     diff->equal_nan, &result->values);
    while (tg_comparer_step(&comparer)) {
        uint64_t at = tg_decoder_bytes(&comparer.decoder, comparer.at);
        most = at > most ? at : most; /* the comparison may have begun again */
        show_progress(diff, 2 * most);
    }
    result->has_values = true;
}

/* The slot for a result of these two contents; NULL if their hashes do not identify them. */
static struct tg_known_result *place_of(struct tg_diff *diff, const struct tg_entry *a,
                                        const struct tg_entry *b)
{
    uint64_t mixed = a->record.hash ^ (b->record.hash << 7 | b->record.hash >> 57);
    if (!is_hashed(a) || !is_hashed(b) || !is_whole(a) || !is_whole(b))
        return NULL;
    if (!diff->known)
        diff->known = calloc(TG_KNOWN_RESULTS, sizeof *diff->known);
    return diff->known ? &diff->known[mixed % TG_KNOWN_RESULTS] : NULL;
}

static bool is_known(const struct tg_known_result *known, const struct tg_entry *a,
                     const struct tg_entry *b, const struct tg_tolerance *tolerance)
{
    return known && known->dtype == a->record.dtype && known->hash_a == a->record.hash &&
           known->hash_b == b->record.hash &&
           known->result.tolerance.absolute == tolerance->absolute &&
           known->result.tolerance.relative == tolerance->relative;
}

static void compare_once(struct tg_diff *diff, const struct tg_entry *a, const struct tg_entry *b,
                         const struct tg_array *array_a, const struct tg_array *array_b,
                         struct tg_diff_result *result)
{
    struct tg_known_result *known = place_of(diff, a, b);
    if (is_known(known, a, b, &result->tolerance)) {
        double floor = result->floor; /* another argument may have had the same content */
        *result = known->result;
        result->floor = floor;
        return;
    }
    compare_values(diff, array_a, array_b, result);
    if (known)
        *known = (struct tg_known_result){a->record.hash, b->record.hash, a->record.dtype, *result};
}

/* False if the floor was not measured. */
static bool is_noise(const struct tg_diff_result *result)
{
    const struct tg_comparison *values = &result->values;
    return isfinite(result->floor) && values->special == 0 &&
           values->max_abs <= TG_NOISE_MARGIN * result->floor;
}

static enum tg_reason reason_of(const struct tg_diff_result *result)
{
    const struct tg_comparison *values = &result->values;
    if (values->identical)
        return TG_REASON_BYTES;
    if (is_noise(result))
        return TG_REASON_NOISE;
    return values->mismatches > 0 ? TG_REASON_VALUES : TG_REASON_TOLERANCE;
}

static void compare_tensors(struct tg_diff *diff, const struct tg_entry *a,
                            const struct tg_entry *b, struct tg_diff_result *result)
{
    struct tg_array array_a, array_b;
    bool finished = !((a->record.flags | b->record.flags) & TG_RECORD_PARTIAL);
    bool is_given = a->record.stage == TG_STAGE_ORCHESTRATION;
    /* What is in an output of the run before the run is no input. */
    if (a->record.bytes == 0 || (is_given && a->record.role == TG_OUT)) {
        settle(result, TG_REASON_METADATA);
        return;
    }
    if (is_given && !(is_hashed(a) && is_hashed(b))) {
        settle(result, TG_REASON_NOT_HASHED);
        return;
    }
    if (is_hashed(a) && is_hashed(b) && a->record.hash == b->record.hash) {
        settle(result, finished ? TG_REASON_HASH : TG_REASON_UNFINISHED);
        return;
    }
    /* A damaged payload says nothing; the hashes still do. */
    if (!tg_array_of(diff->a.recording, a, &array_a) ||
        !tg_array_of(diff->b.recording, b, &array_b) ||
        !tg_recording_intact(diff->a.recording, a) || !tg_recording_intact(diff->b.recording, b)) {
        enum tg_reason reason = settle_by_hash(diff, a, b, result);
        settle(result, finished ? reason : TG_REASON_UNFINISHED);
        return;
    }
    compare_once(diff, a, b, &array_a, &array_b, result);
    result->cut = array_a.cut || array_b.cut;
    enum tg_reason reason = reason_of(result);
    if (!finished)
        reason = TG_REASON_UNFINISHED; /* what it would have written is not known */
    else if (reason != TG_REASON_VALUES && result->cut)
        reason = TG_REASON_CUT;
    settle(result, reason);
}

static void compare_scalars(const struct tg_diff *diff, const struct tg_entry *a,
                            const struct tg_entry *b, struct tg_diff_result *result)
{
    struct tg_error error;
    if ((a->record.flags | b->record.flags) & TG_RECORD_NO_VALUE) {
        settle(result, TG_REASON_NO_VALUE);
        return;
    }
    if (tg_tensor_compare(a->record.dtype, &a->record.value, &b->record.value, 1,
                          &result->tolerance, diff->equal_nan, &result->values, &error) != TG_OK) {
        settle(result, a->record.value == b->record.value ? TG_REASON_BYTES : TG_REASON_BITS);
        return;
    }
    result->has_values = true;
    settle(result, reason_of(result));
}

void tg_diff_compare_entries(struct tg_diff *diff, const struct tg_entry *a,
                             const struct tg_entry *b, double floor, struct tg_diff_result *result)
{
    memset(result, 0, sizeof *result);
    result->floor = floor;
    if (!a || !b) {
        settle(result, a ? TG_REASON_ONLY_A : b ? TG_REASON_ONLY_B : TG_REASON_NOT_COMPARED);
        return;
    }
    result->tolerance = tg_diff_tolerance(diff, a, floor);
    if (a->record.kind != b->record.kind)
        settle(result, TG_REASON_KIND);
    else if (a->record.dtype != b->record.dtype)
        settle(result, TG_REASON_DTYPE);
    else if (!same_shape(&a->record, &b->record))
        settle(result, TG_REASON_SHAPE);
    else if (a->record.kind == TG_KIND_SCALAR)
        compare_scalars(diff, a, b, result);
    else
        compare_tensors(diff, a, b, result);
}

uint64_t tg_diff_bytes(const struct tg_entry *a, const struct tg_entry *b)
{
    const struct tg_record *x = &a->record, *y = &b->record;
    bool is_settled = x->kind != y->kind || x->dtype != y->dtype || !same_shape(x, y) ||
                      x->kind == TG_KIND_SCALAR ||
                      (is_hashed(a) && is_hashed(b) && x->hash == y->hash);
    return is_settled ? 0 : 2 * (x->stored < y->stored ? x->stored : y->stored);
}
