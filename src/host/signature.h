/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel wants as arguments: "in:float32 out scalar:int64" (see workload.h). */
#ifndef TG_HOST_SIGNATURE_H
#define TG_HOST_SIGNATURE_H

#include <stdbool.h>
#include <taskglass/args.h>
#include <taskglass/status.h>

struct tg_signature {
    bool given; /* false: anything goes */
    uint8_t n_tensors;
    uint8_t n_scalars;
    uint8_t role[TG_MAX_TENSORS];
    uint8_t tensor_dtype[TG_MAX_TENSORS]; /* TG_DTYPE_NONE: any */
    uint8_t scalar_dtype[TG_MAX_SCALARS];
};

/* NULL text: anything goes. BAD_ARGUMENT names the word that makes no sense. */
tg_status tg_signature_parse(struct tg_signature *signature, const char *text,
                             struct tg_error *error);

/* Quick yes or no. */
bool tg_signature_matches(const struct tg_signature *signature, const struct tg_args *args);
/* For a no: what is wrong, in words. Always BAD_ARGUMENT. */
tg_status tg_signature_explain(const struct tg_signature *signature, const struct tg_args *args,
                               struct tg_error *error);

const char *tg_role_name(unsigned role);

#endif
