/* SPDX-License-Identifier: Apache-2.0 */
#include "host/bundle.h"
#include "base/error.h"
#include "host/text.h"
#include <inttypes.h>
#include <string.h>
#include <taskglass/dtype.h>

/* ── names ─────────────────────────────────────────────────────────────────────────────── */

static bool is_keyword(const char *name)
{
    static const char *const words[] = {
        "auto",    "break",  "case",     "char",   "const",    "continue", "default",
        "do",      "double", "else",     "enum",   "extern",   "float",    "for",
        "goto",    "if",     "inline",   "int",    "long",     "register", "restrict",
        "return",  "short",  "signed",   "sizeof", "static",   "struct",   "switch",
        "typedef", "union",  "unsigned", "void",   "volatile", "while",
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(name, words[i]) == 0)
            return true;
    return false;
}

/* tg_text_is_name allows more: "-", "." and "+", and a digit first. */
static bool is_identifier(const char *name)
{
    return tg_text_is_name(name) && strpbrk(name, "-.+") == NULL &&
           !(name[0] >= '0' && name[0] <= '9') && !is_keyword(name);
}

tg_status tg_bundle_check(const struct tg_recorded_task *task, struct tg_error *error)
{
    char id[32];
    for (uint32_t part = 0; part < TG_PARTS; part++)
        if (*task->kernel[part] && !is_identifier(task->kernel[part]))
            return tg_error_set(error, TG_BAD_ARGUMENT,
                                "task %s: its kernel's name '%.100s' is no identifier of C, so no "
                                "source can be written for it; replay the task without --bundle",
                                tg_task_text(task->id, id), task->kernel[part]);
    return TG_OK;
}

/* ── task.h ────────────────────────────────────────────────────────────────────────────── */

/* C has no literal for the smallest number. */
static void put_number(FILE *file, const char *before, int64_t number)
{
    if (number == INT64_MIN)
        fprintf(file, "%s-INT64_MAX - 1", before);
    else
        fprintf(file, "%s%" PRId64, before, number);
}

static void put_list(FILE *file, const int64_t *values, int n)
{
    fputc('{', file);
    for (int i = 0; i < n; i++)
        put_number(file, i ? ", " : "", values[i]);
    fprintf(file, "%s}", n ? "" : "0");
}

static void put_tensors(FILE *file, const struct tg_recorded_task *task)
{
    fputs("static const struct {\n    struct tg_tensor view;\n    int block;\n    uint64_t offset, "
          "bytes;\n    unsigned bits;\n    int expected;\n} args[N_TENSORS + 1] = {\n",
          file);
    for (uint32_t i = 0; i < task->n_tensors; i++) {
        const struct tg_recorded_tensor *t = &task->tensor[i];
        fprintf(file, "    {{0, %llu, %lld, %u, %u, 0, 0, 0, ",
                (unsigned long long)t->tensor.storage_bytes, (long long)t->tensor.start,
                t->tensor.dtype, t->tensor.ndim);
        put_list(file, t->tensor.shape, t->tensor.ndim);
        fputs(", ", file);
        put_list(file, t->tensor.strides, t->tensor.ndim);
        fprintf(file, "}, %u, %llu, %llu, %u, %d}, /* %s %s */\n", t->block,
                (unsigned long long)t->offset, (unsigned long long)t->bytes,
                tg_bits_of(t->tensor.dtype), t->after != NULL && t->role != TG_IN,
                tg_role_name(t->role), tg_dtype_name(t->tensor.dtype));
    }
    fputs(task->n_tensors ? "};\n" : "    {{0}}};\n", file);
}

static void put_kernels(FILE *file, const struct tg_recorded_task *task)
{
    fputs("static const char *const kernel_names[3] = {", file);
    for (uint32_t part = 0; part < TG_PARTS; part++) {
        if (*task->kernel[part])
            fprintf(file, "%s\"%s\"", part ? ", " : "", task->kernel[part]);
        else
            fprintf(file, "%s0", part ? ", " : "");
    }
    fputs("};\n#ifdef KERNELS_LINKED\n", file);
    for (uint32_t part = 0; part < TG_PARTS; part++)
        if (*task->kernel[part])
            fprintf(file, "void %s(const struct tg_ctx *ctx);\n", task->kernel[part]);
    fputs("static const tg_kernel_fn kernels[3] = {", file);
    for (uint32_t part = 0; part < TG_PARTS; part++)
        fprintf(file, "%s%s", part ? ", " : "", *task->kernel[part] ? task->kernel[part] : "0");
}

/* The arguments as a signature names them: "in:float32". */
static void put_words(FILE *file, const struct tg_recorded_task *task)
{
    fputs("static const char *const arg_words[] = {", file);
    for (uint32_t i = 0; i < task->n_tensors; i++)
        fprintf(file, "\"%s:%s\", ", tg_role_name(task->tensor[i].role),
                tg_dtype_name(task->tensor[i].tensor.dtype));
    for (uint32_t i = 0; i < task->n_scalars; i++)
        fprintf(file, "\"scalar:%s\", ", tg_dtype_name(task->scalar[i].dtype));
    fputs("0};\n", file);
}

void tg_bundle_put_task(FILE *file, const struct tg_recorded_task *task)
{
    char name[32];
    fprintf(file, "/* Task %s. */\n#define N_TENSORS %u\n#define N_SCALARS %u\n",
            tg_task_text(task->id, name), task->n_tensors, task->n_scalars);
    fprintf(file, "#define N_BLOCKS %u\n#define N_PARTS %u\n", task->n_blocks, task->n_parts);
    put_tensors(file, task);
    fprintf(file, "static const struct tg_scalar scalars[%d] = {", TG_MAX_SCALARS);
    for (uint32_t i = 0; i < task->n_scalars; i++)
        fprintf(file, "%s{0x%" PRIx64 "u, %u, {0}}", i ? ", " : "", task->scalar[i].bits,
                task->scalar[i].dtype);
    fputs(task->n_scalars ? "};\n" : "{0, 0, {0}}};\n", file);
    fputs("static const uint64_t block_sizes[N_BLOCKS + 1] = {", file);
    for (uint32_t b = 0; b < task->n_blocks; b++)
        fprintf(file, "%" PRIu64 ", ", task->block[b].size);
    fputs("0};\n", file);
    put_kernels(file, task);
    fputs("};\n#else\nstatic tg_kernel_fn kernels[3];\n", file);
    put_words(file, task);
    fputs("#endif\n", file);
}
