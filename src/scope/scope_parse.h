/* SPDX-License-Identifier: Apache-2.0 */
/* Parsers of the two scope stats files, from memory; the reader is built on them. */
#ifndef TG_SCOPE_SCOPE_PARSE_H
#define TG_SCOPE_SCOPE_PARSE_H

#include <stddef.h>

#include "base/files.h"
#include "scope/scope_reader.h"

/* Parses the samples; errors call the file `name`. Does not end the tally. */
tg_status tg_scope_parse_samples(const char *name, const struct tg_map *map,
                                 tg_scope_sample_fn each, void *context,
                                 struct tg_scope_stats *stats, struct tg_error *error);
/* Parses the samples and ends the tally; reads no summary. */
tg_status tg_scope_stats_parse(const char *name, const void *bytes, size_t size,
                               tg_scope_sample_fn each, void *context, struct tg_scope_stats *stats,
                               struct tg_error *error);
/* Parses a summary. Returns NULL, or what is wrong with it. */
const char *tg_scope_guilty_parse(const void *bytes, size_t size, struct tg_scope_guilty *guilty);

#endif
