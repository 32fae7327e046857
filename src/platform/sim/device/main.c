/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * The simulated device's process: the shell around the device program. One thread per worker
 * runs src/device; the main thread listens to the host. It ends at once when the host says so,
 * closes the socket or dies, whatever the workers are doing.
 */
#include "device/engine.h"
#include "platform/sim/device/fault.h"
#include "platform/sim/protocol.h"
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <taskglass/status.h>
#include <taskglass/workload.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

struct device {
    char *memory;
    struct tg_control_head *head;
    struct tg_engine *engine;
    tg_kernel_fn *kernels;
    uint32_t n_kernels;
    struct loaded *modules;
    uint32_t launches;       /* a futex: counted up to start the workers */
    uint32_t orchestrations; /* the same for the orchestrator */
    bool has_orchestrator;
};

/* Which orchestration goes with which kernels. */
struct loaded {
    struct loaded *next;
    const struct tg_workload *workload;
    uint32_t first; /* number of its first kernel */
};

struct thread_start {
    struct device *device;
    uint32_t worker;
};

static void reply(struct tg_sim_message *message, uint32_t type, tg_status status,
                  const char *format, ...)
{
    va_list args;
    message->type = type;
    message->status = status;
    va_start(args, format);
    vsnprintf(message->text, sizeof message->text, format, args);
    va_end(args);
    if (tg_sim_send(TG_SIM_SOCKET_FD, message) != 0)
        _exit(TG_SIM_EXIT_BYE); /* the host is gone */
}

/* ── workers ───────────────────────────────────────────────────────────────────────────── */

static void name_thread(const struct tg_engine *e, uint32_t worker)
{
    static const char *const part[] = {"aic", "aiv0", "aiv1"};
    char name[16];
    if (worker < e->n_lanes)
        snprintf(name, sizeof name, "tg-%s.%u", part[worker % TG_PARTS], worker / TG_PARTS);
    else if (worker < tg_engine_orchestrator(e))
        snprintf(name, sizeof name, "tg-sched.%u", worker - e->n_lanes);
    else
        snprintf(name, sizeof name, "tg-orchestrate");
    pthread_setname_np(pthread_self(), name);
}

static void wait_for_launch(uint32_t *launches, uint32_t seen)
{
    while (tg_load_acquire(launches) == seen) /* L1 */
        tg_target_wait(launches, seen);
}

static void report_end(const struct device *d)
{
    struct tg_sim_message done = {.type = TG_SIM_DONE};
    done.status = tg_load_acquire(&d->engine->phase) == TG_STOPPED;
    if (tg_sim_send(TG_SIM_SOCKET_FD, &done) != 0)
        _exit(TG_SIM_EXIT_BYE);
}

static void *worker_main(void *argument)
{
    struct thread_start start = *(struct thread_start *)argument;
    struct device *d = start.device;
    bool orchestrates = start.worker == tg_engine_orchestrator(d->engine);
    free(argument);
    name_thread(d->engine, start.worker);
    if (tg_fault_watch_thread(start.worker, d->engine->worker[start.worker].status) != 0)
        abort();
    for (uint32_t seen = 0;; seen++) {
        wait_for_launch(orchestrates ? &d->orchestrations : &d->launches, seen);
        if (tg_engine_enter(d->engine, start.worker))
            report_end(d);
    }
    return NULL;
}

static bool start_worker(struct device *d, uint32_t worker)
{
    struct thread_start *start = malloc(sizeof *start);
    pthread_t thread;
    if (start == NULL)
        return false;
    *start = (struct thread_start){d, worker};
    if (pthread_create(&thread, NULL, worker_main, start) != 0) {
        free(start);
        return false;
    }
    pthread_detach(thread);
    return true;
}

/* The orchestrator is started with the first graph that needs it. */
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

static void lay_out(struct device *d, const struct tg_sim_message *init)
{
    uint32_t n_blocks = (init->cores + TG_PARTS - 1) / TG_PARTS;
    uint32_t n_workers = TG_PARTS * n_blocks + init->schedulers + 1;
    uint64_t status = sizeof(struct tg_control_head);
    uint64_t engine = status + n_workers * sizeof(struct tg_worker_status);
    uint64_t end = engine + tg_engine_size(n_blocks, init->schedulers);
    d->head = (struct tg_control_head *)d->memory;
    d->engine = tg_engine_init(d->memory + engine, init->cores, init->schedulers,
                               (struct tg_worker_status *)(d->memory + status));
    d->engine->n_cpus = usable_cpus();
    *d->head = (struct tg_control_head){
        .magic = TG_CONTROL_MAGIC,
        .version = TG_CONTROL_VERSION,
        .head_size = sizeof *d->head,
        .base = (uint64_t)(uintptr_t)d->memory,
        .control_size = (end + 4095) / 4096 * 4096,
        .memory_size = init->size,
        .n_lanes = d->engine->n_lanes,
        .n_schedulers = init->schedulers,
        .n_cores = init->cores,
        .status = status,
        .status_size = sizeof(struct tg_worker_status),
    };
}

/* At the address the host has reserved, so that a device pointer means nothing there. */
static char *map_memory(const struct tg_sim_message *init)
{
    void *wanted = (void *)(uintptr_t)init->address;
    int protection = PROT_READ | PROT_WRITE;
    void *memory =
        mmap(wanted, init->size, protection, MAP_SHARED | MAP_FIXED_NOREPLACE, TG_SIM_MEMORY_FD, 0);
    if (memory == MAP_FAILED)
        memory = mmap(NULL, init->size, protection, MAP_SHARED, TG_SIM_MEMORY_FD, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void init(struct device *d, struct tg_sim_message *message)
{
    if (message->protocol != TG_SIM_PROTOCOL) {
        reply(message, TG_SIM_HELLO, TG_ABI_MISMATCH,
              "the device program speaks protocol %u, the library %u", TG_SIM_PROTOCOL,
              message->protocol);
        exit(TG_SIM_EXIT_USAGE);
    }
    d->memory = map_memory(message);
    if (d->memory == NULL) {
        reply(message, TG_SIM_HELLO, TG_NO_MEMORY, "cannot map %llu bytes of device memory: %s",
              (unsigned long long)message->size, strerror(errno));
        exit(TG_SIM_EXIT_USAGE);
    }
    lay_out(d, message);
    tg_fault_install(d->head);
    if (!start_workers(d)) {
        reply(message, TG_SIM_HELLO, TG_NO_MEMORY, "cannot start %u threads", d->engine->n_workers);
        exit(TG_SIM_EXIT_USAGE);
    }
    message->address = (uint64_t)(uintptr_t)d->memory;
    reply(message, TG_SIM_HELLO, TG_OK, "%s", "");
}

/* ── what the host asks for ────────────────────────────────────────────────────────────── */

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

static void load(struct device *d, struct tg_sim_message *message)
{
    void *module = dlopen(message->text, RTLD_NOW | RTLD_LOCAL);
    const struct tg_workload *workload = NULL;
    if (module == NULL) {
        reply(message, TG_SIM_LOADED, TG_NOT_FOUND, "the device cannot load it: %s", dlerror());
        return;
    }
    workload = dlsym(module, TG_WORKLOAD_SYMBOL);
    if (workload == NULL || workload->abi != TG_WORKLOAD_ABI ||
        workload->n_kernels != message->count) {
        reply(message, TG_SIM_LOADED, TG_ABI_MISMATCH, "the module changed while it was loaded");
        return;
    }
    if (!make_room(d, message->first + message->count) || !remember(d, workload, message->first)) {
        reply(message, TG_SIM_LOADED, TG_NO_MEMORY, "no memory for the kernel table");
        return;
    }
    for (uint32_t i = 0; i < message->count; i++)
        d->kernels[message->first + i] = workload->kernels[i].fn;
    reply(message, TG_SIM_LOADED, TG_OK, "%s", "");
}

/* The workload whose orchestration the launch names; the newest, where two have no kernels. */
static const struct tg_workload *orchestrated_by(const struct device *d,
                                                 const struct tg_launch *launch)
{
    const struct tg_orchestration *o =
        TG_DEVICE_PTR(const struct tg_orchestration, launch->orchestration);
    for (const struct loaded *l = d->modules; l != NULL; l = l->next)
        if (l->first == o->first_kernel && l->workload->n_kernels == o->n_kernels)
            return l->workload;
    return NULL;
}

/* Memory that nobody has touched yet costs whoever touches it first. That had better not be the
 * orchestrator while its scopes are being measured: room for 100,000 of them is made ready. */
static void warm_up(const struct tg_launch *launch)
{
    enum { MOST = 18 << 20, PAGE = 4096 };
    const struct tg_orchestration *o =
        TG_DEVICE_PTR(const struct tg_orchestration, launch->orchestration);
    const struct tg_record_setup *setup = TG_DEVICE_PTR(const struct tg_record_setup, o->log);
    const struct tg_stream_head *head;
    uint64_t first, size;
    if (!(o->logs >> TG_LOG_SCOPES & 1))
        return;
    head = TG_DEVICE_PTR(const struct tg_stream_head,
                         setup->streams + TG_LOG_SCOPES * setup->stream_size);
    first = ((uint64_t)(uintptr_t)head + head->buffers) / PAGE * PAGE;
    size = (uint64_t)head->n_buffers * head->per_buffer * head->record_size;
    /* Where the system does not know how, it is merely slower. */
    (void)madvise(TG_DEVICE_PTR(char, first), size < MOST ? size : MOST, MADV_POPULATE_WRITE);
}

static void start_orchestrator(struct device *d)
{
    if (!d->has_orchestrator && !start_worker(d, tg_engine_orchestrator(d->engine)))
        abort(); /* the host hears of it as of any other death */
    d->has_orchestrator = true;
    tg_add_acq_rel(&d->orchestrations, 1u); /* L1 */
    tg_target_wake(&d->orchestrations, 1);
}

static void launch(struct device *d, const struct tg_sim_message *message)
{
    const struct tg_launch *launch = TG_DEVICE_PTR(const struct tg_launch, message->address);
    const struct tg_workload *workload = NULL;
    bool orchestrates;
    /* Pairs with the last thread's count-down in tg_engine_enter: that it is out came to us by
     * way of the host, and its reads of the engine come before our writes. */
    (void)tg_load_acquire(&d->engine->active);
    orchestrates = launch->runtime != TG_RUNTIME_HOST_BUILD_GRAPH;
    if (orchestrates && (workload = orchestrated_by(d, launch)) == NULL)
        abort();
    if (orchestrates)
        warm_up(launch);
    tg_engine_prepare(d->engine, launch, d->kernels, workload ? workload->orchestrate : NULL,
                      workload == NULL             ? NULL
                      : workload->orchestrate_site ? workload->orchestrate_site
                                                   : workload->name);
    tg_add_acq_rel(&d->launches, 1u); /* L1 */
    tg_target_wake(&d->launches, INT_MAX);
    if (orchestrates)
        start_orchestrator(d);
}

static void obey(struct device *d, struct tg_sim_message *message)
{
    switch (message->type) {
    case TG_SIM_LOAD:
        load(d, message);
        break;
    case TG_SIM_LAUNCH:
        launch(d, message);
        break;
    case TG_SIM_STOP:
        tg_engine_stop(d->engine);
        break;
    default:
        _exit(TG_SIM_EXIT_BYE);
    }
}

/* Waits for a message; the host's death ends the process here. */
static void listen_to_host(int host, struct tg_sim_message *message)
{
    struct pollfd fds[] = {{.fd = TG_SIM_SOCKET_FD, .events = POLLIN},
                           {.fd = host, .events = POLLIN}};
    while (poll(fds, host >= 0 ? 2 : 1, -1) < 0 && errno == EINTR)
        ;
    if (host >= 0 && fds[1].revents != 0)
        _exit(TG_SIM_EXIT_BYE);
    if (tg_sim_receive(TG_SIM_SOCKET_FD, message, 0) != 1)
        _exit(TG_SIM_EXIT_BYE);
}

static int refuse(void)
{
    fputs("taskglass-device: a simulated device, started by the taskglass library; to run a graph "
          "use `taskglass run`\n",
          stderr);
    return TG_SIM_EXIT_USAGE;
}

int main(void)
{
    static struct device device;
    static struct tg_sim_message message;
    int host;
    /* Whatever the host's program had open without close-on-exec is none of ours. */
    syscall(SYS_close_range, TG_SIM_MEMORY_FD + 1, ~0U, 0);
    if (tg_sim_receive(TG_SIM_SOCKET_FD, &message, 0) != 1 || message.type != TG_SIM_INIT)
        return refuse();
    /* The socket ends when every copy of it is closed, a forked sibling's too; the host's pidfd
     * tells of the host alone. */
    host = (int)syscall(SYS_pidfd_open, message.host_pid, 0);
    if (getppid() != message.host_pid)
        return TG_SIM_EXIT_BYE;
    init(&device, &message);
    for (;;) {
        listen_to_host(host, &message);
        obey(&device, &message);
    }
}
