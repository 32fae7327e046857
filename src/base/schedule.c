/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules as text: the value of --schedule. */
#include <taskglass/schedule.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMS "fifo, lifo, random:SEED, adversarial:SEED or order:A-B[,C-D...]"

/* For `%.*s`: cuts a word of the user's text, which may be long. */
#define SHOWN(word) (int)((word).length < 60 ? (word).length : 60), (word).text

static const char *const policy_names[] = {
#define NAME(constant, number, word, meaning) [number] = word,
    TG_SCHEDULE_MAP(NAME)};

/* ── reading ───────────────────────────────────────────────────────────────────────────── */

struct pairs {
    struct tg_schedule_pair *pair;
    size_t count, room;
};

static tg_status add_pair(struct pairs *pairs, uint64_t before, uint64_t after,
                          struct tg_error *error)
{
    if (pairs->count == TG_MAX_SCHEDULE_PAIRS)
        return tg_error_set(error, TG_BAD_ARGUMENT, "schedule: more than %d pairs",
                            (int)TG_MAX_SCHEDULE_PAIRS);
    if (!tg_grow(&pairs->pair, &pairs->room, pairs->count + 1, sizeof *pairs->pair))
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for a schedule");
    pairs->pair[pairs->count++] = (struct tg_schedule_pair){before, after};
    return TG_OK;
}

/* "A-B", or "A-B-C", which stands for A-B and B-C. */
static tg_status read_chain(struct tg_word chain, struct pairs *pairs, struct tg_error *error)
{
    struct tg_word rest = chain, word;
    uint64_t before = 0, task;
    tg_status status = TG_OK;
    unsigned n = 0;
    for (; status == TG_OK && tg_word_next(&rest, '-', &word); n++, before = task) {
        if (!tg_word_task(word, &task))
            return tg_error_set(error, TG_BAD_ARGUMENT,
                                "schedule: '%.*s' is not a task; write ids as in order:12-7 or "
                                "order:0:12-1:7",
                                SHOWN(word));
        if (n > 0 && task == before)
            return tg_error_set(error, TG_BAD_ARGUMENT,
                                "schedule: '%.*s' lets a task wait for itself", SHOWN(chain));
        if (n > 0)
            status = add_pair(pairs, before, task, error);
    }
    if (status == TG_OK && n < 2)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "schedule: '%.*s' is one task; write two, as in order:12-7",
                            SHOWN(chain));
    return status;
}

static tg_status read_order(struct tg_word text, struct tg_schedule *schedule,
                            struct tg_error *error)
{
    struct pairs pairs = {0};
    struct tg_word chain;
    tg_status status = TG_OK;
    while (status == TG_OK && tg_word_next(&text, ',', &chain))
        status = read_chain(chain, &pairs, error);
    schedule->pairs = pairs.pair;
    schedule->n_pairs = (uint32_t)pairs.count;
    return status;
}

static tg_status read_value(struct tg_word word, struct tg_word value, bool has_value,
                            struct tg_schedule *schedule, struct tg_error *error)
{
    const char *name = policy_names[schedule->policy];
    switch (schedule->policy) {
    case TG_SCHEDULE_RANDOM:
    case TG_SCHEDULE_ADVERSARIAL:
        if (has_value && tg_word_number(value, &schedule->seed))
            return TG_OK;
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "schedule: '%.*s' has no seed; write a whole number, as in %s:1",
                            SHOWN(word), name);
    case TG_SCHEDULE_ORDER:
        if (has_value)
            return read_order(value, schedule, error);
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "schedule: order names no tasks; write pairs, as in order:12-7");
    default:
        if (!has_value)
            return TG_OK;
        return tg_error_set(error, TG_BAD_ARGUMENT, "schedule: %s takes no ':%.*s'", name,
                            SHOWN(value));
    }
}

static tg_status read_schedule(const char *text, struct tg_schedule *schedule,
                               struct tg_error *error)
{
    struct tg_word word = tg_word_of(text), value = word, policy;
    bool has_value = strchr(text, ':') != NULL;
    if (*text == '\0')
        return TG_OK;
    tg_word_next(&value, ':', &policy);
    for (uint32_t i = TG_SCHEDULE_FIFO; i < TG_SCHEDULE_POLICIES; i++) {
        if (!tg_word_is(policy, policy_names[i]))
            continue;
        schedule->policy = i;
        return read_value(word, value, has_value, schedule, error);
    }
    return tg_error_set(error, TG_BAD_ARGUMENT, "schedule: '%.*s' is not " FORMS, SHOWN(word));
}

tg_status tg_schedule_parse(const char *text, struct tg_schedule **out, struct tg_error *error)
{
    TG_REFUSE_NULL_AS(error, out, "schedule");
    *out = NULL;
    TG_REFUSE_NULL(error, text);
    struct tg_schedule *schedule = calloc(1, sizeof *schedule);
    if (schedule == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for a schedule");
    tg_status status = read_schedule(text, schedule, error);
    if (status == TG_OK)
        *out = schedule;
    else
        tg_schedule_destroy(schedule);
    return status;
}

void tg_schedule_destroy(struct tg_schedule *schedule)
{
    if (schedule == NULL)
        return;
    free((void *)schedule->pairs);
    free(schedule);
}

/* ── writing ───────────────────────────────────────────────────────────────────────────── */

struct writing {
    char *text;
    size_t size, length;
};

static void put(struct writing *w, const char *text)
{
    for (; *text; text++, w->length++)
        if (w->length + 1 < w->size)
            w->text[w->length] = *text;
}

/* An id as other verbs write it: "12", or "1:12" in another ring than 0. */
static void put_task(struct writing *w, uint64_t task)
{
    char text[48];
    if (task >> 32)
        snprintf(text, sizeof text, "%llu:%llu", (unsigned long long)(task >> 32),
                 (unsigned long long)(uint32_t)task);
    else
        snprintf(text, sizeof text, "%llu", (unsigned long long)task);
    put(w, text);
}

static void put_pairs(struct writing *w, const struct tg_schedule *schedule)
{
    for (uint32_t i = 0; i < schedule->n_pairs; i++) {
        const struct tg_schedule_pair *pair = &schedule->pairs[i];
        if (i == 0 || pair[-1].after != pair->before) {
            put(w, i == 0 ? ":" : ",");
            put_task(w, pair->before);
        }
        put(w, "-");
        put_task(w, pair->after);
    }
}

size_t tg_schedule_text(const struct tg_schedule *schedule, char *text, size_t size)
{
    struct writing w = {text, text != NULL ? size : 0, 0};
    char seed[32];
    if (schedule != NULL && schedule->policy < TG_SCHEDULE_POLICIES) {
        put(&w, policy_names[schedule->policy]);
        if (schedule->policy == TG_SCHEDULE_RANDOM || schedule->policy == TG_SCHEDULE_ADVERSARIAL) {
            snprintf(seed, sizeof seed, ":%llu", (unsigned long long)schedule->seed);
            put(&w, seed);
        }
        if (schedule->policy == TG_SCHEDULE_ORDER)
            put_pairs(&w, schedule);
    }
    if (text != NULL && size > 0)
        text[w.length < size ? w.length : size - 1] = '\0';
    return w.length;
}
