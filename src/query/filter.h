/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses `--dump-filter`, which says what a run records.
 *
 *     filters = filter { ";" filter }             an argument is recorded if one filter matches
 *     filter  = key "=" value { "," key "=" value }        a filter matches if all keys match
 *
 *     task=12  task=1:0-1:99  task=0x100000000      one id or a range, both ends inclusive
 *     kernel=add  kernel=mat*                       * stands for any characters, ? for one
 *     stage=before  stage=before+after              before[_dispatch] after[_completion]
 *                                                   orchestration
 *     role=in  role=in+scalar                       in[put] out[put] inout scalar
 *     arg=0  arg=0-2  arg=0+3                       as the manifest counts: tensors, then scalars
 *
 * A key that is absent matches everything. Task ids are written as in taskglass/query.h.
 */
#ifndef TG_QUERY_FILTER_H
#define TG_QUERY_FILTER_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/status.h>
#include <taskglass/wire/stream.h>

enum { TG_FILTER_KERNEL_SIZE = 240 }; /* as long as a kernel's name in a journal may be */

struct tg_filter_spec {
    struct tg_filter filter;            /* everything but the kernel, ready for the device */
    char kernel[TG_FILTER_KERNEL_SIZE]; /* the pattern; "" matches every kernel */
};

/*
 * Fills specs[0 … *count - 1]. `text` is the whole text; if an option is given several times, the
 * caller joins its values with ';'. "" gives no filters. BAD_ARGUMENT has one line that names the
 * wrong word and says what to write; *count is then 0.
 */
tg_status tg_filter_parse(const char *text, struct tg_filter_spec specs[TG_MAX_FILTERS],
                          uint32_t *count, struct tg_error *error);

bool tg_filter_kernel_matches(const struct tg_filter_spec *spec, const char *kernel);

#endif
