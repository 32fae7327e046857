/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * The simulated device's process. One thread per worker runs the device program (src/device); the
 * main thread receives the host's messages. The process ends at once when the host sends BYE,
 * closes the socket or dies, whatever the workers are doing.
 */
#include "device/engine.h"
#include "device/target.h"
#include "device/wait.h"
#include "platform/sim/device/ears.h"
#include "platform/process/device/fault.h"
#include "platform/process/device/link.h"
#include "platform/process/protocol.h"
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <taskglass/status.h>
#include <taskglass/workload.h>
#include <unistd.h>

struct device {
    char *memory;
    struct tg_control_head *head;
    struct tg_engine *engine;
    tg_kernel_fn *kernels;
    uint32_t n_kernels;
    struct loaded *modules;
    pthread_t *threads; /* one per worker; those that were started */
    uint32_t n_threads;
    uint32_t launches;       /* a futex: incremented to start the workers */
    uint32_t orchestrations; /* the same for the orchestrator */
    bool has_orchestrator;
    struct tg_ears ears;
};

/* A loaded module, to find the orchestration that belongs to a kernel. */
struct loaded {
    struct loaded *next;
    const struct tg_workload *workload;
    uint32_t first; /* number of its first kernel */
};

struct thread_start {
    struct device *device;
    uint32_t worker;
};

/* ── workers ───────────────────────────────────────────────────────────────────────────── */

static void name_thread(const struct tg_engine *e, uint32_t worker)
{
    static const char *const part[] = {"aic", "aiv0", "aiv1"};
    char name[16];
    if (worker < e->n_cores && e->n_schedulers == 0) /* it can change its lane */
        snprintf(name, sizeof name, "tg-core.%u", worker % TG_MAX_WORKERS);
    else if (worker < e->n_lanes)
        snprintf(name, sizeof name, "tg-%s.%u", part[worker % TG_PARTS], worker / TG_PARTS);
    else if (worker < tg_engine_orchestrator(e))
        snprintf(name, sizeof name, "tg-sched.%u", worker - e->n_lanes);
    else
        snprintf(name, sizeof name, "tg-orchestrate");
    pthread_setname_np(pthread_self(), name);
}

static void wait_for_launch(uint32_t *launches, uint32_t seen)
{
    static const struct tg_patience none;      /* a launch may be hours away */
    tg_wait_for_change(&none, launches, seen); /* L1 */
}

static void *worker_main(void *argument)
{
    struct thread_start start = *(struct thread_start *)argument;
    struct device *d = start.device;
    bool orchestrates = start.worker == tg_engine_orchestrator(d->engine);
    free(argument);
    name_thread(d->engine, start.worker);
    if (tg_fault_watch_thread(d->engine, start.worker) != 0)
        abort();
    for (uint32_t seen = 0;; seen++) {
        wait_for_launch(orchestrates ? &d->orchestrations : &d->launches, seen);
        if (!tg_engine_enter(d->engine, start.worker))
            continue;
        /* What an ear still posts must not be taken for a call of the next run. */
        tg_ears_close(&d->ears);
        tg_link_done(tg_load_acquire(&d->engine->phase) == TG_STOPPED);
    }
    return NULL;
}

static bool start_worker(struct device *d, uint32_t worker)
{
    struct thread_start *start = malloc(sizeof *start);
    pthread_t thread;
    if (start == NULL)
        return false;
    if (d->threads == NULL)
        d->threads = calloc(d->engine->n_workers, sizeof *d->threads);
    if (d->threads == NULL) {
        free(start);
        return false;
    }
    *start = (struct thread_start){d, worker};
    pthread_attr_t attr;
    size_t stack;
    if (pthread_attr_init(&attr) != 0) {
        free(start);
        return false;
    }
    /* The orchestrator runs kernels on top of the orchestration (tg_core_help). */
    if (worker == tg_engine_orchestrator(d->engine) &&
        pthread_attr_getstacksize(&attr, &stack) == 0)
        (void)pthread_attr_setstacksize(&attr, 2 * stack);
    int cause = pthread_create(&thread, &attr, worker_main, start);
    pthread_attr_destroy(&attr);
    if (cause != 0) {
        free(start);
        return false;
    }
    pthread_detach(thread);
    d->threads[d->n_threads++] = thread;
    return true;
}

/* Starts all workers but the orchestrator; the first graph that needs one starts it. */
static bool start_workers(struct device *d)
{
    for (uint32_t i = 0; i < tg_engine_orchestrator(d->engine); i++)
        if (!start_worker(d, i))
            return false;
    return true;
}

/* ── setting up ────────────────────────────────────────────────────────────────────────── */

static uint32_t usable_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return (uint32_t)CPU_COUNT(&set);
}

static uint64_t in_pages(uint64_t bytes)
{
    return (bytes + 4095) / 4096 * 4096;
}

/* Returns where the rings of calls are. */
static uint64_t lay_out(struct device *d, const struct tg_process_message *init)
{
    uint32_t n_blocks = (init->cores + TG_PARTS - 1) / TG_PARTS;
    uint32_t n_workers = TG_PARTS * n_blocks + init->schedulers + 1;
    uint64_t status = sizeof(struct tg_control_head);
    uint64_t engine = status + n_workers * sizeof(struct tg_worker_status);
    uint64_t rings = in_pages(engine + tg_engine_size(n_blocks, init->schedulers));
    uint64_t end = in_pages(rings + sizeof(struct tg_call_rings));
    d->head = (struct tg_control_head *)d->memory;
    d->engine = tg_engine_init(d->memory + engine, init->cores, init->schedulers,
                               (struct tg_worker_status *)(d->memory + status));
    d->engine->n_cpus = usable_cpus();
    *d->head = (struct tg_control_head){
        .magic = TG_CONTROL_MAGIC,
        .version = TG_CONTROL_VERSION,
        .head_size = sizeof *d->head,
        .base = (uint64_t)(uintptr_t)d->memory,
        .control_size = end,
        .memory_size = init->size,
        .memory_start = (uint64_t)(uintptr_t)d->memory + end,
        .memory_end = (uint64_t)(uintptr_t)d->memory + init->size,
        .n_lanes = d->engine->n_lanes,
        .n_schedulers = init->schedulers,
        .n_cores = init->cores,
        .status = status,
        .status_size = sizeof(struct tg_worker_status),
    };
    tg_ears_set_up((struct tg_call_rings *)(d->memory + rings));
    return rings;
}

static void init(struct device *d, struct tg_process_message *message)
{
    d->memory = tg_link_map(message);
    if (d->memory == NULL) {
        tg_link_reply(message, TG_PROCESS_HELLO, TG_NO_MEMORY,
                      "cannot map %llu bytes of device memory: %s",
                      (unsigned long long)message->size, strerror(errno));
        exit(TG_PROCESS_EXIT_USAGE);
    }
    message->place = lay_out(d, message);
    tg_fault_install(d->head, true);
    if (!start_workers(d)) {
        tg_link_reply(message, TG_PROCESS_HELLO, TG_NO_MEMORY, "cannot start %u threads",
                      d->engine->n_workers);
        exit(TG_PROCESS_EXIT_USAGE);
    }
    message->address = (uint64_t)(uintptr_t)d->memory;
    tg_link_reply(message, TG_PROCESS_HELLO, TG_OK, "%s", "");
}

/* ── the host's requests ───────────────────────────────────────────────────────────────── */

static bool make_room(struct device *d, uint32_t n_kernels)
{
    tg_kernel_fn *kernels = d->kernels;
    if (n_kernels <= d->n_kernels)
        return true;
    kernels = realloc(kernels, n_kernels * sizeof *kernels);
    if (kernels == NULL)
        return false;
    d->kernels = kernels;
    d->n_kernels = n_kernels;
    return true;
}

static bool remember(struct device *d, const struct tg_workload *workload, uint32_t first)
{
    struct loaded *loaded = malloc(sizeof *loaded);
    if (loaded == NULL)
        return false;
    *loaded = (struct loaded){d->modules, workload, first};
    d->modules = loaded;
    return true;
}

static void load(struct device *d, struct tg_process_message *message)
{
    void *module = dlopen(message->text, RTLD_NOW | RTLD_LOCAL);
    const struct tg_workload *workload = NULL;
    if (module == NULL) {
        tg_link_reply(message, TG_PROCESS_LOADED, TG_NOT_FOUND, "the device cannot load it: %s",
                      dlerror());
        return;
    }
    workload = dlsym(module, TG_WORKLOAD_SYMBOL);
    if (workload == NULL || workload->abi != TG_WORKLOAD_ABI ||
        workload->n_kernels != message->count) {
        tg_link_reply(message, TG_PROCESS_LOADED, TG_ABI_MISMATCH,
                      "the module changed while it was loaded");
        return;
    }
    if (!make_room(d, message->first + message->count) || !remember(d, workload, message->first)) {
        tg_link_reply(message, TG_PROCESS_LOADED, TG_NO_MEMORY,
                      "out of memory for the kernel table");
        return;
    }
    for (uint32_t i = 0; i < message->count; i++)
        d->kernels[message->first + i] = workload->kernels[i].fn;
    tg_fault_add_module(workload);
    tg_link_reply(message, TG_PROCESS_LOADED, TG_OK, "%s", "");
}

/* The workload whose orchestration the launch names. If several match, because they have no
 * kernels, the newest. */
static const struct tg_workload *orchestrated_by(const struct device *d,
                                                 const struct tg_launch *launch)
{
    const struct tg_orchestration *o =
        TG_DEVICE_PTR(const struct tg_orchestration, launch->orchestration);
    for (const struct loaded *l = d->modules; l != NULL; l = l->next)
        if (l->first == o->first_kernel && l->workload->n_kernels == o->n_own_kernels)
            return l->workload;
    return NULL;
}

/* The first touch of memory costs time. Touches room for 100,000 scopes here, so that the cost does
 * not fall into the orchestrator's scopes while they are measured. */
static void warm_up(const struct tg_launch *launch)
{
    enum { MOST = 18 << 20 };
    const struct tg_orchestration *o =
        TG_DEVICE_PTR(const struct tg_orchestration, launch->orchestration);
    const struct tg_record_setup *setup = TG_DEVICE_PTR(const struct tg_record_setup, o->log);
    const struct tg_stream_head *head;
    uint64_t size;
    if (!(o->logs >> TG_LOG_SCOPES & 1))
        return;
    head = TG_DEVICE_PTR(const struct tg_stream_head,
                         setup->streams + TG_LOG_SCOPES * setup->stream_size);
    size = (uint64_t)head->n_buffers * head->per_buffer * head->record_size;
    tg_target_expect(TG_DEVICE_PTR(char, (uint64_t)(uintptr_t)head + head->buffers),
                     size < MOST ? size : MOST);
}

static void start_orchestrator(struct device *d)
{
    if (!d->has_orchestrator && !start_worker(d, tg_engine_orchestrator(d->engine)))
        abort(); /* the host reports it like any other crash */
    d->has_orchestrator = true;
    tg_add_acq_rel(&d->orchestrations, 1u); /* L1 */
    tg_target_wake(&d->orchestrations, 1);
}

static void launch(struct device *d, const struct tg_process_message *message)
{
    const struct tg_launch *launch = TG_DEVICE_PTR(const struct tg_launch, message->address);
    const struct tg_workload *workload = NULL;
    bool orchestrates;
    /* Pairs with the last thread's count-down in tg_engine_enter. The host told us that the thread
     * is out; the acquire orders its reads of the engine before our writes. */
    (void)tg_load_acquire(&d->engine->active);
    orchestrates = launch->orchestration != 0;
    if (orchestrates && (workload = orchestrated_by(d, launch)) == NULL)
        abort();
    if (orchestrates)
        warm_up(launch);
    tg_ears_close(&d->ears);
    tg_engine_prepare(d->engine, launch, d->kernels, workload ? workload->orchestrate : NULL,
                      workload == NULL             ? NULL
                      : workload->orchestrate_site ? workload->orchestrate_site
                                                   : workload->name);
    if (!tg_ears_open(&d->ears, d->engine, message->count))
        abort();
    tg_add_acq_rel(&d->launches, 1u); /* L1 */
    tg_target_wake(&d->launches, INT_MAX);
    if (orchestrates)
        start_orchestrator(d);
}

/* A range of pages behind the control area, which the device itself needs. */
static bool may_protect(const struct device *d, const struct tg_protection *piece)
{
    const uint64_t start = d->head->memory_start, end = d->head->memory_end;
    return piece->address % TG_PROTECTION_PAGE == 0 && piece->size % TG_PROTECTION_PAGE == 0 &&
           piece->address >= start && piece->address <= end && piece->size <= end - piece->address;
}

/* The host has written the list, and waits: no worker runs. */
static void protect(struct device *d, struct tg_process_message *message)
{
    static const int access[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE};
    const struct tg_protection *piece = TG_DEVICE_PTR(const struct tg_protection, message->address);
    /* Pairs with the last thread's count-down in tg_engine_enter, as in launch: the list may lie where a task
     * of the last run wrote. */
    (void)tg_load_acquire(&d->engine->active);
    for (uint64_t i = 0; i < message->size / sizeof *piece; i++) {
        if (!may_protect(d, &piece[i]) || piece[i].access > TG_ACCESS_WRITE) {
            tg_link_reply(message, TG_PROCESS_PROTECTED, TG_BAD_ARGUMENT,
                          "memory that cannot be protected");
            return;
        }
        if (mprotect(TG_DEVICE_PTR(void, piece[i].address), piece[i].size,
                     access[piece[i].access]) != 0) {
            tg_link_reply(message, TG_PROCESS_PROTECTED, TG_NO_MEMORY,
                          "cannot protect device memory: %s", strerror(errno));
            return;
        }
    }
    tg_link_reply(message, TG_PROCESS_PROTECTED, TG_OK, "%s", "");
}

static void obey(struct device *d, struct tg_process_message *message)
{
    switch (message->type) {
    case TG_PROCESS_LOAD:
        load(d, message);
        break;
    case TG_PROCESS_LAUNCH:
        launch(d, message);
        break;
    case TG_PROCESS_STOP:
        tg_engine_stop(d->engine);
        break;
    case TG_PROCESS_LOCATE:
        for (uint32_t i = 0; i < d->n_threads; i++)
            tg_fault_locate(d->threads[i]);
        tg_ears_locate(&d->ears);
        break;
    case TG_PROCESS_PROTECT:
        protect(d, message);
        break;
    default:
        _exit(TG_PROCESS_EXIT_BYE);
    }
}

int main(void)
{
    static struct device device;
    static struct tg_process_message message;
    int host = tg_link_open("taskglass-device", TG_PROCESS_CALLS_FD, &message);
    tg_link_enter_sandbox(TG_SANDBOX_FOR_DEVICE, &message);
    init(&device, &message);
    for (;;) {
        tg_link_listen(host, &message);
        obey(&device, &message);
    }
}
