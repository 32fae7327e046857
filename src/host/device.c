/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "host/device_comm.h"
#include "host/device.h"
#include "base/error.h"
#include "host/module.h"
#include "host/paths.h"
#include "host/seconds.h"
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/version.h>
#include <taskglass/wire/record.h>
#include <taskglass/wire/task.h>

#define DEFAULT_PLATFORM "a2a3sim"
#define DEFAULT_MEMORY (UINT64_C(4) << 30)
#define DEFAULT_LOAD_SECONDS 120.0
#define DEFAULT_LINGER_SECONDS 0.005
#define LONGEST_LINGER_SECONDS 3600.0
#define SMALLEST_MEMORY (UINT64_C(4) << 20)
#define LARGEST_MEMORY (UINT64_C(1) << 44)
#define LARGEST_CONTROL (UINT64_C(1) << 30)

const char *tg_version(void)
{
    return TG_VERSION_STRING;
}

/* ── choosing the platform and its sizes ───────────────────────────────────────────────── */

static tg_status find_platform(const char *name, const struct tg_platform_ops **ops,
                               struct tg_error *error)
{
    char known[128] = "";
    *ops = tg_platform_named(name);
    if (*ops != NULL)
        return TG_OK;
    for (uint32_t i = 0; tg_platform_number(i) != NULL; i++) {
        strncat(known, i ? ", " : "", sizeof known - strlen(known) - 1);
        strncat(known, tg_platform_number(i)->name, sizeof known - strlen(known) - 1);
    }
    return tg_error_set(error, TG_NOT_FOUND, "unknown platform '%s'; platforms are %s", name,
                        known);
}

/* One core per CPU that this process may use, rounded up to whole blocks. */
static uint32_t default_cores(const struct tg_platform_ops *ops)
{
    cpu_set_t set;
    uint32_t cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
    uint32_t blocks = (cpus + TG_PARTS - 1) / TG_PARTS;
    return TG_PARTS * (blocks < ops->max_blocks ? blocks : ops->max_blocks);
}

static tg_status fill_in(const struct tg_device_config *from, const struct tg_platform_ops *ops,
                         struct tg_platform_config *to, struct tg_error *error)
{
    uint32_t max_cores = TG_PARTS * ops->max_blocks;
    to->cores = from->cores || ops->decides_cores ? from->cores : default_cores(ops);
    to->schedulers = from->schedulers;
    to->memory = from->memory ? from->memory : DEFAULT_MEMORY;
    to->device_program = from->device_program;
    to->sandbox = from->sandbox;
    to->gpu = from->gpu;
    to->linger_seconds = from->linger == 0 ? DEFAULT_LINGER_SECONDS : fmax(from->linger, 0);
    to->load_seconds = from->load_timeout > 0 ? from->load_timeout : DEFAULT_LOAD_SECONDS;
    if (to->sandbox >= TG_SANDBOXES)
        return tg_error_set(error, TG_BAD_ARGUMENT, "sandbox %u: must be at most %u", to->sandbox,
                            TG_SANDBOXES - 1);
    if (from->orchestrator >= TG_ORCHESTRATOR_PLACES)
        return tg_error_set(error, TG_BAD_ARGUMENT, "orchestrator %u: must be at most %u",
                            from->orchestrator, TG_ORCHESTRATOR_PLACES - 1);
    if (to->cores > max_cores)
        return tg_error_set(error, TG_BAD_ARGUMENT, "--cores %u: %s has at most %u (%u blocks)",
                            to->cores, ops->name, max_cores, ops->max_blocks);
    if (to->schedulers > ops->max_schedulers)
        return tg_error_set(error, TG_BAD_ARGUMENT, "--schedulers %u: %s has at most %u",
                            to->schedulers, ops->name, ops->max_schedulers);
    if (to->memory < SMALLEST_MEMORY || to->memory > LARGEST_MEMORY)
        return tg_error_set(error, TG_BAD_ARGUMENT, "--device-memory %llu: must be from 4M to 16T",
                            (unsigned long long)to->memory);
    if (!(from->linger <= LONGEST_LINGER_SECONDS)) /* also if it is not a number */
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "linger of tg_device_config is %g: must be at most %g seconds",
                            from->linger, LONGEST_LINGER_SECONDS);
    return tg_seconds_check("load_timeout of tg_device_config", from->load_timeout, error);
}

/* --device-program replaces the simulators' program only. A platform with a program of its own
 * looks for that one in the same folder. */
static bool stands_in(const struct tg_platform_ops *ops, const char *program)
{
    return program != NULL && program[0] != '\0' && strcmp(ops->program, "taskglass-device") == 0;
}

/* ── open and close ────────────────────────────────────────────────────────────────────── */

/* The device wrote the control head, so every field is checked before the host uses it. */
static tg_status read_head(struct tg_device *device, const struct tg_platform_config *config,
                           struct tg_error *error)
{
    struct tg_control_head *head = &device->head;
    struct tg_platform_about about;
    tg_status status;
    device->ops->describe(device->state, &about);
    device->control = about.control;
    status = device->ops->copy_out(device->state, head, device->control, sizeof *head, error);
    if (status != TG_OK)
        return status;
    if (head->magic != TG_CONTROL_MAGIC || head->version != TG_CONTROL_VERSION ||
        head->status_size != sizeof(struct tg_worker_status) ||
        head->n_lanes > TG_PARTS * device->ops->max_blocks ||
        head->n_schedulers > device->ops->max_schedulers || head->n_cores > head->n_lanes ||
        head->base != device->control || head->memory_size > config->memory ||
        head->control_size > LARGEST_CONTROL || head->status > head->control_size ||
        head->memory_start > head->memory_end ||
        head->memory_end - head->memory_start > head->memory_size ||
        tg_device_workers(device) * sizeof(struct tg_worker_status) >
            head->control_size - head->status)
        return tg_error_set(
            error, TG_ABI_MISMATCH,
            "the device program does not match this library (its control area differs); "
            "use both from one version");
    return TG_OK;
}

static tg_status open_with(struct tg_device *device, struct tg_platform_config *config,
                           struct tg_error *error)
{
    tg_status status;
    status = device->ops->open(config, &device->state, error);
    if (status != TG_OK)
        return status;
    status = read_head(device, config, error);
    if (status != TG_OK)
        device->ops->close(device->state);
    return status;
}

tg_status tg_device_open(const struct tg_device_config *config, struct tg_device **device,
                         struct tg_error *error)
{
    TG_REFUSE_NULL(error, device);
    return tg_device_open_watched(config, (struct tg_watch){NULL, NULL}, device, error);
}

tg_status tg_device_open_watched(const struct tg_device_config *config, struct tg_watch watch,
                                 struct tg_device **out, struct tg_error *error)
{
    static const struct tg_device_config defaults;
    const struct tg_platform_ops *ops;
    struct tg_platform_config chosen;
    struct tg_device *device;
    char *program = NULL;
    tg_status status;
    *out = NULL;
    config = config ? config : &defaults;
    status = find_platform(config->platform ? config->platform : DEFAULT_PLATFORM, &ops, error);
    if (status == TG_OK)
        status = fill_in(config, ops, &chosen, error);
    chosen.watch = watch;
    if (status == TG_OK && ops->probe != NULL)
        status = ops->probe(error);
    if (status == TG_OK && !stands_in(ops, chosen.device_program)) {
        status = tg_paths_find_beside(chosen.device_program, ops->program, &program, error);
        chosen.device_program = program;
    }
    if (status != TG_OK)
        return status;
    device = calloc(1, sizeof *device);
    if (device == NULL) {
        status = tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    } else {
        device->ops = ops;
        device->poison = config->poison ? TG_POISON : 0;
        device->orchestrates_beside =
            ops->orchestrates_beside && config->orchestrator != TG_ORCHESTRATOR_DEVICE;
        pthread_mutex_init(&device->cancelling, NULL);
        status = open_with(device, &chosen, error);
    }
    free(program);
    if (status != TG_OK)
        free(device);
    else
        *out = device;
    return status;
}

void tg_device_close(struct tg_device *device)
{
    if (device == NULL)
        return;
    tg_device_leave(device);
    device->ops->close(device->state);
    tg_module_free_all(device->modules);
    pthread_mutex_destroy(&device->cancelling);
    free(device);
}

/* ── state, status and memory ──────────────────────────────────────────────────────────── */

void tg_device_get_info(const struct tg_device *device, struct tg_device_info *info)
{
    if (device == NULL || info == NULL)
        return;
    struct tg_platform_about about;
    device->ops->describe(device->state, &about);
    *info = (struct tg_device_info){
        .platform = device->ops->name,
        .cores = device->head.n_cores,
        .blocks = device->head.n_lanes / TG_PARTS,
        .schedulers = device->head.n_schedulers,
        .memory = device->head.memory_size,
        .memory_used = about.memory_used,
        .pid = about.pid,
        .host_sees_memory = tg_platform_shows_memory(device->ops),
        .lost = device->lost,
        .no_new_privs = about.sandbox.no_new_privs,
        .seccomp = about.sandbox.seccomp,
        .landlock = about.sandbox.landlock,
        .gpus = about.gpu.count,
        .gpu = about.gpu.index,
        .gpu_id = about.gpu.id,
    };
    memcpy(info->gpu_name, about.gpu.name, sizeof info->gpu_name);
}

tg_status tg_device_ready(const struct tg_device *device, struct tg_error *error)
{
    if (device->lost)
        return tg_error_set(error, TG_DEVICE_LOST, "the device is lost; open it again");
    if (device->run != NULL)
        return tg_error_set(error, TG_BUSY,
                            "the device is busy with a run; wait for it or cancel it");
    return TG_OK;
}

void tg_device_set_run(struct tg_device *device, struct tg_run *run)
{
    pthread_mutex_lock(&device->cancelling);
    device->run = run;
    pthread_mutex_unlock(&device->cancelling);
}

/* Sends the cancel under the lock, so that it reaches the device before any later run starts. */
void tg_device_cancel(struct tg_device *device, const struct tg_run *run)
{
    pthread_mutex_lock(&device->cancelling);
    if (device->run == run)
        device->ops->cancel(device->state);
    pthread_mutex_unlock(&device->cancelling);
}

uint32_t tg_device_workers(const struct tg_device *device)
{
    return device->head.n_lanes + device->head.n_schedulers + 1;
}

tg_status tg_device_read_status(struct tg_device *device, struct tg_worker_status *status,
                                struct tg_error *error)
{
    return device->ops->copy_out(device->state, status, device->control + device->head.status,
                                 tg_device_workers(device) * sizeof *status, error);
}

tg_status tg_device_clear_status(struct tg_device *device, const struct tg_worker_status *zeros,
                                 struct tg_error *error)
{
    return device->ops->copy_in(device->state, device->control + device->head.status, zeros,
                                tg_device_workers(device) * sizeof *zeros, error);
}

tg_status tg_device_alloc_own(struct tg_device *device, uint64_t bytes, uint64_t *address,
                              struct tg_error *error)
{
    return device->ops->alloc(device->state, bytes, address, error);
}

static tg_status fill_with_poison(struct tg_device *device, uint64_t address, uint64_t bytes,
                                  struct tg_error *error)
{
    const uint64_t words = UINT64_C(1) << 18, room = words * sizeof(uint32_t);
    uint32_t *pattern = malloc(room);
    tg_status status = TG_OK;
    if (pattern == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    for (uint64_t i = 0; i < words; i++)
        pattern[i] = device->poison;
    for (uint64_t at = 0; at < bytes && status == TG_OK; at += room)
        status = tg_device_copy_in(device, address + at, pattern,
                                   bytes - at < room ? bytes - at : room, error);
    free(pattern);
    return status;
}

tg_status tg_device_alloc(struct tg_device *device, uint64_t bytes, uint64_t *address,
                          struct tg_error *error)
{
    TG_REFUSE_NULL(error, device);
    TG_REFUSE_NULL(error, address);
    tg_status status = tg_device_alloc_own(device, bytes, address, error);
    if (status != TG_OK || !device->poison || bytes == 0)
        return status;
    status = fill_with_poison(device, *address, bytes, error);
    if (status != TG_OK)
        (void)tg_device_free(device, *address, NULL);
    return status;
}

tg_status tg_device_alloc_shared(struct tg_device *device, uint64_t bytes, uint64_t *address,
                                 struct tg_error *error)
{
    return device->ops->alloc_shared
               ? device->ops->alloc_shared(device->state, bytes, address, error)
               : device->ops->alloc(device->state, bytes, address, error);
}

tg_status tg_device_free(struct tg_device *device, uint64_t address, struct tg_error *error)
{
    TG_REFUSE_NULL(error, device);
    return device->ops->free(device->state, address, error);
}

tg_status tg_device_copy_in(struct tg_device *device, uint64_t address, const void *bytes,
                            uint64_t size, struct tg_error *error)
{
    TG_REFUSE_NULL(error, device);
    if (bytes == NULL && size > 0)
        return tg_error_null(error, __func__, "bytes");
    return device->ops->copy_in(device->state, address, bytes, size, error);
}

tg_status tg_device_copy_out(struct tg_device *device, void *bytes, uint64_t address, uint64_t size,
                             struct tg_error *error)
{
    TG_REFUSE_NULL(error, device);
    if (bytes == NULL && size > 0)
        return tg_error_null(error, __func__, "bytes");
    return device->ops->copy_out(device->state, bytes, address, size, error);
}

void tg_device_expect(struct tg_device *device, uint64_t address, uint64_t size)
{
    if (device->ops->expect != NULL)
        device->ops->expect(device->state, address, size);
}

void *tg_device_map(struct tg_device *device, uint64_t address, uint64_t size)
{
    if (device == NULL)
        return NULL;
    return device->ops->map ? device->ops->map(device->state, address, size) : NULL;
}
