/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which records of a recording are meant, in the words of the command line:
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
 *     role    in[put], out[put], inout; scalar stands for the kind
 *     kind    tensor, scalar
 *     kernel  names with * and ?; a number is the kernel's number
 *
 * A text is a comma list, of which one item must fit; an option that is added again adds to its
 * list; of different options, all must fit. A query belongs to no recording. Once everything is
 * added, several threads may use one at the same time.
 */
#ifndef TASKGLASS_QUERY_H
#define TASKGLASS_QUERY_H

#include <taskglass/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tg_query;

/* Selects every record until something is added. */
TG_API tg_status tg_query_create(struct tg_query **query, struct tg_error *error);
TG_API void tg_query_destroy(struct tg_query *query);

/* The texts are copied. BAD_ARGUMENT says what is wrong with the text, NOT_FOUND: no such option; the
 * query is then to be destroyed. */
TG_API tg_status tg_query_add(struct tg_query *query, const char *option, const char *text,
                              struct tg_error *error);

/* In what follows `query` may be NULL, which is a query without anything added: every record. */

/* Nothing was added. */
TG_API bool tg_query_is_empty(const struct tg_query *query);

/* Range `number` of what was added to task, index or arg, in order, overlapping ones
 * joined; both ends are inclusive. False past the last one, and for other options. */
TG_API bool tg_query_get_range(const struct tg_query *query, const char *option, size_t number,
                               uint64_t *first, uint64_t *last);

/* Whether that word was added to stage, role or kind; NULL: any word. False for other options. */
TG_API bool tg_query_has_word(const struct tg_query *query, const char *option, const char *word);

/* Whether a record is selected. `index`: its number in the recording. */
TG_API bool tg_query_matches(const struct tg_query *query, uint64_t index,
                             const struct tg_entry *entry);

/* The first record from *index on that is selected and not damaged, without looking at those that
 * `index` leaves out; false where there is none. */
TG_API bool tg_query_next(const struct tg_query *query, const struct tg_recording *recording,
                          uint64_t *index, struct tg_entry *entry);

#ifdef __cplusplus
}
#endif
#endif
