/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selecting records of a recording, with the filters of the command line:
 *
 *     tg_query_create(&query, &error);
 *     tg_query_add(query, "kernel", "mat*,add", &error);
 *     tg_query_add(query, "stage", "after", &error);
 *     for (uint64_t i = 0; tg_query_next(query, recording, &i, &entry); i++)
 *         …
 *
 *     task    12, 0x10000000c, 1:12 (ring:index), and ranges: 1:0-1:99
 *     index   numbers of records, from 0 in the order of the file, and ranges
 *     arg     numbers and ranges
 *     stage   before[_dispatch], after[_completion], orchestration
 *     role    in[put], out[put], inout; or scalar, which selects all scalars
 *     kind    tensor, scalar
 *     kernel  names with * and ?; a number is the kernel's number
 *
 * A text is a list with commas, and a record must match one item of it. Adding an option again adds
 * to its list. A record must match all options. A query belongs to no recording, and several threads
 * may use it while no thread adds to it.
 */
#ifndef TASKGLASS_QUERY_H
#define TASKGLASS_QUERY_H

#include <taskglass/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tg_query;

/* Creates a query that selects every record until an option is added. */
TG_API tg_status tg_query_create(struct tg_query **query, struct tg_error *error);
TG_API void tg_query_destroy(struct tg_query *query);

/* Copies the texts. BAD_ARGUMENT: the error says what is wrong with the text; NOT_FOUND: no such
 * option. After an error the caller can only destroy the query. */
TG_API tg_status tg_query_add(struct tg_query *query, const char *option, const char *text,
                              struct tg_error *error);

/* In the functions below `query` may be NULL: it selects every record, as an empty query does. */

/* True if nothing was added. */
TG_API bool tg_query_is_empty(const struct tg_query *query);

/* Range `number` of those added to task, index or arg, in order, overlapping ones joined; both ends
 * are inclusive. False past the last range, and for other options. */
TG_API bool tg_query_get_range(const struct tg_query *query, const char *option, size_t number,
                               uint64_t *first, uint64_t *last);

/* NOT_FOUND, with a line that says what there is, if the option `index` names a record past the last one; a
 * range may reach past it. */
TG_API tg_status tg_query_check_index(const struct tg_query *query,
                                      const struct tg_recording *recording, struct tg_error *error);

/* True if that word was added to stage, role or kind; NULL: any word. False for other options. */
TG_API bool tg_query_has_word(const struct tg_query *query, const char *option, const char *word);

/* True if the record is selected. `index`: its number in the recording. */
TG_API bool tg_query_matches(const struct tg_query *query, uint64_t index,
                             const struct tg_entry *entry);

/* The first record from *index on that is selected and not damaged; false if there is none. Records
 * that the option `index` excludes are not read. */
TG_API bool tg_query_next(const struct tg_query *query, const struct tg_recording *recording,
                          uint64_t *index, struct tg_entry *entry);

#ifdef __cplusplus
}
#endif
#endif
