/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel wants as arguments: "in:float32 out scalar:int64" (see workload.h). */
#ifndef TG_HOST_SIGNATURE_H
#define TG_HOST_SIGNATURE_H

#include <stdbool.h>
#include <taskglass/args.h>
#include <taskglass/status.h>
#include <taskglass/wire/orchestration.h>

/* NULL text: anything goes. BAD_ARGUMENT names the word that makes no sense. */
tg_status tg_signature_parse(struct tg_kernel_desc *kernel, const char *text,
                             struct tg_error *error);

/* Where tg_signature_fits (common/task_check.h) says no: what is wrong, in words. BAD_ARGUMENT. */
tg_status tg_signature_explain(const struct tg_kernel_desc *kernel, const struct tg_args *args,
                               struct tg_error *error);

const char *tg_role_name(unsigned role);

#endif
