/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the outputs of a case with its golden values. */
#ifndef TG_HOST_CASE_CHECK_H
#define TG_HOST_CASE_CHECK_H

#include <taskglass/check.h>

#include "host/case.h"
#include "platform/platform.h"

/*
 * Fills check[*n] for each output, and counts *n up; `check` has room for all tensors, and the caller
 * frees the names. Asks the watch between pieces, because outputs may be large.
 * MISMATCH names the first output that differs. CANCELLED: the watch asked to stop; the output at which
 * it did is not among the *n.
 */
tg_status tg_case_compare(struct tg_case_host *test_case, const struct tg_watch *watch,
                          struct tg_output_check *check, uint32_t *n, struct tg_error *error);

#endif
