/* SPDX-License-Identifier: Apache-2.0 */
/* Moves the tensors of a case to the device and back. */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "host/execute_job.h"

/* Bytes that are copied between two looks. */
#define COPY_PIECE (UINT64_C(64) << 20)

uint64_t tg_execute_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

double tg_execute_seconds_since(uint64_t start)
{
    return (double)(tg_execute_now() - start) / 1e9;
}

bool tg_execute_tell(const struct tg_execute_job *job, enum tg_phase phase, uint64_t finished,
                     uint64_t total)
{
    const struct tg_execute_config *config = job->config;
    return !config->progress ||
           config->progress(config->progress_context, phase, finished, total) == 0;
}

/* Device memory is zero when it is first allocated, so an output starts as zeros without a copy; with
 * --poison it starts as the pattern. */
static tg_status place(struct tg_execute_job *job, struct tg_case_tensor *t, struct tg_error *error)
{
    tg_status status = tg_device_alloc(job->device, t->size, &t->tensor.addr, error);
    uint64_t size = t->role != TG_OUT ? t->size : 0;
    for (uint64_t at = 0; at < size && status == TG_OK; at += COPY_PIECE) {
        uint64_t piece = size - at < COPY_PIECE ? size - at : COPY_PIECE;
        if (tg_execute_tell(job, TG_PHASE_BUILD, 0, 0))
            status = tg_device_copy_in(job->device, t->tensor.addr + at,
                                       (const char *)t->bytes + at, piece, error);
        else
            status = tg_error_set(error, TG_CANCELLED, "cancelled while tensor '%s' was copied",
                                  t->name);
        job->execution->bytes_in += status == TG_OK ? piece : 0;
    }
    return status;
}

tg_status tg_execute_copy_in(struct tg_execute_job *job, struct tg_args *args,
                             struct tg_error *error)
{
    uint64_t start = tg_execute_now();
    tg_status status = TG_OK;
    tg_args_init(args);
    for (uint32_t i = 0; i < tg_case_tensor_count(job->test_case) && status == TG_OK; i++) {
        struct tg_case_tensor *t = tg_case_tensor_at(job->test_case, i);
        status = place(job, t, error);
        job->tensor_name[i] = t->name;
        tg_args_tensor(args, t->role, t->tensor);
    }
    for (uint32_t i = 0; i < tg_case_scalar_count(job->test_case); i++) {
        const struct tg_scalar *s = &tg_case_scalar_at(job->test_case, i)->scalar;
        tg_args_bits(args, s->dtype, s->bits);
    }
    job->execution->times.copy_in = tg_execute_seconds_since(start);
    return status;
}

static tg_status fetch(struct tg_execute_job *job, const struct tg_case_tensor *t,
                       struct tg_error *error)
{
    tg_status status = TG_OK;
    for (uint64_t at = 0; at < t->size && status == TG_OK; at += COPY_PIECE) {
        uint64_t piece = t->size - at < COPY_PIECE ? t->size - at : COPY_PIECE;
        if (tg_execute_tell(job, TG_PHASE_CHECK, 0, 0))
            status = tg_device_copy_out(job->device, (char *)t->output + at, t->tensor.addr + at,
                                        piece, error);
        else
            status = tg_error_set(error, TG_CANCELLED, "cancelled while output '%s' was copied",
                                  t->name);
        job->execution->bytes_out += status == TG_OK ? piece : 0;
    }
    return status;
}

tg_status tg_execute_copy_out(struct tg_execute_job *job, struct tg_error *error)
{
    uint64_t start = tg_execute_now();
    tg_status status = TG_OK;
    for (uint32_t i = 0; i < tg_case_tensor_count(job->test_case) && status == TG_OK; i++) {
        struct tg_case_tensor *t = tg_case_tensor_at(job->test_case, i);
        if (t->role == TG_IN)
            continue;
        t->output = malloc(t->size ? t->size : 1);
        if (!t->output)
            return tg_error_set(error, TG_NO_MEMORY, "output '%s' needs %llu bytes of host memory",
                                t->name, (unsigned long long)t->size);
        status = fetch(job, t, error);
        if (status != TG_OK) { /* only whole outputs are kept */
            free(t->output);
            t->output = NULL;
        }
    }
    job->execution->times.copy_out = tg_execute_seconds_since(start);
    return status;
}
