/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a recorded task as a folder that anyone can build and run without Taskglass. */
#include <taskglass/dtype.h>
#include <taskglass/replay.h>

#include "base/error.h"
#include "host/bundle_source.h"
#include "host/replay.h"
#include "host/signature.h"
#include "host/text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static tg_status cannot(const char *path, struct tg_error *error)
{
    return tg_error_set(error, TG_IO_ERROR, "%s: %s", path, strerror(errno));
}

static tg_status write_bytes(const char *folder, const char *name, const void *bytes, size_t size,
                             struct tg_error *error)
{
    char path[4200];
    FILE *file;
    bool good;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "wb");
    if (file == NULL)
        return cannot(path, error);
    good = fwrite(bytes, 1, size, file) == size;
    good &= fclose(file) == 0;
    return good ? TG_OK : cannot(path, error);
}

static tg_status write_text(const char *folder, const char *name, const char *text,
                            struct tg_error *error)
{
    return write_bytes(folder, name, text, strlen(text), error);
}

static tg_status copy_module(const char *folder, const char *from, struct tg_error *error)
{
    char path[4200], piece[65536];
    FILE *in = fopen(from, "rb"), *out;
    size_t n;
    bool good = true;
    if (in == NULL)
        return cannot(from, error);
    snprintf(path, sizeof path, "%s/workload.so", folder);
    out = fopen(path, "wb");
    while (out != NULL && good && (n = fread(piece, 1, sizeof piece, in)) > 0)
        good = fwrite(piece, 1, n, out) == n;
    good &= out != NULL && fclose(out) == 0;
    fclose(in);
    return good ? TG_OK : cannot(path, error);
}

/* ── task.h ────────────────────────────────────────────────────────────────────────────── */

static void put_list(FILE *file, const int64_t *values, int n)
{
    fputc('{', file);
    for (int i = 0; i < n; i++)
        fprintf(file, "%s%lld", i ? ", " : "", (long long)values[i]);
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
    fputs("};\n", file);
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
    fputs("};\n#else\nstatic tg_kernel_fn kernels[3];\n#endif\n", file);
}

static tg_status write_task(const char *folder, const struct tg_recorded_task *task,
                            struct tg_error *error)
{
    char path[4200], name[32];
    FILE *file;
    snprintf(path, sizeof path, "%s/task.h", folder);
    file = fopen(path, "w");
    if (file == NULL)
        return cannot(path, error);
    fprintf(file, "/* Task %s. */\n#define N_TENSORS %u\n#define N_SCALARS %u\n",
            tg_task_text(task->id, name), task->n_tensors, task->n_scalars);
    fprintf(file, "#define N_BLOCKS %u\n#define N_PARTS %u\n", task->n_blocks, task->n_parts);
    put_tensors(file, task);
    fputs("static const struct tg_scalar scalars[N_SCALARS + 1] = {", file);
    for (uint32_t i = 0; i < task->n_scalars; i++)
        fprintf(file, "%s{0x%llxu, %u, {0}}", i ? ", " : "",
                (unsigned long long)task->scalar[i].bits, task->scalar[i].dtype);
    fputs("};\nstatic const uint64_t block_sizes[N_BLOCKS + 1] = {", file);
    for (uint32_t b = 0; b < task->n_blocks; b++)
        fprintf(file, "%s%llu", b ? ", " : "", (unsigned long long)task->block[b].size);
    fputs("};\n", file);
    put_kernels(file, task);
    return fclose(file) == 0 ? TG_OK : cannot(path, error);
}

/* ── the folder ────────────────────────────────────────────────────────────────────────── */

static tg_status write_data(const char *folder, const struct tg_recorded_task *task,
                            struct tg_error *error)
{
    char name[64];
    tg_status status = TG_OK;
    for (uint32_t b = 0; b < task->n_blocks && status == TG_OK; b++) {
        snprintf(name, sizeof name, "data/block%u.bin", b);
        status = write_bytes(folder, name, task->block[b].image, task->block[b].size, error);
    }
    for (uint32_t i = 0; i < task->n_tensors && status == TG_OK; i++) {
        const struct tg_recorded_tensor *t = &task->tensor[i];
        if (t->role == TG_IN || t->after == NULL)
            continue;
        snprintf(name, sizeof name, "data/arg%u.expected.bin", i);
        status = write_bytes(folder, name, t->after, t->bytes, error);
    }
    return status;
}

static tg_status make_folder(const char *folder, struct tg_error *error)
{
    char data[4200];
    snprintf(data, sizeof data, "%s/data", folder);
    if (mkdir(folder, 0777) != 0)
        return cannot(folder, error);
    return mkdir(data, 0777) == 0 ? TG_OK : cannot(data, error);
}

static tg_status write_readme(const char *folder, const struct tg_recorded_task *task,
                              struct tg_error *error)
{
    char text[1024], kernels[200], name[32];
    tg_replay_kernel_names(task, kernels, sizeof kernels);
    snprintf(text, sizeof text,
             "# Task %s, kernel %s\n\nOne task of a recorded run: its memory before it ran "
             "(`data/block*.bin`), its recorded outputs\n(`data/arg*.expected.bin`), and a program "
             "that runs the kernel once and compares.\n\n    cmake -B build && cmake --build build "
             "&& build/replay\n\nExit code 0: the outputs are as recorded; 1: an output "
             "differs. `CMakeLists.txt` says how to build\nwith a kernel's source instead of the "
             "recorded module.\n",
             tg_task_text(task->id, name), kernels);
    return write_text(folder, "README.md", text, error);
}

tg_status tg_replay_bundle(const struct tg_recording *recording, uint64_t id,
                           const struct tg_replay_config *config, const char *folder,
                           struct tg_error *error)
{
    TG_REFUSE_NULL(error, recording);
    TG_REFUSE_NULL(error, folder);
    struct tg_recorded_task task;
    char module[4096];
    tg_status status =
        tg_replay_module(recording, config ? config->module : NULL, module, sizeof module, error);
    if (status == TG_OK)
        status = tg_recorded_task_read(recording, id, &task, error);
    if (status != TG_OK)
        return status;
    status = make_folder(folder, error);
    if (status == TG_OK)
        status = write_text(folder, "main.c", bundle_main, error);
    if (status == TG_OK)
        status = write_text(folder, "taskglass_abi.h", bundle_abi, error);
    if (status == TG_OK)
        status = write_text(folder, "CMakeLists.txt", bundle_cmake, error);
    if (status == TG_OK)
        status = write_task(folder, &task, error);
    if (status == TG_OK)
        status = write_data(folder, &task, error);
    if (status == TG_OK)
        status = copy_module(folder, module, error);
    if (status == TG_OK)
        status = write_readme(folder, &task, error);
    tg_recorded_task_free(&task);
    return status;
}
