/* SPDX-License-Identifier: Apache-2.0 */
/* What to do about a run that went wrong: where it is known, the whole command to type. */
#include "host/execution.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <taskglass/text.h>

static void add(struct tg_execution *e, const char *text)
{
    size_t used = strlen(e->advice);
    snprintf(e->advice + used, sizeof e->advice - used, "%s", text);
}

/* The output directory as one word for a shell, or "DIR". */
static const char *directory(const struct tg_execution *e, char word[600])
{
    if (!tg_text_shell_word(e->output_dir, word, 600) || !*word)
        return "DIR";
    return word;
}

/* Writes the command that started the run. False if it does not fit: a part of it would be another one. */
static bool command_line(const struct tg_execute_config *config, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < config->argc; i++) {
        char word[600];
        int wrote;
        if (!tg_text_shell_word(config->argv[i], word, sizeof word))
            return false;
        wrote = snprintf(text + used, size - used, "%s%s", i ? " " : "", word);
        if (wrote < 0 || (size_t)wrote >= size - used)
            return false;
        used += (size_t)wrote;
    }
    return used > 0;
}

/* An output has a NaN where another value was expected. */
static bool has_nan(const struct tg_execution *e)
{
    for (uint32_t i = 0; i < e->n_outputs; i++)
        if (e->outputs[i].mismatches > 0 && isnan(e->outputs[i].first_got) &&
            !isnan(e->outputs[i].first_expected))
            return true;
    return false;
}

static void advise_on_recorded(struct tg_execution *e, const struct tg_workload *workload)
{
    char text[900], word[600];
    if (has_nan(e))
        snprintf(text, sizeof text,
                 "`taskglass find nan %s` finds the task that made the first one",
                 directory(e, word));
    else if (workload->n_references > 0)
        snprintf(text, sizeof text,
                 "`taskglass check %s` finds the first task whose kernel is wrong",
                 directory(e, word));
    else
        snprintf(
            text, sizeof text,
            "record a correct run too, and `taskglass diff CORRECT_RUN %s` finds the first "
            "task that differs; `taskglass find nan`, `unwritten` and `stomp` need no other run",
            directory(e, word));
    add(e, text);
}

static void advise_on_unrecorded(struct tg_execution *e, const struct tg_workload *workload,
                                 const struct tg_execute_config *config)
{
    char line[1000];
    if (!command_line(config, line, sizeof line))
        return;
    add(e, "record the run: `");
    add(e, line);
    add(e, workload->n_references > 0
               ? " --dump-tensor`; then `taskglass check` finds the first task that is wrong"
               : " --dump-tensor`; then compare it with a correct one: `taskglass diff`");
}

static void advise_on_fault(struct tg_execution *e)
{
    if (e->run.site.at.line != 0 || e->run.site_status == TG_OK)
        return;
    add(e, tg_status_advice(e->status));
    add(e, e->run.site_status == TG_UNSUPPORTED
               ? "; install binutils (addr2line), and the report names the source line"
               : "; compile the module with -g, and the report names the source line");
}

/* Where a larger ring would do, the report of the orchestration names the option and its value. */
static bool needs_more_than_any_ring(const struct tg_execution *e)
{
    bool is_ring = e->status == TG_SCOPE_DEADLOCK || e->status == TG_HEAP_RING_DEADLOCK ||
                   e->status == TG_DEP_POOL_OVERFLOW || e->status == TG_TENSORMAP_OVERFLOW;
    return is_ring && !*e->run.orchestration.advice;
}

void tg_execution_advise(struct tg_execution *e, const struct tg_workload *workload,
                         const struct tg_execute_config *config)
{
    e->advice[0] = '\0';
    e->advised = e->status;
    if (e->status == TG_MISMATCH && e->run.record.on && e->run.record.summary.recorded > 0)
        advise_on_recorded(e, workload);
    else if (e->status == TG_MISMATCH)
        advise_on_unrecorded(e, workload, config);
    else if (e->status == TG_KERNEL_FAULT || e->status == TG_HANG)
        advise_on_fault(e);
    else if (needs_more_than_any_ring(e))
        add(e, "let this scope need less: smaller tensors, or several scopes in place of one");
}

const char *tg_execution_advice(const struct tg_execution *e)
{
    const char *advice = e->run.orchestration.advice;
    if (e->status != TG_OK && *advice)
        return advice;
    return *e->advice && e->advised == e->status ? e->advice : tg_status_advice(e->status);
}
