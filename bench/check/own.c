/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_check_own MODULE RECORDING: calls the reference of every recorded task on its recorded inputs,
 * where they lie in the mapped file, and prints the seconds that the calls took. No program that checks
 * the tasks on one CPU can be faster.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/execute.h>
#include <taskglass/recording.h>
#include <taskglass/workload.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int fail(const char *text)
{
    fprintf(stderr, "bench_check_own: %s\n", text);
    return 2;
}

/* The reference of the first kernel of the entry. */
static tg_kernel_fn reference_of(const struct tg_workload *workload, const struct tg_entry *entry)
{
    for (int part = 0; part < TG_PARTS; part++)
        for (uint32_t i = 0; entry->kernel[part] && i < workload->n_references; i++)
            if (strcmp(workload->references[i].kernel, entry->kernel[part]) == 0)
                return workload->references[i].fn;
    return NULL;
}

static double call_all(const struct tg_workload *workload, const struct tg_recording *recording)
{
    struct tg_tensor tensor[TG_MAX_TENSORS];
    struct tg_ctx ctx = {.tensor = tensor, .n_tensors = TG_MAX_TENSORS, .parts = 1};
    struct tg_recording_info info;
    struct tg_entry entry;
    double seconds = 0;
    void *output = NULL;
    tg_recording_get_info(recording, &info);
    for (uint64_t i = 0; i < info.records; i++) {
        const void *payload;
        bool is_output;
        if (!tg_recording_get(recording, i, &entry) || entry.record.task_id == UINT64_MAX)
            continue;
        payload = tg_recording_payload(recording, &entry);
        is_output = entry.record.role != TG_IN;
        if (is_output && output == NULL)
            output = calloc(1, entry.record.bytes);
        tensor[entry.record.arg_index] =
            tg_tensor_make((uint64_t)(uintptr_t)(is_output ? output : payload), entry.record.dtype,
                           entry.record.ndim, entry.record.shape);
        ctx.n_tensors = entry.record.arg_index + 1u;
        if (is_output) { /* the last argument of these tasks */
            double began = now();
            reference_of(workload, &entry)(&ctx);
            seconds += now() - began;
        }
    }
    free(output);
    return seconds;
}

int main(int argc, char **argv)
{
    struct tg_settings *settings;
    struct tg_workload_file *file;
    struct tg_recording *recording;
    struct tg_error error;
    if (argc != 3)
        return fail("give a module and a recording");
    if (tg_settings_create(&settings, &error) != TG_OK ||
        tg_workload_open(settings, argv[1], &file, &error) != TG_OK ||
        tg_recording_open(argv[2], &recording, &error) != TG_OK)
        return fail(error.text);
    printf("%.9f\n", call_all(tg_workload_get(file), recording));
    tg_recording_close(recording);
    tg_workload_close(file);
    tg_settings_destroy(settings);
    return 0;
}
