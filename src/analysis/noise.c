/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/noise.h"
#include "recording/reader.h"

#include <math.h>
#include <stdlib.h>
#include <taskglass/analysis.h>

#include "analysis/diff.h"
#include "base/error.h"

void tg_noise_free(struct tg_noise *noise)
{
    free(noise->floor);
    *noise = (struct tg_noise){0};
}

double tg_noise_floor(const struct tg_noise *noise, uint64_t record_b)
{
    return record_b < noise->n_floors ? noise->floor[record_b] : (double)NAN;
}

static bool make_room(struct tg_noise *noise, uint64_t records)
{
    if (noise->floor)
        return true;
    noise->floor = malloc((size_t)(records + 1) * sizeof *noise->floor);
    if (!noise->floor)
        return false;
    noise->n_floors = records;
    for (uint64_t i = 0; i < records; i++)
        noise->floor[i] = (double)NAN;
    return true;
}

/* What one good run differs by at one argument; NaN if the recordings do not tell. */
static double difference_of(const struct tg_diff_result *result)
{
    if (result->verdict == TG_VERDICT_SAME)
        return 0;
    if (result->has_values && !result->cut && result->values.special == 0)
        return result->values.max_abs;
    if (result->verdict != TG_VERDICT_UNKNOWN || result->reason == TG_REASON_OTHER_HASH)
        return (double)INFINITY;
    return (double)NAN;
}

static void measure(struct tg_noise *noise, struct tg_diff *good)
{
    struct tg_diff_pair pair;
    struct tg_diff_result result;
    for (uint64_t i = 0; tg_diff_get_pair(good, i, &pair); i++) {
        if (pair.record_a == TG_NONE || pair.record_b >= noise->n_floors)
            continue;
        tg_diff_compare(good, i, &result);
        double difference = difference_of(&result), *floor = &noise->floor[pair.record_b];
        if (isnan(*floor) || difference > *floor)
            *floor = difference;
    }
}

static tg_status refuse(const struct tg_recording *good, const char *why, struct tg_error *error)
{
    struct tg_recording_info info;
    tg_recording_get_info(good, &info);
    return tg_error_set(
        error, TG_BAD_ARGUMENT,
        "%s cannot show the noise of B: %s; noise is what runs of the same tasks with "
        "the same input differ by",
        info.dir, why);
}

/* Differences of runs that do not do the same are no noise, and would hide what is wrong. */
static tg_status check_run(struct tg_diff *good, struct tg_error *error)
{
    const struct tg_recording *recording = good->a.recording;
    struct tg_diff_task task;
    struct tg_diff_result result;
    if (good->match.only_a + good->match.only_b > 0)
        return refuse(recording, "it ran other tasks", error);
    if (!tg_diff_get_task(good, 0, &task) || task.id_a != TG_TASK_NONE || !task.in_a || !task.in_b)
        return TG_OK; /* what the orchestrations were given was not recorded */
    for (uint64_t i = 0; i < task.pairs; i++)
        if (tg_diff_compare(good, task.first_pair + i, &result) &&
            (result.verdict == TG_VERDICT_DIFFERS || result.verdict == TG_VERDICT_CLOSE ||
             result.reason == TG_REASON_OTHER_HASH))
            return refuse(recording, "its orchestration was given other data", error);
    return TG_OK;
}

tg_status tg_diff_add_noise(struct tg_diff *diff, const struct tg_recording *good,
                            struct tg_error *error)
{
    TG_REFUSE_NULL(error, diff);
    TG_REFUSE_NULL(error, good);
    struct tg_diff_options options = {.equal_nan = diff->equal_nan};
    struct tg_diff *other;
    if (!make_room(&diff->noise, diff->b.info.records))
        return tg_error_set(error, TG_NO_MEMORY, "no memory for the noise of an argument");
    tg_status status = tg_diff_open(good, diff->b.recording, &options, &other, error);
    if (status != TG_OK)
        return status;
    status = check_run(other, error);
    if (status == TG_OK) {
        measure(&diff->noise, other);
        diff->noise.runs++;
        status = tg_recording_conclude(good, status, error);
        status = tg_recording_conclude(diff->b.recording, status, error);
    }
    tg_diff_close(other);
    return status;
}
