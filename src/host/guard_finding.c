/* SPDX-License-Identifier: Apache-2.0 */
#include "host/guard_finding.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <taskglass/numeric.h>
#include <taskglass/wire/device.h>

/* ── the list ──────────────────────────────────────────────────────────────────────────── */

/* The finding of that kind and argument; a new one if there is none; NULL if the list is full. */
static struct tg_guard_finding *finding_of(struct tg_guard_report *report, uint32_t kind,
                                           uint32_t argument, bool *is_new)
{
    struct tg_guard_finding *f = report->finding;
    for (uint32_t i = 0; i < report->n_findings; i++, f++)
        if (f->kind == kind && f->argument == argument) {
            *is_new = false;
            return f;
        }
    *is_new = true;
    report->misuse += tg_guard_kind_is_misuse(kind);
    if (report->n_findings == TG_GUARD_MOST) {
        report->more++;
        return NULL;
    }
    report->n_findings++;
    memset(f, 0, sizeof *f);
    f->kind = kind;
    f->argument = argument;
    return f;
}

/* Sets the index from the element's number. */
static void set_element(struct tg_guard_finding *f, const struct tg_tensor *t, uint64_t element)
{
    f->has_element = true;
    f->element = element;
    f->ndim = t->ndim;
    for (int d = t->ndim - 1; d >= 0; d--) {
        uint64_t extent = t->shape[d] > 0 ? (uint64_t)t->shape[d] : 1;
        f->index[d] = (int64_t)(element % extent);
        element /= extent;
    }
}

/* ── places outside of views ───────────────────────────────────────────────────────────── */

/* Elements are counted in bits, because some have half a byte. */
static int64_t bits_of(const struct tg_tensor *t)
{
    unsigned bits = tg_bits_of(t->dtype);
    return bits > 0 ? (int64_t)bits : 8;
}

/* The element that lies last in memory at or before an offset in elements; the first one in memory if none
 * does. A view of a task has at most some millions of elements, and this is for findings alone. */
static uint64_t element_near(const struct tg_tensor *t, int64_t offset)
{
    int64_t n = tg_tensor_numel(t), best = -1, lowest = 0, best_at = 0, lowest_at = INT64_MAX;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = tg_tensor_offset(t, i);
        if (at <= offset && (best < 0 || at > best_at)) {
            best = i;
            best_at = at;
        }
        if (at < lowest_at) {
            lowest = i;
            lowest_at = at;
        }
    }
    return (uint64_t)(best < 0 ? lowest : best);
}

/* Where the elements of a view begin and end in its memory, in elements. */
static void span_of(const struct tg_tensor *t, int64_t *first, int64_t *end)
{
    if (tg_tensor_numel(t) == 0 || !tg_tensor_footprint(t, first, end)) {
        *first = *end = 0;
        return;
    }
    *end += 1;
}

/* True if a tensor may do that, so that it is the one to name where several share a block. */
static bool fits(const struct tg_recorded_tensor *t, enum tg_guard_deed deed)
{
    return deed == TG_GUARD_DID_USE ||
           (deed == TG_GUARD_DID_WRITE ? t->role != TG_IN : t->role != TG_OUT);
}

/* The tensor to name for a place in bits from the block's first one: one that has it between its elements,
 * else the nearest; of those, one that may do such a thing. */
static uint32_t tensor_near(const struct tg_guard_memory *m, uint32_t block, int64_t at,
                            enum tg_guard_deed deed)
{
    uint32_t best = UINT32_MAX;
    int64_t best_far = INT64_MAX;
    bool best_fits = false;
    for (uint32_t i = 0; i < m->task->n_tensors; i++) {
        const struct tg_recorded_tensor *t = &m->task->tensor[i];
        int64_t first, end, bits = bits_of(&t->tensor);
        if (m->block_of[i] != block)
            continue;
        span_of(&t->tensor, &first, &end);
        first = first * bits + (int64_t)m->offset_of[i] * 8;
        end = end * bits + (int64_t)m->offset_of[i] * 8;
        int64_t far = at < first ? first - at : at >= end ? at - end + 1 : 0;
        if (best == UINT32_MAX || far < best_far || (far == best_far && !best_fits)) {
            best = i;
            best_far = far;
            best_fits = fits(t, deed);
        }
    }
    return best;
}

enum side { BEFORE, BEHIND, GAP };

static uint32_t kind_of(enum side side, enum tg_guard_deed deed)
{
    static const uint8_t kinds[3][3] = {
        [TG_GUARD_DID_USE] = {TG_GUARD_USED_BEFORE, TG_GUARD_USED_BEHIND, TG_GUARD_READ_GAP},
        [TG_GUARD_DID_READ] = {TG_GUARD_READ_BEFORE, TG_GUARD_READ_BEHIND, TG_GUARD_READ_GAP},
        [TG_GUARD_DID_WRITE] = {TG_GUARD_WROTE_BEFORE, TG_GUARD_WROTE_BEHIND, TG_GUARD_WROTE_GAP},
    };
    return kinds[deed][side];
}

/* Adds an access to `count` bits from bit `at` of a block on, which are of no element that may be accessed
 * like this. `site` may be "". */
static void add_outside(const struct tg_guard_memory *m, uint32_t block, int64_t at, uint64_t count,
                        enum tg_guard_deed deed, const char *site, struct tg_guard_report *report)
{
    uint32_t number = tensor_near(m, block, at, deed);
    struct tg_guard_finding *f;
    bool is_new;
    if (number == UINT32_MAX)
        return;
    const struct tg_tensor *t = &m->task->tensor[number].tensor;
    int64_t first, end, bits = bits_of(t), from_view = at - (int64_t)m->offset_of[number] * 8;
    int64_t offset = from_view >= 0 ? from_view / bits : -((-from_view + bits - 1) / bits);
    span_of(t, &first, &end);
    enum side side = offset < first ? BEFORE : offset >= end ? BEHIND : GAP;
    f = finding_of(report, kind_of(side, deed), number, &is_new);
    if (f == NULL)
        return;
    if (*site && f->site[0] == '\0')
        snprintf(f->site, sizeof f->site, "%s", site);
    uint64_t elements = (count + (uint64_t)bits - 1) / (uint64_t)bits;
    f->count = elements > f->count ? elements : f->count;
    uint64_t near = element_near(t, offset);
    int64_t near_at = tg_tensor_numel(t) > 0 ? tg_tensor_offset(t, (int64_t)near) : 0;
    uint64_t distance = (uint64_t)(offset > near_at ? offset - near_at : near_at - offset);
    /* A gap is named by its first place in memory, the others by the place nearest to the view. */
    if (is_new || (side == GAP ? offset - first < f->place : distance < f->distance)) {
        f->distance = distance;
        f->place = offset - first;
        if (tg_tensor_numel(t) > 0)
            set_element(f, t, near);
    }
}

/* ── writes ────────────────────────────────────────────────────────────────────────────── */

/* Bits that changed in [from, to) of a block; bytes of zones count as a whole. */
struct stray {
    uint64_t count;
    int64_t first, last; /* in bits */
};

static void note(struct stray *s, int64_t byte, uint8_t bits)
{
    for (int half = 0; half < 2; half++) {
        if (!(bits >> (4 * half) & 15))
            continue;
        if (s->count == 0)
            s->first = 8 * byte + 4 * (int64_t)half;
        s->last = 8 * byte + 4 * (int64_t)half;
        s->count += 4;
    }
}

static void find_zone_writes(const struct tg_guard_memory *m, uint32_t b,
                             const struct tg_guard_trial *trial, struct tg_guard_report *report)
{
    const struct tg_guard_place *place = &trial->place[b];
    const uint8_t *before = trial->before + place->buffer, *after = trial->after + place->buffer;
    int64_t front = (int64_t)(place->data - place->region), size = (int64_t)m->block[b].size;
    struct stray zone[2] = {{0}, {0}};
    for (int64_t i = 0; i < (int64_t)place->region_size; i++)
        if (before[i] != after[i] && (i < front || i >= front + size))
            note(&zone[i >= front], i - front, 0xff);
    if (zone[0].count > 0) /* the last one is nearest */
        add_outside(m, b, zone[0].last, zone[0].count, TG_GUARD_DID_WRITE, "", report);
    if (zone[1].count > 0)
        add_outside(m, b, zone[1].first, zone[1].count, TG_GUARD_DID_WRITE, "", report);
}

static void find_gap_writes(const struct tg_guard_memory *m, uint32_t b,
                            const struct tg_guard_trial *trial, struct tg_guard_report *report)
{
    const struct tg_guard_block *block = &m->block[b];
    const uint8_t *before = tg_guard_before(trial, b), *after = tg_guard_after(trial, b);
    struct stray gap = {0};
    for (uint64_t i = 0; block->has_gaps && i < block->size; i++)
        note(&gap, (int64_t)i,
             (uint8_t)((before[i] ^ after[i]) & ~(block->written[i] | block->known[i])));
    if (gap.count > 0)
        add_outside(m, b, gap.first, gap.count, TG_GUARD_DID_WRITE, "", report);
}

/* The bits of an element that are in a mask of its block. */
static bool in_mask(const struct tg_guard_memory *m, uint32_t tensor, const uint8_t *mask,
                    int64_t offset)
{
    unsigned dtype = m->task->tensor[tensor].tensor.dtype;
    return tg_load_bits(dtype, mask + m->offset_of[tensor], offset) != 0;
}

static uint64_t value_of(const struct tg_guard_memory *m, uint32_t tensor, const uint8_t *block,
                         int64_t offset)
{
    return tg_load_bits(m->task->tensor[tensor].tensor.dtype, block + m->offset_of[tensor], offset);
}

static void find_input_writes(const struct tg_guard_memory *m, uint32_t number,
                              const struct tg_guard_trial *trial, struct tg_guard_report *report)
{
    const struct tg_tensor *t = &m->task->tensor[number].tensor;
    uint32_t b = m->block_of[number];
    const uint8_t *before = tg_guard_before(trial, b), *after = tg_guard_after(trial, b);
    uint64_t count = 0, first = 0;
    for (int64_t i = 0, n = tg_tensor_numel(t); i < n; i++) {
        int64_t at = tg_tensor_offset(t, i);
        if (value_of(m, number, before, at) == value_of(m, number, after, at) ||
            in_mask(m, number, m->block[b].written, at))
            continue;
        first = count++ == 0 ? (uint64_t)i : first;
    }
    if (count == 0)
        return;
    bool is_new;
    struct tg_guard_finding *f = finding_of(report, TG_GUARD_WROTE_INPUT, number, &is_new);
    if (f == NULL)
        return;
    f->count = count > f->count ? count : f->count;
    if (is_new || first < f->element)
        set_element(f, t, first);
}

void tg_guard_find_writes(const struct tg_guard_memory *m, const struct tg_guard_trial *trial,
                          struct tg_guard_report *report)
{
    for (uint32_t b = 0; b < m->n_blocks; b++) {
        if (tg_guard_is_clean(&m->block[b], &trial->place[b],
                              trial->before + trial->place[b].buffer,
                              trial->after + trial->place[b].buffer))
            continue;
        find_zone_writes(m, b, trial, report);
        find_gap_writes(m, b, trial, report);
        for (uint32_t i = 0; i < m->task->n_tensors; i++)
            if (m->block_of[i] == b && m->task->tensor[i].role == TG_IN)
                find_input_writes(m, i, trial, report);
    }
}

/* ── faults ────────────────────────────────────────────────────────────────────────────── */

enum { CLOSE_BYTES = 2 * TG_GUARD_PAGE };

/* The block at whose region or guards the place is. With more than one block, a place that is not close to one
 * may have been reached from any. False: none. */
static bool block_at(const struct tg_guard_memory *m, const struct tg_guard_trial *trial,
                     uint64_t at, uint32_t *block)
{
    const uint64_t close = m->n_blocks > 1 ? CLOSE_BYTES : TG_GUARD_BYTES;
    for (uint32_t b = 0; b < m->n_blocks; b++) {
        const struct tg_guard_place *place = &trial->place[b];
        if (at + close >= place->region && at < place->region + place->region_size + close) {
            *block = b;
            return true;
        }
    }
    return false;
}

/* A fault on a page of an input that kernels may only read: the element, if the place is in one. */
static bool add_input_fault(const struct tg_guard_memory *m, uint32_t block, int64_t at,
                            const char *site, struct tg_guard_report *report)
{
    for (uint32_t i = 0; i < m->task->n_tensors; i++) {
        const struct tg_tensor *t = &m->task->tensor[i].tensor;
        int64_t from_view = at - 8 * (int64_t)m->offset_of[i], bits = bits_of(t);
        bool is_new;
        if (m->block_of[i] != block || from_view < 0 || tg_tensor_numel(t) == 0)
            continue;
        uint64_t element = element_near(t, from_view / bits);
        if (tg_tensor_offset(t, (int64_t)element) != from_view / bits)
            continue;
        struct tg_guard_finding *f = finding_of(report, TG_GUARD_WROTE_INPUT, i, &is_new);
        if (f == NULL)
            return true;
        if (f->site[0] == '\0')
            snprintf(f->site, sizeof f->site, "%s", site);
        if (is_new)
            set_element(f, t, element);
        return true;
    }
    return false;
}

/* "task 0, kernel add, on core 0 (AIC): Segmentation fault …": the number is not that of the recording. */
static const char *without_task(const char *text)
{
    const char *rest = strstr(text, "): ");
    return strncmp(text, "task ", 5) == 0 && rest != NULL ? rest + 3 : text;
}

static void add_failure(uint32_t kind, const struct tg_guard_failure *failure,
                        struct tg_guard_report *report)
{
    bool is_new;
    struct tg_guard_finding *f = finding_of(report, kind, UINT32_MAX, &is_new);
    if (f == NULL || !is_new)
        return;
    snprintf(f->site, sizeof f->site, "%s", failure->site);
    snprintf(f->text, sizeof f->text, "%s", without_task(failure->text));
}

/* Division by zero, abort and the like say nothing about memory. A GPU names no signal. */
static bool is_memory_fault(const struct tg_guard_failure *failure)
{
    return failure->signal == SIGSEGV || failure->signal == SIGBUS || failure->signal == 0;
}

uint32_t tg_guard_find_failure(const struct tg_guard_memory *m, const struct tg_guard_trial *trial,
                               const struct tg_guard_failure *failure,
                               struct tg_guard_report *report)
{
    static const uint8_t deeds[] = {[TG_ACCESS_NONE] = TG_GUARD_DID_USE,
                                    [TG_ACCESS_READ] = TG_GUARD_DID_READ,
                                    [TG_ACCESS_WRITE] = TG_GUARD_DID_WRITE};
    uint32_t b = failure->block;
    if (failure->end != TG_GUARD_FAULTED || !is_memory_fault(failure)) {
        add_failure(failure->end == TG_GUARD_HUNG ? TG_GUARD_HANG : TG_GUARD_LOST, failure, report);
        return UINT32_MAX;
    }
    if (!failure->has_place || (b == UINT32_MAX && !block_at(m, trial, failure->at, &b))) {
        add_failure(TG_GUARD_FAULT, failure, report);
        return UINT32_MAX;
    }
    int64_t at = 8 * ((int64_t)failure->at - (int64_t)trial->place[b].data);
    if (at < 0 || at >= 8 * (int64_t)m->block[b].size ||
        !add_input_fault(m, b, at, failure->site, report))
        add_outside(m, b, at, 0, deeds[failure->access], failure->site, report);
    return b;
}

/* ── reads ─────────────────────────────────────────────────────────────────────────────── */

void tg_guard_find_read(const struct tg_guard_memory *m, uint32_t block, int64_t at,
                        struct tg_guard_report *report)
{
    add_outside(m, block, 8 * at, 0, TG_GUARD_DID_READ, "", report);
}

/* Calls of find_outputs. */
enum look { UNWRITTEN, OLD };

/* What became of an element that the trials filled with different patterns. */
static bool is_unwritten(const struct tg_guard_memory *m, uint32_t number, int64_t at,
                         const struct tg_guard_trial *const *trial, uint32_t n)
{
    uint32_t b = m->block_of[number];
    if (in_mask(m, number, m->block[b].known, at))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (value_of(m, number, tg_guard_before(trial[i], b), at) !=
            value_of(m, number, tg_guard_after(trial[i], b), at))
            return false;
    return true;
}

static bool differs(const struct tg_guard_memory *m, uint32_t number, int64_t at,
                    const struct tg_guard_trial *const *trial, uint32_t n)
{
    uint32_t b = m->block_of[number];
    uint64_t value = value_of(m, number, tg_guard_after(trial[0], b), at);
    for (uint32_t i = 1; i < n; i++)
        if (value_of(m, number, tg_guard_after(trial[i], b), at) != value)
            return true;
    return false;
}

static void find_outputs(const struct tg_guard_memory *m, const struct tg_guard_trial *const *trial,
                         uint32_t n, enum look look, struct tg_guard_report *report)
{
    for (uint32_t number = 0; number < m->task->n_tensors; number++) {
        const struct tg_tensor *t = &m->task->tensor[number].tensor;
        uint64_t count = 0, first = 0;
        bool is_new;
        if (m->task->tensor[number].role == TG_IN)
            continue;
        for (int64_t i = 0, numel = tg_tensor_numel(t); i < numel; i++) {
            int64_t at = tg_tensor_offset(t, i);
            bool unwritten = is_unwritten(m, number, at, trial, n);
            if (look == UNWRITTEN ? unwritten : !unwritten && differs(m, number, at, trial, n))
                first = count++ == 0 ? (uint64_t)i : first;
        }
        if (count == 0)
            continue;
        struct tg_guard_finding *f =
            finding_of(report, look == UNWRITTEN ? TG_GUARD_UNWRITTEN : TG_GUARD_OLD_CONTENTS,
                       number, &is_new);
        if (f == NULL)
            continue;
        f->count = count;
        set_element(f, t, first);
    }
}

void tg_guard_find_unwritten(const struct tg_guard_memory *m,
                             const struct tg_guard_trial *const *trial, uint32_t n,
                             struct tg_guard_report *report)
{
    find_outputs(m, trial, n, UNWRITTEN, report);
}

void tg_guard_find_old(const struct tg_guard_memory *m, const struct tg_guard_trial *const *trial,
                       uint32_t n, struct tg_guard_report *report)
{
    find_outputs(m, trial, n, OLD, report);
}
