/* SPDX-License-Identifier: Apache-2.0 */
#include "host/signature.h"
#include "base/error.h"
#include "common/task_check.h"
#include <stdio.h>
#include <string.h>
#include <taskglass/dtype.h>
#include <taskglass/recording.h>

/* The role's number, 0 for a scalar, -1 for an unknown word. */
static int role_from_word(const char *word, size_t length)
{
    for (int role = 0; role < TG_ROLES; role++)
        if (strlen(tg_role_name((unsigned)role)) == length &&
            memcmp(word, tg_role_name((unsigned)role), length) == 0)
            return role;
    return -1;
}

static tg_status add(struct tg_kernel_desc *s, int role, uint8_t dtype, struct tg_error *error)
{
    if (role != 0 && s->n_scalars > 0)
        return tg_error_set(error, TG_BAD_ARGUMENT, "signature: tensors must come before scalars");
    if (role != 0 ? s->n_tensors == TG_MAX_TENSORS : s->n_scalars == TG_MAX_SCALARS)
        return tg_error_set(error, TG_BAD_ARGUMENT, "signature: at most %d tensors and %d scalars",
                            TG_MAX_TENSORS, TG_MAX_SCALARS);
    if (role == 0) {
        s->scalar_dtype[s->n_scalars++] = dtype;
    } else {
        s->role[s->n_tensors] = (uint8_t)role;
        s->tensor_dtype[s->n_tensors++] = dtype;
    }
    return TG_OK;
}

static tg_status parse_word(struct tg_kernel_desc *s, const char *word, size_t length,
                            struct tg_error *error)
{
    const char *colon = memchr(word, ':', length);
    size_t role_length = colon ? (size_t)(colon - word) : length;
    int role = role_from_word(word, role_length);
    char name[32] = "";
    enum tg_dtype dtype = TG_DTYPE_NONE;
    if (colon != NULL) {
        snprintf(name, sizeof name, "%.*s", (int)(length - role_length - 1), colon + 1);
        dtype = tg_dtype_from_name(name);
    }
    if (role < 0 || (colon != NULL && dtype == TG_DTYPE_NONE))
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "signature: '%.*s' is not in, out, inout or scalar with an optional "
                            ":dtype",
                            (int)length, word);
    return add(s, role, (uint8_t)dtype, error);
}

tg_status tg_signature_parse(struct tg_kernel_desc *signature, const char *text,
                             struct tg_error *error)
{
    memset(signature, 0, sizeof *signature);
    if (text == NULL)
        return TG_OK;
    signature->given = 1;
    for (;;) {
        size_t length;
        tg_status status;
        text += strspn(text, " ");
        if (*text == '\0')
            return TG_OK;
        length = strcspn(text, " ");
        status = parse_word(signature, text, length, error);
        if (status != TG_OK)
            return status;
        text += length;
    }
}

static tg_status explain_one(uint32_t argument, unsigned want_role, unsigned want_dtype,
                             unsigned got_role, unsigned got_dtype, struct tg_error *error)
{
    return tg_error_set(error, TG_BAD_ARGUMENT, "argument %u: the kernel wants %s%s%s, got %s:%s",
                        argument, tg_role_name(want_role), want_dtype ? ":" : "",
                        want_dtype ? tg_dtype_name((int)want_dtype) : "", tg_role_name(got_role),
                        tg_dtype_name((int)got_dtype));
}

tg_status tg_signature_explain(const struct tg_kernel_desc *s, const struct tg_args *args,
                               struct tg_error *error)
{
    if (!s->given)
        return TG_OK;
    for (uint32_t i = 0; i < s->n_tensors && i < args->n_tensors; i++)
        if (!tg_tensor_fits(s, args, i))
            return explain_one(i, s->role[i], s->tensor_dtype[i], args->role[i],
                               args->tensor[i].dtype, error);
    if (s->n_tensors != args->n_tensors || s->n_scalars != args->n_scalars)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "the kernel wants %u tensor%s and %u scalar%s, got %u and %u",
                            s->n_tensors, s->n_tensors == 1 ? "" : "s", s->n_scalars,
                            s->n_scalars == 1 ? "" : "s", args->n_tensors, args->n_scalars);
    for (uint32_t i = 0; i < s->n_scalars; i++)
        if (!tg_scalar_fits(s, args, i))
            return explain_one(s->n_tensors + i, 0, s->scalar_dtype[i], 0, args->scalar[i].dtype,
                               error);
    return TG_OK;
}
