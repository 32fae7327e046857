/* SPDX-License-Identifier: Apache-2.0 */
#include "host/run_comm.h"
#include "base/error.h"
#include "common/comm_call.h"
#include "host/device_comm.h"
#include "host/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ── what the device is told ───────────────────────────────────────────────────────────── */

static uint32_t slots_of(const struct tg_graph *g)
{
    return g->layout ? g->layout->launch.n_tasks : (uint32_t)g->tasks.count;
}

static bool may_call(const struct tg_graph *g)
{
    return g->layout ? tg_module_communicates(g->module) : g->has_calls;
}

static tg_status check(const struct tg_graph *g, bool schedule, struct tg_error *error)
{
    const struct tg_device *device = g->module->device;
    if (device->ops->calls_fd == NULL)
        return tg_error_set(error, TG_UNSUPPORTED,
                            "platform %s: a device of this platform cannot communicate",
                            device->ops->name);
    if (schedule)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "a graph with communication cannot have a schedule: when calls are "
                            "done depends on other ranks; leave --schedule out");
    return TG_OK;
}

/* Setup, notes and counts are one allocation. Notes and counts begin as zeros. */
static tg_status place(struct tg_run_comm *c, const struct tg_comm_setup *setup, uint64_t zeros,
                       struct tg_error *error)
{
    struct tg_device *device = c->graph->module->device;
    uint64_t size = sizeof *setup + zeros;
    char *bytes = calloc(1, size);
    tg_status status = TG_OK;
    if (bytes == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    memcpy(bytes, setup, sizeof *setup);
    status = tg_device_copy_in(device, c->address, bytes, size, error);
    free(bytes);
    return status;
}

tg_status tg_run_comm_set_up(struct tg_run_comm *c, struct tg_graph *g, bool schedule,
                             struct tg_error *error)
{
    struct tg_device *device = g->module->device;
    bool calls = may_call(g);
    uint64_t notes = calls ? slots_of(g) * sizeof(struct tg_comm_note) : 0;
    uint64_t counts = calls && g->layout ? TG_COMM_COUNTS * sizeof(struct tg_comm_count) : 0;
    struct tg_comm_setup setup = {.first_kernel = TG_NO_KERNEL,
                                  .rank = tg_device_rank(device),
                                  .ranks = tg_device_ranks(device)};
    tg_status status = TG_OK;
    c->graph = g;
    if (!calls && device->comm == NULL)
        return TG_OK;
    if (calls)
        status = check(g, schedule, error);
    if (status == TG_OK)
        status = tg_device_want_comm(device, &c->comm, error);
    if (status == TG_OK)
        status = tg_device_alloc_own(device, sizeof setup + notes + counts, &c->address, error);
    if (status != TG_OK)
        return status;
    if (calls)
        setup.first_kernel = g->module->first + g->module->workload->n_kernels;
    setup.notes = c->address + sizeof setup;
    setup.counts = counts ? setup.notes + notes : 0;
    return place(c, &setup, notes + counts, error);
}

/* ── the port ──────────────────────────────────────────────────────────────────────────── */

static void name_site(struct tg_run_comm *c, const struct tg_comm_post *post,
                      char site[TG_COMM_SITE])
{
    const struct tg_graph *g = c->graph;
    char name[TG_SITE_NAME];
    site[0] = '\0';
    if (g->layout == NULL) {
        snprintf(site, TG_COMM_SITE, "%.127s", tg_graph_line(g, post->slot));
    } else if (post->line > 0) {
        if (post->line > c->names.n)
            (void)tg_site_names_update(&c->names, g->module->device, g->orchestration,
                                       g->layout->orchestration.sites);
        snprintf(site, TG_COMM_SITE, "%.127s", tg_site_name(&c->names, post->line - 1, name));
    }
}

static bool is_in_memory(const struct tg_device *device, const struct tg_tensor *t)
{
    uint64_t start = device->head.memory_start, end = device->head.memory_end;
    return t->storage_bytes == 0 ||
           (t->addr >= start && t->addr <= end && t->storage_bytes <= end - t->addr);
}

/* A kernel may have overwritten the call: everything is checked again. */
static bool is_sound(const struct tg_run_comm *c, const struct tg_comm_post *post)
{
    const struct tg_device *device = c->graph->module->device;
    struct tg_comm_asked asked = {post->kind,
                                  post->peer,
                                  post->tag,
                                  post->operation,
                                  (int32_t)tg_device_rank(device),
                                  (int32_t)tg_device_ranks(device)};
    struct tg_args args;
    tg_args_init(&args);
    if (post->kind >= TG_COMM_KINDS || post->slot >= slots_of(c->graph) || post->n_tensors < 1 ||
        post->n_tensors > TG_COMM_TENSORS)
        return false;
    for (uint32_t i = 0; i < post->n_tensors; i++) {
        uint32_t role = post->roles >> (2 * i) & 3;
        if (role < TG_IN || !tg_tensor_valid(&post->tensor[i]) ||
            !is_in_memory(device, &post->tensor[i]))
            return false;
        tg_args_put(&args, (enum tg_role)role, &post->tensor[i]);
    }
    return tg_comm_check(&asked, &args) == TG_COMM_GOOD;
}

static void fail(void *context, const struct tg_error *error)
{
    struct tg_run_comm *c = context;
    if (__atomic_load_n(&c->failed, __ATOMIC_RELAXED))
        return;
    c->error = *error;
    __atomic_store_n(&c->failed, 1u, __ATOMIC_RELEASE);
    c->on_failure(c->context);
}

/* A device that cannot communicate makes no calls, but its rank hears how the others end. */
static enum tg_call_taken take_call(const struct tg_device *device, struct tg_comm_post *post)
{
    return device->ops->take_call ? device->ops->take_call(device->state, post) : TG_CALL_NONE;
}

static bool take(void *context, struct tg_comm_call *call)
{
    struct tg_run_comm *c = context;
    const struct tg_device *device = c->graph->module->device;
    struct tg_comm_post post;
    enum tg_call_taken taken = take_call(device, &post);
    if (taken == TG_CALL_NONE)
        return false;
    if (taken == TG_CALL_BAD || !is_sound(c, &post)) {
        struct tg_error error;
        tg_error_set(&error, TG_DEVICE_LOST,
                     "the device posted a call of communication that cannot be: a kernel has "
                     "overwritten the device's own memory");
        fail(c, &error);
        return false;
    }
    *call = (struct tg_comm_call){.task = post.task,
                                  .slot = post.slot,
                                  .kind = post.kind,
                                  .peer = post.peer,
                                  .tag = post.tag,
                                  .operation = post.operation,
                                  .number = post.number,
                                  .n_tensors = post.n_tensors};
    for (uint32_t i = 0; i < post.n_tensors; i++) {
        call->role[i] = post.roles >> (2 * i) & 3;
        call->tensor[i] = post.tensor[i];
    }
    name_site(c, &post, call->site);
    return true;
}

static bool sleeps(void *context, bool sleeps)
{
    struct tg_run_comm *c = context;
    const struct tg_device *device = c->graph->module->device;
    return device->ops->calls_sleep(device->state, sleeps);
}

static bool unheard(void *context)
{
    struct tg_run_comm *c = context;
    const struct tg_device *device = c->graph->module->device;
    return device->ops->calls_unheard(device->state);
}

static void *map(void *context, uint64_t address, uint64_t size)
{
    struct tg_run_comm *c = context;
    return tg_device_map(c->graph->module->device, address, size);
}

static tg_status copy_in(void *context, uint64_t address, const void *bytes, uint64_t size,
                         struct tg_error *error)
{
    struct tg_run_comm *c = context;
    return tg_device_copy_in(c->graph->module->device, address, bytes, size, error);
}

static tg_status copy_out(void *context, void *bytes, uint64_t address, uint64_t size,
                          struct tg_error *error)
{
    struct tg_run_comm *c = context;
    return tg_device_copy_out(c->graph->module->device, bytes, address, size, error);
}

static tg_status done(void *context, uint32_t slot, struct tg_error *error)
{
    struct tg_run_comm *c = context;
    struct tg_device *device = c->graph->module->device;
    return device->ops->call_done(device->state, slot, error);
}

static bool is_cancelled(void *context)
{
    struct tg_run_comm *c = context;
    return c->is_cancelled(c->context);
}

static bool is_stopped(void *context)
{
    struct tg_run_comm *c = context;
    return c->is_stopped(c->context);
}

/* ── a run ─────────────────────────────────────────────────────────────────────────────── */

/* What a run that was stopped has left unread is for no task any more. */
static void drop_old_calls(const struct tg_device *device)
{
    struct tg_comm_post post;
    while (take_call(device, &post) != TG_CALL_NONE)
        ;
}

tg_status tg_run_comm_start(struct tg_run_comm *c, const char *log, struct tg_error *error)
{
    const struct tg_platform_ops *ops;
    struct tg_comm_port port = {.context = c,
                                .fd = -1,
                                .take = take,
                                .copy_in = copy_in,
                                .copy_out = copy_out,
                                .done = done,
                                .failed = fail};
    struct tg_comm_run_config config = {0};
    tg_status status;
    if (c->comm == NULL)
        return TG_OK;
    if (tg_comm_ranks(c->comm) > 1) /* a rank alone has nobody whose calls belong to its own */
        config.log = log;
    ops = c->graph->module->device->ops;
    if (ops->calls_fd != NULL) {
        drop_old_calls(c->graph->module->device);
        port.fd = ops->calls_fd(c->graph->module->device->state);
        port.sleeps = sleeps;
        port.unheard = unheard;
    }
    port.map = ops->map ? map : NULL;
    port.is_cancelled = c->is_cancelled ? is_cancelled : NULL;
    port.is_stopped = c->is_stopped ? is_stopped : NULL;
    status = tg_comm_begin(c->comm, &port, &config, error);
    c->started = status == TG_OK;
    return status;
}

void tg_run_comm_stop(struct tg_run_comm *c, tg_status status, const char *text,
                      struct tg_comm_result *result)
{
    *result = (struct tg_comm_result){0};
    if (!c->started)
        return;
    c->started = false;
    tg_comm_end(c->comm, status, text, result);
}

static bool take_nothing(void *context, struct tg_comm_call *call)
{
    (void)context;
    (void)call;
    return false;
}

static void ignore_failure(void *context, const struct tg_error *error)
{
    (void)context;
    (void)error;
}

/* For this rank it is a run like any other, so that its next one belongs to the next one of the others. */
void tg_run_comm_refuse(struct tg_device *device, tg_status status, const char *text)
{
    const struct tg_comm_port port = {.fd = -1, .take = take_nothing, .failed = ignore_failure};
    struct tg_comm_result result;
    if (device->comm == NULL || tg_comm_ranks(device->comm) < 2 ||
        tg_comm_begin(device->comm, &port, NULL, NULL) != TG_OK)
        return;
    tg_comm_end(device->comm, status, text, &result);
}

void tg_run_comm_destroy(struct tg_run_comm *c)
{
    struct tg_comm_result result;
    tg_run_comm_stop(c, TG_CANCELLED, "", &result);
    if (c->address != 0)
        (void)tg_device_free(c->graph->module->device, c->address, NULL);
    tg_site_names_free(&c->names);
    *c = (struct tg_run_comm){0};
}

bool tg_run_comm_failed(const struct tg_run_comm *c, struct tg_error *error)
{
    if (!__atomic_load_n(&c->failed, __ATOMIC_ACQUIRE))
        return false;
    *error = c->error;
    return true;
}

bool tg_run_comm_moves(struct tg_run_comm *c, uint64_t finished)
{
    uint64_t progress;
    if (!c->started)
        return false;
    tg_comm_note_progress(c->comm, finished);
    progress = tg_comm_progress(c->comm);
    if (progress == c->progress)
        return false;
    c->progress = progress;
    return true;
}

bool tg_run_comm_ask(struct tg_run_comm *c, uint64_t finished)
{
    struct tg_error failed;
    if (!c->started)
        return false;
    tg_comm_explain(c->comm, c->why);
    return tg_run_comm_moves(c, finished) || tg_run_comm_failed(c, &failed);
}
