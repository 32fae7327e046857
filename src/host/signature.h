/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments that a kernel expects: "in:float32 out scalar:int64" (see workload.h). */
#ifndef TG_HOST_SIGNATURE_H
#define TG_HOST_SIGNATURE_H

#include <stdbool.h>
#include <taskglass/args.h>
#include <taskglass/status.h>
#include <taskglass/wire/orchestration.h>

/* NULL text accepts any arguments. BAD_ARGUMENT names the word that is wrong. */
tg_status tg_signature_parse(struct tg_kernel_desc *kernel, const char *text,
                             struct tg_error *error);

/* Explains why tg_signature_fits (common/task_check.h) returned false. BAD_ARGUMENT. */
tg_status tg_signature_explain(const struct tg_kernel_desc *kernel, const struct tg_args *args,
                               struct tg_error *error);

#endif
