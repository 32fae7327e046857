/* SPDX-License-Identifier: Apache-2.0 */
/* A run.json of any bytes beside a small recording: everything that asks it for a fact gets one or
 * none, and no text has a character that a terminal obeys. */
#define _GNU_SOURCE 1
#include "fuzz/recording.h"

#include <ctype.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "analysis/match.h"
#include "fuzz/explained.h"
#include "analysis/source.h"
#include "host/recorded_task.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], run_json[80];

static void write_file(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    HOLDS(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && close(fd) == 0);
}

static void remove_folder(void)
{
    char path[128];
    static const char *const names[] = {"run.json", "tensor_dump/tensor_dump.json",
                                        "tensor_dump/tensor_dump.bin", "tensor_dump", ""};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
}

/* One task with one input, whose tensor may be one of those that run.json names. */
static void make_folder(void)
{
    static const char manifest[] =
        "{\"version\": 1, \"run_dir\": \"run\", \"bin_file\": \"tensor_dump.bin\", \"level\": "
        "\"full\", \"complete\": true, \"total_tensors\": 1, \"tensors\": [{\"task_id\": "
        "\"0x0000000000000000\", \"func_id\": [0], \"kernel\": [\"add\"], \"role\": \"input\", "
        "\"stage\": \"before_dispatch\", \"arg_index\": 0, \"kind\": \"tensor\", \"dtype\": "
        "\"float32\", \"shape\": [4], \"strides\": [1], \"start_offset\": 0, \"bin_offset\": 0, "
        "\"bin_size\": 16, \"data_ptr\": \"0x0000000000001000\"}]}";
    char path[128];
    const char *temporary = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/fuzz-run-XXXXXX", temporary);
    HOLDS(mkdtemp(folder) != NULL);
    atexit(remove_folder);
    snprintf(path, sizeof path, "%s/tensor_dump", folder);
    HOLDS(mkdir(path, 0777) == 0);
    snprintf(path, sizeof path, "%s/tensor_dump/tensor_dump.json", folder);
    write_file(path, manifest, sizeof manifest - 1);
    snprintf(path, sizeof path, "%s/tensor_dump/tensor_dump.bin", folder);
    write_file(path, "0123456789abcdef", 16);
    snprintf(run_json, sizeof run_json, "%s/run.json", folder);
}

static void check_text(const char *text, size_t room)
{
    HOLDS(memchr(text, '\0', room) != NULL);
    for (const char *c = text; *c; c++)
        HOLDS(!iscntrl((unsigned char)*c));
}

static void check_objects(const struct tg_recording *recording)
{
    struct tg_tasks tasks;
    struct tg_sources sources = {0};
    struct tg_error error = {0};
    HOLDS(tg_tasks_open(recording, &tasks, &error) == TG_OK);
    HOLDS(tg_sources_open(&tasks, &sources, &error) == TG_OK);
    for (uint32_t i = 0; i < sources.n_objects; i++)
        HOLDS(sources.object[i].bytes <= UINT64_MAX - sources.object[i].address);
    (void)tg_sources_object(&sources, 0x1000);
    tg_sources_close(&sources);
    tg_tasks_close(&tasks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tg_recording *recording;
    struct tg_error error = {0};
    char text[256];
    if (!folder[0])
        make_folder();
    write_file(run_json, data, size);
    HOLDS(tg_recording_open(folder, &recording, &error) == TG_OK);
    (void)tg_recording_was_filtered(recording);
    (void)tg_recording_why_empty(recording);
    (void)tg_recording_command(recording, "--poison", text, sizeof text);
    check_text(text, sizeof text);
    tg_recorded_run_value(recording, "module", text, sizeof text);
    check_objects(recording);
    tg_recording_close(recording);
    static struct tg_explanation explanation;
    memset(&explanation, 0, sizeof explanation);
    (void)tg_explanation_take_run((const char *)data, size, &explanation);
    explained_check(&explanation);
    return 0;
}
