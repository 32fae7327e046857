/* SPDX-License-Identifier: Apache-2.0 */
/* tg_tensor_measure for a caller that may be told to stop. */
#ifndef TG_ANALYSIS_STATS_H
#define TG_ANALYSIS_STATS_H

#include <taskglass/analysis.h>

#include "query/array_print.h"

/* Returns false if it was stopped: the numbers are then those of the first `stats->elements` elements. */
bool tg_array_measure_asking(const struct tg_array *array, const struct tg_array_asked *asked,
                             struct tg_tensor_stats *stats);

#endif
