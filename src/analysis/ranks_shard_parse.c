/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a shard:
 *
 *     shard  = select [ ":" select ] "=" layout        on one device, and on the ranks if it differs there
 *     select = ( KERNEL | "@" TASK ) "." ARGUMENT [ "*" ]
 *     layout = "replicated" | "partial(" OPERATION ")" | word { " " word }
 *     word   = NAME [ "(" "rank" [ "/" N ] [ "%" N ] ")" ]
 */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <string.h>
#include <taskglass/comm.h>

#include "analysis/ranks_shard.h"
#include "base/error.h"
#include "base/words.h"

static tg_status bad(const char *text, const char *why, struct tg_error *error)
{
    return tg_error_set(error, TG_BAD_ARGUMENT,
                        "--shard '%s': %s; it is written as KERNEL.ARGUMENT=WORD WORD(rank), "
                        "KERNEL.ARGUMENT=partial(sum) or KERNEL.ARGUMENT=replicated",
                        text, why);
}

/* ── which tensors ─────────────────────────────────────────────────────────────────────── */

/* The length of the first select: up to a '.' with digits behind it that a ':' or the end follows. */
static size_t select_length(const char *text, size_t length, size_t *dot)
{
    for (size_t i = 0; i < length; i++) {
        size_t end = i + 1 + strspn(text + i + 1, "0123456789");
        if (text[i] != '.' || end == i + 1)
            continue;
        end += end < length && text[end] == '*';
        if (end == length || (end < length && text[end] == ':')) {
            *dot = i;
            return end;
        }
    }
    return 0;
}

static const char *read_select(const char *text, size_t length, size_t dot, int side,
                               struct tg_shard *shard)
{
    uint64_t argument;
    shard->is_joined[side] = text[length - 1] == '*';
    struct tg_word number = {text + dot + 1, length - dot - 1 - shard->is_joined[side]};
    if (!tg_word_number(number, &argument) || argument >= TG_MAX_TENSORS)
        return "the argument is not a number from 0 to 15";
    shard->argument[side] = (uint32_t)argument;
    shard->task[side] = TG_TASK_NONE;
    if (text[0] == '@')
        return tg_word_task((struct tg_word){text + 1, dot - 1}, &shard->task[side])
                   ? NULL
                   : "after '@' comes a task, such as 12 or 1:12";
    if (dot == 0 || dot >= sizeof shard->kernel[side])
        return "the name of the kernel is missing or too long";
    memcpy(shard->kernel[side], text, dot);
    shard->kernel[side][dot] = '\0';
    return NULL;
}

static const char *read_selects(const char *text, size_t length, struct tg_shard *shard)
{
    size_t dot, second_dot, first = select_length(text, length, &dot);
    if (first == 0)
        return "the tensor is missing";
    const char *why = read_select(text, first, dot, 0, shard);
    if (why || first == length)
        return why ? why : read_select(text, first, dot, 1, shard);
    const char *rest = text + first + 1;
    size_t left = length - first - 1, second = select_length(rest, left, &second_dot);
    return second != left || second == 0 ? "the tensor of the ranks, after ':', is not one"
                                         : read_select(rest, second, second_dot, 1, shard);
}

/* ── how they lie ──────────────────────────────────────────────────────────────────────── */

/* "/2" or "%2"; 0 if there is no number, which is wrong. */
static uint32_t read_factor(const char **at)
{
    uint32_t number = 0;
    ++*at;
    while (**at >= '0' && **at <= '9' && number <= TG_COMM_MAX_RANKS)
        number = number * 10 + (uint32_t)(*(*at)++ - '0');
    return number <= TG_COMM_MAX_RANKS ? number : 0;
}

/* What stands in the parentheses of a word. */
static const char *read_split(const char **at, uint32_t *divide, uint32_t *modulo)
{
    static const char rank[] = "rank";
    *divide = 1;
    *modulo = UINT32_MAX;
    if (strncmp(*at, rank, sizeof rank - 1) != 0)
        return "in parentheses comes 'rank', 'rank/N' or 'rank%N'";
    *at += sizeof rank - 1;
    if (**at == '/' && (*divide = read_factor(at)) == 0)
        return "after '/' comes a number from 1 to 4096";
    if (**at == '%' && (*modulo = read_factor(at)) == 0)
        return "after '%' comes a number from 1 to 4096";
    if (**at != ')')
        return "a ')' is missing";
    ++*at;
    return NULL;
}

static const char *read_words(const char *at, struct tg_shard *shard)
{
    shard->how = TG_SHARD_SPLIT;
    for (at += strspn(at, " "); *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ()");
        if (length == 0)
            return "a dimension has no name";
        if (shard->ndim == TG_MAX_DIMS)
            return "a tensor has at most 8 dimensions";
        at += length;
        int d = shard->ndim++;
        if (*at != '(')
            continue;
        at++;
        const char *why = read_split(&at, &shard->divide[d], &shard->modulo[d]);
        if (why)
            return why;
        if (*at && *at != ' ')
            return "a space is missing between two dimensions";
    }
    for (int d = 0; d < shard->ndim; d++)
        if (shard->divide[d] > 0)
            return NULL;
    return "no dimension is split: write (rank) behind one, or 'replicated'";
}

static const char *read_partial(const char *at, struct tg_shard *shard)
{
    shard->how = TG_SHARD_PARTIAL;
    for (uint32_t i = 0; i < TG_REDUCTIONS; i++) {
        size_t length = strlen(tg_reduction_name(i));
        if (strncmp(at, tg_reduction_name(i), length) == 0 && strcmp(at + length, ")") == 0) {
            shard->operation = i;
            return NULL;
        }
    }
    return "partial takes sum, product, min or max";
}

static const char *read_layout(const char *at, struct tg_shard *shard)
{
    static const char partial[] = "partial(";
    at += strspn(at, " ");
    if (strcmp(at, "replicated") == 0) {
        shard->how = TG_SHARD_REPLICATED;
        return NULL;
    }
    if (strncmp(at, partial, sizeof partial - 1) == 0)
        return read_partial(at + sizeof partial - 1, shard);
    return read_words(at, shard);
}

tg_status tg_shard_parse(const char *text, struct tg_shard *shard, struct tg_error *error)
{
    TG_REFUSE_NULL(error, text);
    TG_REFUSE_NULL(error, shard);
    const char *equals = strchr(text, '=');
    *shard = (struct tg_shard){0};
    if (!equals)
        return bad(text, "there is no '='", error);
    if (strlen(text) >= sizeof shard->text)
        return bad(text, "it is too long", error);
    memcpy(shard->text, text, strlen(text) + 1);
    const char *why = read_selects(text, (size_t)(equals - text), shard);
    if (!why)
        why = read_layout(equals + 1, shard);
    return why ? bad(text, why, error) : TG_OK;
}
