/* SPDX-License-Identifier: Apache-2.0 */
/* What to know about the times of a run, and what would be gained, as `taskglass path` says it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <taskglass/comm.h>
#include <taskglass/ranks.h>

#include "analysis/timing.h"
#include "base/error.h"

/* --- notes ------------------------------------------------------------------------------------ */

typedef bool (*note_fn)(struct tg_note *note, const struct tg_timing_info *info);

__attribute__((format(printf, 2, 3))) static bool say(struct tg_note *note, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    (void)vsnprintf(note->text, sizeof note->text, format, values);
    va_end(values);
    return true;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static bool is_recording(const struct tg_timing_info *info)
{
    return strcmp(info->source, "recording") == 0;
}

/* What a recording lacks, tg_recording_note says. */
static bool note_result(struct tg_note *note, const struct tg_timing_info *info)
{
    return !is_recording(info) && *info->result && strcmp(info->result, "OK") != 0 &&
           say(note, "the run ended with %s; this is the time up to the last end of a task",
               info->result);
}

static bool note_unfinished(struct tg_note *note, const struct tg_timing_info *info)
{
    return info->unfinished > 0 && say(note, "%" PRIu64 " task%s had begun and not ended",
                                       info->unfinished, plural(info->unfinished));
}

static bool note_recording(struct tg_note *note, const struct tg_timing_info *info)
{
    return is_recording(info) &&
           say(note, "a task's time includes the time that recording it took; a trace has none "
                     "(run --trace)");
}

static bool note_untimed(struct tg_note *note, const struct tg_timing_info *info)
{
    uint64_t untimed = info->tasks - info->timed - info->half_timed;
    return untimed > info->unfinished &&
           say(note,
               "%" PRIu64 " of %" PRIu64 " tasks have no times: they did not run, or were not "
               "recorded",
               untimed - info->unfinished, info->tasks);
}

static bool note_half(struct tg_note *note, const struct tg_timing_info *info)
{
    return info->half_timed > 0 &&
           say(note,
               "of %" PRIu64 " task%s only the begin or only the end is known: kernels that only "
               "write or only read are recorded once",
               info->half_timed, plural(info->half_timed));
}

static bool note_submits(struct tg_note *note, const struct tg_timing_info *info)
{
    return !info->has_submits && !*info->wait_unknown && !info->has_ready &&
           say(note, "when tasks were submitted is not known: what looks like waiting for a core "
                     "may be waiting for the orchestrator");
}

static bool note_edges(struct tg_note *note, const struct tg_timing_info *info)
{
    return info->unknown_edges + info->early_edges > 0 &&
           say(note,
               "left out: %" PRIu64 " edge%s to unknown tasks, %" PRIu64
               " edge%s whose second task began too early",
               info->unknown_edges, plural(info->unknown_edges), info->early_edges,
               plural(info->early_edges));
}

static bool note_lost(struct tg_note *note, const struct tg_timing_info *info)
{
    return !is_recording(info) && info->lost > 0 &&
           say(note, "LOST %" PRIu64 " events or records: tasks and edges may be missing",
               info->lost);
}

static bool note_odd(struct tg_note *note, const struct tg_timing_info *info)
{
    return info->twins + info->backward > 0 &&
           say(note,
               "the file has %" PRIu64 " entries that came twice, and %" PRIu64
               " that end before they begin",
               info->twins, info->backward);
}

/* "1.25 ms" */
static const char *format_time(char *text, size_t room, uint64_t ns)
{
    if (ns < 1000)
        (void)snprintf(text, room, "%" PRIu64 " ns", ns);
    else if (ns < 1000000)
        (void)snprintf(text, room, "%.3g µs", (double)ns / 1e3);
    else if (ns < 1000000000)
        (void)snprintf(text, room, "%.3g ms", (double)ns / 1e6);
    else
        (void)snprintf(text, room, "%.4g s", (double)ns / 1e9);
    return text;
}

/* "tg_recv from rank 1" */
static void name_call(char *text, size_t room, const struct tg_timeline_call *call)
{
    const char *name = tg_comm_kind_name(call->kind);
    if (call->peer == TG_COMM_NONE)
        (void)snprintf(text, room, "%s%s", name,
                       tg_call_is_message(call->kind) ? "" : " with all ranks");
    else
        (void)snprintf(text, room, "%s %s rank %d", name,
                       call->kind == TG_COMM_SEND ? "to" : "from", call->peer);
}

/* Whom the path waited for longest. */
static bool note_comm(struct tg_note *note, const struct tg_timing *timing)
{
    char all[32], most[32], name[80];
    const struct tg_timeline_call *longest = NULL;
    for (uint64_t i = 0; timing->comm && i < timing->info.steps; i++) {
        uint32_t task = (uint32_t)timing->steps[i].task;
        if (timing->comm[task] > 0 &&
            (!longest || timing->comm[task] > timing->comm[longest->task]))
            longest = tg_timing_call(timing, task);
    }
    if (!longest)
        return false;
    uint64_t id = timing->line.task[longest->task].id;
    name_call(name, sizeof name, longest);
    return say(
        note, "the path waited %s for communication, longest in %s: %s, task %" PRIu64 ":%" PRIu64,
        format_time(all, sizeof all, timing->info.spent[TG_SPENT_COMM]), name,
        format_time(most, sizeof most, timing->comm[longest->task]), id >> 32, id & UINT32_MAX);
}

/* If tasks ended earlier, there would be room earlier, but how much earlier is not known. */
static bool note_waits(struct tg_note *note, const struct tg_timing *timing)
{
    return timing->line.n_waits > 0 && !*timing->info.path_unknown &&
           say(note,
               "the orchestrator waited for tasks: an estimate keeps the times of submissions, so "
               "more may be gained");
}

bool tg_timing_note(const struct tg_timing *timing, unsigned number, struct tg_note *note)
{
    static const note_fn notes[] = {note_result,  note_unfinished, note_lost,
                                    note_untimed, note_half,       note_submits,
                                    note_edges,   note_odd,        note_recording};
    if (timing == NULL || note == NULL)
        return false;
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
        if (notes[i](note, &timing->info) && number-- == 0)
            return true;
    if (note_comm(note, timing) && number-- == 0)
        return true;
    return number == 0 && note_waits(note, timing);
}

/* --- what would be gained --------------------------------------------------------------------- */

/* In the order of their numbers; those of kernels follow. */
enum { CHAIN_BOUND, BOUND, UNLIMITED_CORES, NO_LATENCY, NO_ORCHESTRATOR };

static const struct {
    const char *change, *text;
} gains[TG_TIMING_GAINS] = {
    [CHAIN_BOUND] = {"unlimited_cores_no_waiting", "unlimited cores, no waiting"},
    [BOUND] = {"no_waiting", "these cores, no waiting"},
    [UNLIMITED_CORES] = {"unlimited_cores", "unlimited cores"},
    [NO_LATENCY] = {"no_latency", "no scheduling latency"},
    [NO_ORCHESTRATOR] = {"no_orchestrator", "an orchestrator that takes no time"},
};

static uint64_t bound_of(const struct tg_timing_info *info, uint64_t number)
{
    if (number == CHAIN_BOUND || info->bound_chain == TG_NONE)
        return info->bound_chain;
    return info->bound_chain > info->bound_work ? info->bound_chain : info->bound_work;
}

/* True if the times say what the change would do. */
static bool is_known(const struct tg_timing_info *info, uint64_t number)
{
    return !*info->path_unknown && !(number == NO_LATENCY && *info->wait_unknown) &&
           !(number == NO_ORCHESTRATOR && !info->has_submits);
}

tg_status tg_timing_get_gain(const struct tg_timing *timing, uint64_t number,
                             struct tg_timing_gain *gain, struct tg_error *error)
{
    TG_REFUSE_NULL(error, timing);
    TG_REFUSE_NULL(error, gain);
    const struct tg_timing_info *info = &timing->info;
    const bool is_of_kernel = number >= TG_TIMING_GAINS;
    const uint64_t kernel = is_of_kernel ? (number - TG_TIMING_GAINS) / TG_TIMING_KERNEL_GAINS : 0;
    if (is_of_kernel && kernel >= info->kernels)
        return tg_error_set(error, TG_NOT_FOUND, "there is no gain %" PRIu64, number);
    *gain = (struct tg_timing_gain){.change = is_of_kernel ? "kernel" : gains[number].change,
                                    .text = is_of_kernel ? "" : gains[number].text,
                                    .is_bound = number <= BOUND,
                                    .span = TG_NONE,
                                    .kernel = is_of_kernel ? kernel : TG_NONE,
                                    .percent = 100};
    if (gain->is_bound) {
        gain->span = bound_of(info, number);
        return TG_OK;
    }
    if (is_of_kernel)
        gain->percent = (number - TG_TIMING_GAINS) % TG_TIMING_KERNEL_GAINS == 0 ? 0 : 50;
    if (!is_known(info, number))
        return TG_OK;
    const struct tg_timing_change change = {.no_latency = number == NO_LATENCY,
                                            .no_orchestrator = number == NO_ORCHESTRATOR,
                                            .unlimited_cores = number == UNLIMITED_CORES,
                                            .kernel = gain->kernel,
                                            .percent = gain->percent};
    return tg_timing_what_if(timing, &change, &gain->span, error);
}
