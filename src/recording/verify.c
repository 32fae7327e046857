/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/text.h>
#include <taskglass/verify.h>

#include "base/error.h"
#include "base/names.h"
#include "recording/reader.h"
#include "recording/record.h"
#include "recording/verify_state.h"

const char *tg_problem_name(unsigned problem)
{
#define NAME(constant, word) [TG_PROBLEM_##constant] = (word),
    static const char *const names[TG_PROBLEMS] = {TG_PROBLEM_MAP(NAME)};
#undef NAME
    return problem < TG_PROBLEMS ? names[problem] : "unknown";
}

/* The payload file as a whole: it explains what is wrong with the records, so it comes first. */
static bool is_first(enum tg_problem problem, uint64_t index)
{
    return problem == TG_PROBLEM_RECORD && index == TG_NONE;
}

/* Keeps the first ones by the number of their record, whichever thread finds them when. */
static struct tg_verify_finding *place_for(struct tg_verification *result, enum tg_problem problem,
                                           uint64_t index)
{
    const struct tg_verify_finding *finding = result->finding;
    uint32_t at = is_first(problem, index) ? 0 : result->n_findings;
    while (at > 0 && finding[at - 1].index > index &&
           !is_first((enum tg_problem)finding[at - 1].problem, finding[at - 1].index))
        at--;
    if (at == TG_VERIFY_FINDINGS)
        return NULL;
    uint32_t last =
        result->n_findings < TG_VERIFY_FINDINGS ? result->n_findings++ : TG_VERIFY_FINDINGS - 1;
    memmove(&result->finding[at + 1], &result->finding[at],
            (last - at) * sizeof result->finding[0]);
    return &result->finding[at];
}

void tg_verify_found(struct tg_verifier *verifier, enum tg_problem problem, uint64_t index,
                     const char *format, ...)
{
    va_list values;
    pthread_mutex_lock(&verifier->lock);
    verifier->result->problems++;
    verifier->result->by_problem[problem]++;
    struct tg_verify_finding *finding = place_for(verifier->result, problem, index);
    if (finding) {
        finding->problem = problem;
        finding->index = index;
        va_start(values, format);
        vsnprintf(finding->text, sizeof finding->text, format, values);
        va_end(values);
        tg_name_clean(finding->text, sizeof finding->text, finding->text, sizeof finding->text);
    }
    pthread_mutex_unlock(&verifier->lock);
}

/* Whose counters these are, and the name of the file that messages give. */
struct counters {
    struct tg_verifier *verifier;
    const char *file;
};

static void compare(const struct counters *counters, const char *name, uint64_t said, uint64_t is)
{
    if (said != is)
        tg_verify_found(counters->verifier, TG_PROBLEM_COUNTER, TG_NONE,
                        "%s says %" PRIu64 " %s, but there are %" PRIu64, counters->file, said,
                        name, is);
}

/* Compares the counters that every writer has. The other implementation counts scalars as
 * inputs. */
static void compare_common(const struct counters *counters, const struct tg_record_summary *said,
                           const struct tg_record_summary *is, bool foreign)
{
    compare(counters, "records", said->recorded, is->recorded);
    compare(counters, "before dispatch", said->before_dispatch, is->before_dispatch);
    compare(counters, "after completion", said->after_completion, is->after_completion);
    compare(counters, "inputs", said->inputs, is->inputs + (foreign ? is->scalars : 0));
    compare(counters, "outputs", said->outputs, is->outputs);
    compare(counters, "inouts", said->inouts, is->inouts);
    if (counters->verifier->short_records == 0)
        compare(counters, "truncated", said->truncated, is->truncated);
}

static void compare_own(const struct counters *counters, const struct tg_recording_info *info,
                        const struct tg_record_summary *is)
{
    const struct tg_record_summary *said = &info->summary;
    compare(counters, "overwritten", said->overwritten, is->overwritten);
    compare(counters, "of the orchestration", said->orchestration, is->orchestration);
    compare(counters, "scalars", said->scalars, is->scalars);
    if (counters->verifier->short_records == 0)
        compare(counters, "bytes of payload", said->payload_bytes, info->payload_bytes);
    if (info->complete && said->attempted != said->recorded + tg_record_lost(said))
        tg_verify_found(counters->verifier, TG_PROBLEM_COUNTER, TG_NONE,
                        "%s says %" PRIu64 " attempted, but %" PRIu64 " recorded and %" PRIu64
                        " lost",
                        counters->file, said->attempted, said->recorded, tg_record_lost(said));
}

void tg_verify_counters(struct tg_verifier *verifier, const struct tg_recording_info *info)
{
    const struct counters counters = {verifier,
                                      info->from_journal ? "the summary" : "the manifest"};
    if (info->from_journal && !info->complete)
        return; /* a journal without a summary has no counters */
    if (info->damaged > 0)
        return; /* they count what is damaged as well, and that has been reported */
    compare_common(&counters, &info->summary, &verifier->result->counted, info->foreign);
    if (!info->foreign)
        compare_own(&counters, info, &verifier->result->counted);
}

/* Sums up the bytes that belong to a record, each once. */
static void verify_extents(struct tg_verifier *verifier)
{
    uint64_t claims = tg_extents_sort(verifier->extent, verifier->info.records);
    uint64_t end = 0, owner = 0;
    for (uint64_t i = 0; i < claims; i++) {
        const struct tg_extent *extent = &verifier->extent[i];
        uint64_t last = extent->position + extent->size;
        if (extent->position < end)
            tg_verify_found(verifier, TG_PROBLEM_OVERLAP, TG_NONE,
                            "two payloads share the bytes from %" PRIu64
                            " on of the payload file: those of records %" PRIu64 " and %" PRIu64,
                            extent->position, owner, extent->record);
        if (last > end) {
            verifier->result->bytes += last - (extent->position > end ? extent->position : end);
            end = last;
            owner = extent->record;
        }
    }
    verifier->result->unclaimed = verifier->info.payload_bytes - verifier->result->bytes;
}

/* Bytes without a record are legitimate after a killed host and after a loss. */
static void verify_unclaimed(struct tg_verifier *verifier)
{
    const struct tg_record_summary *said = &verifier->info.summary;
    if (verifier->result->unclaimed > 0 && verifier->info.complete && verifier->info.damaged == 0 &&
        tg_record_lost(said) == 0 && said->overwritten == 0 && said->truncated == 0)
        tg_verify_found(verifier, TG_PROBLEM_UNCLAIMED, TG_NONE,
                        "%" PRIu64 " bytes of %s belong to no record", verifier->result->unclaimed,
                        verifier->info.payload);
}

/* Says once what the records that it cuts say one by one. The counters and entries that were right for
 * the whole file are not to blame. */
static void verify_payload_file(struct tg_verifier *verifier)
{
    if (verifier->short_records > 0)
        tg_verify_found(verifier, TG_PROBLEM_RECORD, TG_NONE,
                        "the payload file %s: it cuts the payloads of %" PRIu64 " records",
                        *verifier->info.payload ? "is too short" : "is missing",
                        verifier->short_records);
}

static tg_status run(struct tg_verifier *verifier, struct tg_error *error)
{
    const struct tg_recording *recording = verifier->recording;
    tg_verify_records(verifier);
    if (verifier->cancelled)
        return tg_error_set(error, TG_CANCELLED, "the verification was cancelled");
    verify_payload_file(verifier);
    tg_verify_journal(verifier);
    if (!verifier->info.from_journal)
        tg_verify_damage(verifier, recording);
    verify_extents(verifier);
    tg_verify_counters(verifier, &verifier->info);
    verify_unclaimed(verifier);
    tg_verify_manifest(verifier);
    return verifier->loss.status == TG_OK
               ? tg_recording_check_files(recording, error)
               : tg_error_set(error, verifier->loss.status, "%s", verifier->loss.text);
}

static tg_status verify(struct tg_verifier *verifier, struct tg_error *error)
{
    *verifier->result = (struct tg_verification){0};
    tg_recording_get_info(verifier->recording, &verifier->info);
    verifier->result->records = verifier->info.records;
    verifier->total =
        verifier->info.payload_bytes + verifier->info.records * sizeof(struct tg_record);
    verifier->zeros_from = UINT64_MAX;
    verifier->extent = calloc(verifier->info.records + 1, sizeof *verifier->extent);
    if (!verifier->extent)
        return tg_error_set(error, TG_NO_MEMORY, "no memory for %" PRIu64 " records",
                            verifier->info.records);
    pthread_mutex_init(&verifier->lock, NULL);
    tg_status status = run(verifier, error);
    pthread_mutex_destroy(&verifier->lock);
    free(verifier->extent);
    return status;
}

tg_status tg_recording_verify(const struct tg_recording *recording, tg_verify_progress_fn progress,
                              void *context, struct tg_verification *result, struct tg_error *error)
{
    TG_REFUSE_NULL(error, recording);
    TG_REFUSE_NULL(error, result);
    return verify(
        &(struct tg_verifier){
            .recording = recording, .result = result, .progress = progress, .context = context},
        error);
}

tg_status tg_recording_verify_watched(const struct tg_recording *recording,
                                      tg_verify_watch_fn watch, void *context,
                                      struct tg_verification *result, struct tg_error *error)
{
    TG_REFUSE_NULL(error, recording);
    TG_REFUSE_NULL(error, result);
    return verify(
        &(struct tg_verifier){
            .recording = recording, .result = result, .watch = watch, .context = context},
        error);
}

const char *tg_verification_result(const struct tg_recording *recording,
                                   const struct tg_verification *result,
                                   struct tg_verify_reason *reason)
{
    struct tg_recording_info info;
    char dir[4200];
    if (reason)
        reason->text[0] = '\0';
    if (recording == NULL || result == NULL)
        return "not known";
    if (result->problems > 0)
        return "bad";
    if (result->unread == 0)
        return "good";
    tg_recording_get_info(recording, &info);
    if (reason)
        snprintf(reason->text, sizeof reason->text,
                 "%" PRIu64 " tensor%s not read: the payload file has more than 16 GiB of holes; "
                 "to read them too, type: taskglass verify --force %s",
                 result->unread, result->unread == 1 ? "" : "s",
                 tg_text_shell_word(info.dir, dir, sizeof dir) ? dir : "DIR");
    return "not known";
}
