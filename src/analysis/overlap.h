/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two tensors of one run have bytes in common. */
#ifndef TG_ANALYSIS_OVERLAP_H
#define TG_ANALYSIS_OVERLAP_H

#include <stdbool.h>
#include <taskglass/wire/record.h>

/* Returns false for views of so many pieces that this is not known. */
bool tg_records_overlap(const struct tg_record *a, const struct tg_record *b);
/* True for a view of so many pieces that the analyses take all bytes from its first to its last. */
bool tg_record_is_rough(const struct tg_record *record);

#endif
