/* SPDX-License-Identifier: Apache-2.0 */
/* The two files of scope stats, out of memory: what the reader is made of. */
#ifndef TG_SCOPE_SCOPE_PARSE_H
#define TG_SCOPE_SCOPE_PARSE_H

#include <stddef.h>

#include "base/files.h"
#include "scope/scope_reader.h"

/* The samples; `name` is what errors call the file. The tally has not ended. */
tg_status tg_scope_parse_samples(const char *name, const struct tg_map *map,
                                 tg_scope_sample_fn each, void *context,
                                 struct tg_scope_stats *stats, struct tg_error *error);
/* The same, and the tally has ended; no summary. */
tg_status tg_scope_stats_parse(const char *name, const void *bytes, size_t size,
                               tg_scope_sample_fn each, void *context, struct tg_scope_stats *stats,
                               struct tg_error *error);
/* A summary: NULL, or what is wrong with it. */
const char *tg_scope_guilty_parse(const void *bytes, size_t size, struct tg_scope_guilty *guilty);

#endif
