/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a recorded task as a folder that anyone can build and run without Taskglass. */
#include <taskglass/dtype.h>
#include <taskglass/replay.h>

#include "base/error.h"
#include "base/files.h"
#include "base/signals.h"
#include "host/bundle.h"
#include "host/bundle_source.h"
#include "host/replay.h"
#include "host/text.h"
#include "host/trust.h"
#include "recording/reader.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder, and who may stop the writing of it. */
struct bundle {
    const char *folder;
    int (*stop)(void *context); /* NULL: nobody */
    void *context;
};

static bool is_stopped(const struct bundle *bundle)
{
    return bundle->stop && bundle->stop(bundle->context) != 0;
}

static tg_status stopped(struct tg_error *error)
{
    return tg_error_set(error, TG_CANCELLED, "the bundle was not written to its end");
}

static tg_status cannot(const char *path, struct tg_error *error)
{
    return tg_error_set(error, TG_IO_ERROR, "%s: %s", path, strerror(errno));
}

/* False with errno set if a write failed; CANCELLED is the caller's to find out. */
static bool put_pieces(const struct bundle *bundle, FILE *file, const char *bytes, size_t size)
{
    for (size_t at = 0, n; at < size && !is_stopped(bundle); at += n) {
        n = size - at < TG_READ_PIECE ? size - at : TG_READ_PIECE;
        if (fwrite(bytes + at, 1, n, file) != n)
            return false;
    }
    return true;
}

static tg_status write_bytes(const struct bundle *bundle, const char *name, const void *bytes,
                             size_t size, struct tg_error *error)
{
    char path[4200];
    FILE *file;
    bool good;
    snprintf(path, sizeof path, "%s/%s", bundle->folder, name);
    file = fopen(path, "wbx");
    if (file == NULL)
        return cannot(path, error);
    good = put_pieces(bundle, file, bytes, size);
    good &= fclose(file) == 0;
    if (is_stopped(bundle))
        return stopped(error);
    return good ? TG_OK : cannot(path, error);
}

static tg_status write_text(const struct bundle *bundle, const char *name, const char *text,
                            struct tg_error *error)
{
    return write_bytes(bundle, name, text, strlen(text), error);
}

/* The module that may be copied, open: a shared object, and one that a replay would load. */
static tg_status open_module(const struct tg_recording *recording,
                             const struct tg_replay_config *config, struct tg_module_file *file,
                             struct tg_error *error)
{
    struct tg_trusted module;
    tg_status status =
        tg_trust_choose(recording, config ? config->module : NULL, config ? config->ask : NULL,
                        config ? config->ask_context : NULL, &module, error);
    *file = (struct tg_module_file){.fd = -1};
    if (status == TG_OK)
        status = tg_module_file_open(module.path, file, error);
    if (status == TG_OK)
        status = tg_trust_still(&module, error);
    if (status != TG_OK)
        tg_module_file_close(file);
    return status;
}

/* Copies what was opened, as many bytes as it had then, whatever the path names by now. */
static tg_status copy_module(const struct bundle *bundle, const struct tg_module_file *module,
                             struct tg_error *error)
{
    char path[4200];
    int cause, fd;
    snprintf(path, sizeof path, "%s/workload.so", bundle->folder);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return cannot(path, error);
    cause = tg_module_file_copy(module, fd, bundle->stop, bundle->context);
    if (close(fd) != 0 && cause == 0)
        cause = errno;
    if (cause == ECANCELED || is_stopped(bundle))
        return stopped(error);
    return cause == 0 ? TG_OK : tg_file_error(error, "write", path, cause);
}

static tg_status write_task(const struct bundle *bundle, const struct tg_recorded_task *task,
                            struct tg_error *error)
{
    char path[4200];
    FILE *file;
    bool good;
    snprintf(path, sizeof path, "%s/task.h", bundle->folder);
    file = fopen(path, "wx");
    if (file == NULL)
        return cannot(path, error);
    tg_bundle_put_task(file, task);
    good = !ferror(file);
    good &= fclose(file) == 0;
    return good ? TG_OK : cannot(path, error);
}

/* ── the folder ────────────────────────────────────────────────────────────────────────── */

static tg_status write_data(const struct bundle *bundle, const struct tg_recorded_task *task,
                            struct tg_error *error)
{
    char name[64];
    tg_status status = TG_OK;
    for (uint32_t b = 0; b < task->n_blocks && status == TG_OK; b++) {
        snprintf(name, sizeof name, "data/block%u.bin", b);
        status = write_bytes(bundle, name, task->block[b].image, task->block[b].size, error);
    }
    for (uint32_t i = 0; i < task->n_tensors && status == TG_OK; i++) {
        const struct tg_recorded_tensor *t = &task->tensor[i];
        if (t->role == TG_IN || t->after == NULL)
            continue;
        snprintf(name, sizeof name, "data/arg%u.expected.bin", i);
        status = write_bytes(bundle, name, t->after, t->bytes, error);
    }
    return status;
}

static tg_status make_data_folder(const struct bundle *bundle, struct tg_error *error)
{
    char data[4200];
    snprintf(data, sizeof data, "%s/data", bundle->folder);
    return mkdir(data, 0777) == 0 ? TG_OK : cannot(data, error);
}

/* Removes the folder with what may have been written into it, and nothing else. */
static void remove_folder(const char *folder)
{
    sigset_t before;
    static const char *const names[] = {"main.c",         "kernels.h", "taskglass_abi.h",
                                        "CMakeLists.txt", "task.h",    "workload.so",
                                        "README.md"};
    char path[4200];
    tg_signals_hold(&before);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    for (uint32_t i = 0; i < TG_MAX_TENSORS; i++) {
        snprintf(path, sizeof path, "%s/data/block%u.bin", folder, i);
        unlink(path);
        snprintf(path, sizeof path, "%s/data/arg%u.expected.bin", folder, i);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/data", folder);
    rmdir(path);
    rmdir(folder);
    tg_signals_release(&before);
}

static tg_status write_readme(const struct bundle *bundle, const struct tg_recorded_task *task,
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
    return write_text(bundle, "README.md", text, error);
}

static tg_status write_folder(const struct bundle *bundle, const struct tg_recorded_task *task,
                              const struct tg_module_file *module, struct tg_error *error)
{
    tg_status status = make_data_folder(bundle, error);
    if (status == TG_OK)
        status = write_text(bundle, "main.c", bundle_main, error);
    if (status == TG_OK)
        status = write_text(bundle, "kernels.h", bundle_kernels, error);
    if (status == TG_OK)
        status = write_text(bundle, "taskglass_abi.h", bundle_abi, error);
    if (status == TG_OK)
        status = write_text(bundle, "CMakeLists.txt", bundle_cmake, error);
    if (status == TG_OK)
        status = write_task(bundle, task, error);
    if (status == TG_OK)
        status = write_data(bundle, task, error);
    if (status == TG_OK)
        status = copy_module(bundle, module, error);
    if (status == TG_OK)
        status = write_readme(bundle, task, error);
    return status;
}

tg_status tg_replay_bundle(const struct tg_recording *recording, uint64_t id,
                           const struct tg_replay_config *config, const char *folder,
                           struct tg_error *error)
{
    TG_REFUSE_NULL(error, recording);
    TG_REFUSE_NULL(error, folder);
    struct tg_recorded_task task = {0};
    struct tg_module_file module = {.fd = -1};
    const struct bundle bundle = {folder, config ? config->stop : NULL,
                                  config ? config->stop_context : NULL};
    tg_status status = tg_recorded_task_read(recording, id, 0, &task, error);
    status = tg_recording_conclude(recording, status, error);
    if (status == TG_OK)
        status = tg_bundle_check(&task, error);
    if (status == TG_OK)
        status = open_module(recording, config, &module, error);
    if (status == TG_OK && is_stopped(&bundle))
        status = stopped(error);
    if (status == TG_OK && mkdir(folder, 0777) != 0)
        status = errno == EEXIST
                     ? tg_error_set(error, TG_BAD_ARGUMENT,
                                    "'%s' already exists; name a new folder for the bundle", folder)
                     : cannot(folder, error);
    else if (status == TG_OK) {
        status = write_folder(&bundle, &task, &module, error);
        status = tg_recording_conclude(recording, status, error);
        if (status != TG_OK)
            remove_folder(folder);
    }
    tg_recorded_task_free(&task);
    tg_module_file_close(&module);
    return status;
}
