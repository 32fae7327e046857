/* SPDX-License-Identifier: Apache-2.0 */
/* `stats` and `histogram`: numbers of all elements, or of the first ones if the time is over before the end. */
#include <taskglass/analysis.h>

#include "analysis/stats.h"
#include "workbench/clock.h"
#include "workbench/histogram.h"
#include "workbench/requests.h"
#include "workbench/shown.h"

/* Seconds that a request may read. */
enum { MOST_SECONDS = 10 };

static bool is_before(void *end)
{
    return tg_bench_now() < *(uint64_t *)end;
}

/* --- stats ---------------------------------------------------------------------------------- */

static void put_value(struct tg_json *json, const char *key, const struct tg_tensor_stats *stats,
                      unsigned dtype, uint64_t bits)
{
    struct tg_value_text text;
    tg_json_put_string(json, key, stats->has_range ? tg_value_format(dtype, bits, &text) : NULL);
}

static void put_finite(struct tg_json *json, const char *key, const struct tg_tensor_stats *stats,
                       double value)
{
    tg_json_key(json, key);
    if (stats->finite > 0)
        tg_json_real(json, value);
    else
        tg_json_null(json);
}

tg_status tg_request_stats(struct tg_request_context *context, struct tg_error *error)
{
    struct tg_shown shown;
    struct tg_tensor_stats stats;
    tg_status status = tg_shown_take_readable(context->run, context->ask, "record", &shown, error);
    if (status == TG_OK)
        status = tg_ask_check_all_used(context->ask, error);
    if (status == TG_OK)
        status = tg_answer_json(context->answer, error);
    if (status != TG_OK)
        return status;
    uint64_t end = tg_bench_now() + MOST_SECONDS * TG_BENCH_SECOND;
    const struct tg_array_asked asked = {.goes_on = is_before, .context = &end};
    const bool is_complete = tg_array_measure_asking(&shown.array, &asked, &stats);
    struct tg_json *json = &context->answer->json;
    tg_json_put_uint(json, "elements", (uint64_t)shown.array.elements);
    tg_json_put_uint(json, "nan", stats.nan);
    tg_json_put_uint(json, "infinite", stats.infinite);
    tg_json_put_uint(json, "finite", stats.finite);
    tg_json_put_uint(json, "zero", stats.zero);
    tg_json_put_uint(json, "denormal", stats.denormal);
    put_value(json, "least", &stats, shown.array.dtype, stats.least);
    put_value(json, "most", &stats, shown.array.dtype, stats.most);
    put_finite(json, "mean", &stats, stats.mean);
    put_finite(json, "deviation", &stats, stats.deviation);
    tg_json_put_uint(json, "looked_at", stats.elements);
    tg_json_put_bool(json, "complete", is_complete);
    return TG_OK;
}

/* --- histogram ------------------------------------------------------------------------------ */

static void put_edge(struct tg_json *json, const char *key, const struct tg_histogram *histogram,
                     double edge)
{
    tg_json_key(json, key);
    if (histogram->bins > 0)
        tg_json_real(json, edge);
    else
        tg_json_null(json);
}

static void put_histogram(struct tg_json *json, const struct tg_histogram *histogram,
                          uint64_t elements)
{
    put_edge(json, "from", histogram, histogram->from);
    put_edge(json, "to", histogram, histogram->to);
    tg_json_key(json, "counts");
    tg_json_begin_line_array(json);
    for (unsigned i = 0; i < histogram->bins; i++)
        tg_json_uint(json, histogram->count[i]);
    tg_json_end_array(json);
    tg_json_put_uint(json, "looked_at", histogram->looked_at);
    tg_json_put_bool(json, "complete", histogram->looked_at == elements);
}

tg_status tg_request_histogram(struct tg_request_context *context, struct tg_error *error)
{
    struct tg_shown shown;
    struct tg_histogram histogram;
    uint64_t bins;
    tg_status status = tg_shown_take_readable(context->run, context->ask, "record", &shown, error);
    if (status == TG_OK)
        status = tg_ask_uint(context->ask, "bins", TG_HISTOGRAM_LEAST, TG_HISTOGRAM_MOST,
                             TG_HISTOGRAM_USUAL, &bins, error);
    if (status == TG_OK)
        status = tg_ask_check_all_used(context->ask, error);
    if (status != TG_OK)
        return status;
    const uint64_t begin = tg_bench_now();
    uint64_t middle = begin + MOST_SECONDS * TG_BENCH_SECOND / 2;
    uint64_t end = begin + MOST_SECONDS * TG_BENCH_SECOND;
    const struct tg_array_asked asked[] = {{.goes_on = is_before, .context = &middle},
                                           {.goes_on = is_before, .context = &end}};
    status = tg_histogram_make(&shown.array, (unsigned)bins, asked, &histogram, error);
    if (status == TG_OK)
        status = tg_answer_json(context->answer, error);
    if (status == TG_OK)
        put_histogram(&context->answer->json, &histogram, (uint64_t)shown.array.elements);
    return status;
}
