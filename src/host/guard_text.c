/* SPDX-License-Identifier: Apache-2.0 */
/* The sentences of findings. */
#include "host/guard_finding.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <taskglass/args.h>

/* "[2, 15]"; "" for a tensor without dimensions. */
static const char *index_text(const struct tg_guard_finding *f, char text[160])
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t d = 0; d < f->ndim; d++)
        used += (size_t)snprintf(text + used, 160 - used, "%s%" PRId64 "%s", d > 0 ? ", " : "[",
                                 f->index[d], d + 1 == f->ndim ? "]" : "");
    return text;
}

/* "element [2, 15]", "its only element". */
static const char *element_text(const struct tg_guard_finding *f, char text[200])
{
    char index[160];
    if (f->ndim == 0)
        snprintf(text, 200, "its only element");
    else
        snprintf(text, 200, "element %s", index_text(f, index));
    return text;
}

/* "3 elements", "1 element". */
static const char *count_text(uint64_t count, char text[48])
{
    snprintf(text, 48, "%" PRIu64 " element%s", count, count == 1 ? "" : "s");
    return text;
}

/* "right behind element [63], its last in memory", "3 elements before …", "in the gap after row 2, …". */
static void say_where(const struct tg_guard_finding *f, const struct tg_tensor *t, bool is_before,
                      bool is_gap, char *text, size_t size)
{
    char element[200], far[48], row[64] = "";
    if (!f->has_element) {
        snprintf(text, size, "%s its memory, which has no element",
                 is_before ? "before" : "behind");
        return;
    }
    if (is_gap && t->ndim > 1 && f->index[t->ndim - 1] + 1 == t->shape[t->ndim - 1])
        snprintf(row, sizeof row, "after row %" PRIu64 ", ",
                 f->element / (uint64_t)t->shape[t->ndim - 1]);
    snprintf(text, size, "%s%s%s %s %s", is_gap ? "in the gap " : "", row,
             f->distance == 1 ? "right" : count_text(f->distance, far),
             is_before ? "before" : "behind", element_text(f, element));
}

/* ", 5 elements in all" */
static void say_count(const struct tg_guard_finding *f, char text[80])
{
    char count[48];
    text[0] = '\0';
    if (f->count > 1)
        snprintf(text, 80, ", %s in all", count_text(f->count, count));
}

static void say_outside(const struct tg_guard_finding *f, const struct tg_tensor *t,
                        const char *verb, char *text, size_t size)
{
    bool is_before = f->kind == TG_GUARD_WROTE_BEFORE || f->kind == TG_GUARD_READ_BEFORE ||
                     f->kind == TG_GUARD_USED_BEFORE;
    bool is_gap = f->kind == TG_GUARD_WROTE_GAP || f->kind == TG_GUARD_READ_GAP;
    char where[400], count[80];
    say_where(f, t, is_before, is_gap, where, sizeof where);
    say_count(f, count);
    snprintf(text, size, "%s memory that is not the argument's, %s%s", verb, where, count);
}

static void say(const struct tg_guard_finding *f, const struct tg_tensor *t, char *text,
                size_t size)
{
    char element[200], count[80];
    element_text(f, element);
    say_count(f, count);
    switch (f->kind) {
    case TG_GUARD_WROTE_INPUT:
        snprintf(text, size, "wrote %s, although it is an input%s", element, count);
        break;
    case TG_GUARD_UNWRITTEN:
        snprintf(text, size, "never wrote %s%s", element, count);
        break;
    case TG_GUARD_OLD_CONTENTS:
        snprintf(text, size, "%s depends on what outputs held before the task%s", element, count);
        break;
    case TG_GUARD_READ_BEFORE:
    case TG_GUARD_READ_BEHIND:
    case TG_GUARD_READ_GAP:
        say_outside(f, t, "read", text, size);
        break;
    case TG_GUARD_WROTE_BEFORE:
    case TG_GUARD_WROTE_BEHIND:
    case TG_GUARD_WROTE_GAP:
        say_outside(f, t, "wrote", text, size);
        break;
    default:
        say_outside(f, t, "used", text, size);
    }
}

void tg_guard_write_texts(const struct tg_recorded_task *task, struct tg_guard_report *report)
{
    for (uint32_t i = 0; i < report->n_findings; i++) {
        struct tg_guard_finding *f = &report->finding[i];
        char words[560], site[sizeof f->site];
        if (f->argument >= task->n_tensors)
            continue; /* a failure of the run has its text */
        say(f, &task->tensor[f->argument].tensor, words, sizeof words);
        memcpy(site, f->site, sizeof site);
        snprintf(f->text, sizeof f->text, "argument %u (%s): %s%s%s", f->argument,
                 tg_record_role_name(task->tensor[f->argument].role), words, *site ? ", " : "",
                 site);
    }
}
