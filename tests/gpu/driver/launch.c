/* SPDX-License-Identifier: Apache-2.0 */
/* A block is one thread here, which does the work of all threads of the block. There is one launch
 * at a time. */
#define _GNU_SOURCE
#include "platform/cuda/gpu/caller.h"
#include "platform/cuda/gpu/entry.h"
#include "platform/cuda/gpu/stay.h"
#include "device/target.h"
#include "fake.h"

#include "device/feed.h"
#include <pthread.h>

/* The threads that drain the feeding ring: the watch, which is lane 0, and those that help it. One alone drains in
 * place; several copy the cells first, as the threads of a block do, because lane 0 may give the cells back while
 * others still look at them. */
static struct {
    uint32_t lanes;
    pthread_barrier_t meeting;
    uint64_t head; /* what lane 0 tells the others: drain up to there, or UINT64_MAX */
    uint32_t least;
    struct tg_feed_cell cell[TG_FEED_BATCH];
} crew = {.lanes = 1};
static __thread uint32_t crew_lane;

static void tg_drain_meet(void)
{
    if (crew.lanes > 1)
        pthread_barrier_wait(&crew.meeting);
}

static uint32_t tg_drain_least(uint32_t value)
{
    uint32_t least;
    if (crew.lanes == 1)
        return value;
    tg_drain_meet();
    if (crew_lane == 0)
        tg_store_relaxed(&crew.least, UINT32_MAX);
    tg_drain_meet();
    least = tg_load_relaxed(&crew.least);
    while (value < least && !tg_cas_relaxed(&crew.least, &least, value))
        ;
    tg_drain_meet();
    return tg_load_relaxed(&crew.least);
}

static const struct tg_feed_cell *tg_drain_fetch(const struct tg_feed_cell *cells, uint32_t n)
{
    if (crew.lanes == 1)
        return cells;
    tg_drain_meet();
    for (uint32_t i = crew_lane; i < n; i += crew.lanes)
        crew.cell[i] = cells[i];
    tg_drain_meet();
    return crew.cell;
}

#include "platform/cuda/gpu/drain.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

struct block {
    struct tg_cuda_launch launch;
    const struct fake_module *module;
    uint32_t number, n_blocks; /* number n_blocks is the watch */
};

static uint32_t running; /* number of running threads */
static __thread bool is_gpu;
static struct tg_cuda_caller caller;
static struct tg_cuda_stay stay;

/* ── failing ───────────────────────────────────────────────────────────────────────────── */

static struct sigaction before[NSIG]; /* the process's own */

/* As on a GPU, the context is lost and the process goes on. The kernel's other threads are left as
 * they are. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    if (!is_gpu) { /* a fault of the process, not of a kernel */
        if (before[number].sa_flags & SA_SIGINFO) {
            before[number].sa_sigaction(number, info, context);
            return;
        }
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    fake_lose(number == SIGSEGV || number == SIGBUS ? CUDA_ERROR_ILLEGAL_ADDRESS
                                                    : CUDA_ERROR_LAUNCH_FAILED);
    for (;;)
        pause();
}

static void catch_faults(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction was;
        sigaction(signals[i], &action, &was);
        if (was.sa_sigaction != on_fault)
            before[signals[i]] = was;
    }
}

static void use_own_stack(stack_t *stack)
{
    enum { ROOM = 64 * 1024 };
    stack->ss_sp = malloc(ROOM);
    stack->ss_size = ROOM;
    if (!stack->ss_sp || sigaltstack(stack, NULL) != 0)
        abort();
}

/* ── the entry points: src/platform/cuda/gpu/entry.cu ───────────────────────────────── */

static uint32_t usable_cpus(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

/* The GPU leaves the table of kernels and the queues to its crews. */
static void reset(const struct fake_module *module, const struct tg_cuda_launch *l)
{
    const struct tg_launch *launch = TG_DEVICE_PTR(const struct tg_launch, l->launch);
    const uint32_t *number = TG_DEVICE_PTR(const uint32_t, l->number);
    tg_kernel_fn *table = TG_DEVICE_PTR(tg_kernel_fn, l->table);
    struct tg_engine *e = TG_DEVICE_PTR(struct tg_engine, l->engine);
    tg_orchestrate_fn orchestrate = launch->orchestration != 0 && launch->done_words == 0
                                        ? module->orchestration[l->orchestration]
                                        : NULL;
    for (uint32_t i = 0; i < l->n_kernels; i++)
        table[i] = module->kernel[number[i]];
    if (l->is_new) {
        e = tg_engine_init(TG_DEVICE_PTR(void, l->engine), l->n_cores, l->n_schedulers,
                           TG_DEVICE_PTR(struct tg_worker_status, l->status));
        e->n_cpus = usable_cpus();
    }
    tg_cuda_caller_reset(&caller, TG_DEVICE_PTR(struct tg_cuda_calls, l->calls));
    tg_engine_reset(e, launch,
                    TG_DEVICE_PTR(tg_kernel_fn, l->table - l->first_kernel * sizeof(tg_kernel_fn)),
                    orchestrate, TG_DEVICE_PTR(const char, l->site));
}

static void watch(struct tg_engine *e, const struct tg_cuda_words *words)
{
    while (tg_engine_running(e)) {
        if (tg_load_acquire_host(&words->stop) != 0)
            tg_engine_stop(e);
        tg_cuda_hear(e, &caller);
        nanosleep(&(struct timespec){.tv_nsec = tg_comm_is_on(e) ? 20000 : 200000}, NULL);
    }
}

struct helper {
    struct tg_engine *e;
    struct tg_feed_ring *ring;
    uint32_t lane;
    pthread_t thread;
};

/* Helps to drain, until the run is over. */
static void *help(void *argument)
{
    const struct helper *h = argument;
    struct tg_drain d;
    is_gpu = true;
    crew_lane = h->lane;
    tg_drain_begin(&d, h->e, h->ring, h->lane, crew.lanes);
    for (;;) {
        uint64_t head;
        tg_drain_meet();
        head = crew.head;
        tg_drain_meet();
        if (head == UINT64_MAX)
            return NULL;
        tg_drain_up_to(&d, head);
    }
}

static void tell(uint64_t head)
{
    crew.head = head;
    tg_drain_meet();
    tg_drain_meet();
}

enum { MOST_LANES = 32 };

static void gather_crew(struct tg_engine *e, struct tg_feed_ring *ring, struct helper *helper)
{
    unsigned long long lanes = fake_number("TASKGLASS_FAKE_CUDA_LANES", 1);
    crew.lanes = lanes < 1 ? 1 : lanes > MOST_LANES ? MOST_LANES : (uint32_t)lanes;
    pthread_barrier_init(&crew.meeting, NULL, crew.lanes);
    for (uint32_t lane = 1; lane < crew.lanes; lane++) {
        helper[lane] = (struct helper){.e = e, .ring = ring, .lane = lane};
        if (pthread_create(&helper[lane].thread, NULL, help, &helper[lane]) != 0)
            abort();
    }
}

static void dismiss_crew(const struct helper *helper)
{
    tell(UINT64_MAX);
    for (uint32_t lane = 1; lane < crew.lanes; lane++)
        pthread_join(helper[lane].thread, NULL);
    pthread_barrier_destroy(&crew.meeting);
}

static void drain(struct tg_engine *e, const struct tg_cuda_words *words,
                  const struct tg_cuda_launch *l)
{
    enum { SPINS = 50, YIELDS = 200 };
    struct tg_feed_ring *ring = TG_DEVICE_PTR(struct tg_feed_ring, l->feed);
    struct helper helper[MOST_LANES];
    struct tg_drain d;
    uint32_t idle = 0;
    gather_crew(e, ring, helper);
    tg_drain_begin(&d, e, ring, 0, crew.lanes);
    while (tg_engine_running(e)) {
        uint64_t head = tg_load_acquire_host(&ring->head); /* K1 */
        if (tg_load_acquire_host(&words->stop) != 0)
            tg_engine_stop(e);
        tg_cuda_hear(e, &caller);
        if (head != d.at) {
            tell(head);
            tg_drain_up_to(&d, head);
            idle = 0;
        } else if (idle++ > YIELDS) {
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
        } else if (idle > SPINS) {
            sched_yield();
        }
    }
    dismiss_crew(helper);
    tg_store_release_host(&ring->over, (uint64_t)1);
}

/* As a watch that makes up its mind to leave and says so only when the bell has rung again. */
static bool is_deaf(const struct tg_cuda_words *words, uint32_t call)
{
    static unsigned heard;
    unsigned long long deaf = fake_number("TASKGLASS_FAKE_CUDA_DEAF", 0);
    if (deaf == 0 || ++heard % deaf != 0)
        return false;
    for (uint32_t next = call; tg_bell_listen(words, &next) == TG_BELL_SILENT;)
        tg_wait_nap();
    return true;
}

static bool listens(const struct tg_cuda_words *words, uint64_t linger_ns, uint32_t *call)
{
    uint64_t since = tg_target_now();
    enum tg_bell_heard heard;
    if (linger_ns > 0 && is_deaf(words, *call))
        return false;
    while ((heard = tg_bell_listen(words, call)) == TG_BELL_SILENT) {
        if (tg_target_now() - since >= linger_ns)
            return false;
        tg_wait_nap();
    }
    return heard == TG_BELL_RUN;
}

static void serve(const struct fake_module *module, const struct tg_cuda_launch *first)
{
    struct tg_cuda_words *words = TG_DEVICE_PTR(struct tg_cuda_words, first->words);
    struct tg_engine *e = TG_DEVICE_PTR(struct tg_engine, first->engine);
    uint32_t call = first->call;
    stay.launch = *first;
    do {
        stay.launch.launch = tg_load_acquire_host(&words->launch); /* B1 */
        reset(module, &stay.launch);
        tg_stay_open(&stay, call);
        tg_bell_begin(words, call);
        if (e->done_words)
            drain(e, words, first);
        else
            watch(e, words);
        tg_stay_settle(e);
        stay.launch.is_new = 0;
    } while (listens(words, first->linger_ns, &call));
    tg_bell_go(words, call);
    tg_stay_close(&stay, call);
}

static void lead(const struct block *block)
{
    const struct tg_cuda_launch *l = &block->launch;
    struct tg_engine *e = TG_DEVICE_PTR(struct tg_engine, l->engine);
    uint32_t n_lanes = block->n_blocks - 1 - l->n_schedulers, call = l->call;
    tg_stay_await(&stay.call, call);
    do {
        bool is_wanted = tg_cuda_is_wanted(e, block->number);
        if (block->number < n_lanes)
            tg_engine_fill(e, TG_DEVICE_PTR(const struct tg_launch, stay.launch.launch),
                           block->number, n_lanes);
        tg_stay_meet(&stay, block->n_blocks, call);
        if (is_wanted)
            tg_cuda_take_part(e, block->number, TG_DEVICE_PTR(struct tg_cuda_words, l->words),
                              call);
    } while (tg_stay_next(&stay, &call));
}

/* What Linux gives a thread that does not ask for another. */
enum { USUAL_SLACK_NS = 50000 };

static void *run_block(void *argument)
{
    struct block *block = argument;
    stack_t stack = {.ss_flags = 0}, none = {.ss_flags = SS_DISABLE};
    is_gpu = true;
    /* The process's main thread wants exact naps, and threads that it starts have what it has. With so many
     * of them a small machine would do nothing but wake them. */
    (void)prctl(PR_SET_TIMERSLACK, (unsigned long)USUAL_SLACK_NS);
    use_own_stack(&stack);
    if (block->number == block->n_blocks)
        serve(block->module, &block->launch);
    else
        lead(block);
    sigaltstack(&none, NULL);
    free(stack.ss_sp);
    free(block);
    __atomic_sub_fetch(&running, 1, __ATOMIC_ACQ_REL);
    return NULL;
}

static bool start_block(const struct fake_module *module, const struct tg_cuda_launch *launch,
                        uint32_t number, uint32_t n_blocks)
{
    struct block *block = malloc(sizeof *block);
    pthread_t thread;
    if (!block)
        return false;
    *block = (struct block){*launch, module, number, n_blocks};
    __atomic_add_fetch(&running, 1, __ATOMIC_ACQ_REL);
    if (pthread_create(&thread, NULL, run_block, block) != 0)
        return false;
    pthread_detach(thread);
    return true;
}

bool fake_is_idle(void)
{
    return __atomic_load_n(&running, __ATOMIC_ACQUIRE) == 0;
}

/* ── the calls ─────────────────────────────────────────────────────────────────────────── */

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t shared)
{
    FAKE_ENTER();
    *blocks = TG_CUDA_RESIDENT;
    return ((struct fake_function *)function)->entry == FAKE_MAIN && threads == TG_CUDA_BLOCK &&
                   shared == TG_CUDA_SHARED
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream stream,
                        void **arguments, void **extra)
{
    const struct fake_function *f = (const struct fake_function *)function;
    FAKE_ENTER();
    if (!stream || extra || x * y * z != 1 || by * bz != 1 || shared != 0 || bx > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fake_default_stream_is_done())
        return CUDA_ERROR_ILLEGAL_STATE;
    if (!fake_is_idle())
        return CUDA_ERROR_NOT_READY; /* it would have to wait, which no caller here intends */
    if (f->entry != FAKE_SIZE)
        return CUDA_ERROR_INVALID_VALUE;
    **(uint64_t **)arguments[0] =
        tg_engine_size(*(uint32_t *)arguments[1], *(uint32_t *)arguments[2]);
    return CUDA_SUCCESS;
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned x, unsigned y, unsigned z,
                                   unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                   CUstream stream, void **arguments)
{
    const struct fake_function *f = (const struct fake_function *)function;
    FAKE_ENTER();
    if (!stream || f->entry != FAKE_MAIN || bx * by * bz != TG_CUDA_BLOCK || y * z != 1 ||
        shared > f->shared)
        return CUDA_ERROR_INVALID_VALUE;
    if (x > TG_CUDA_RESIDENT * fake_multiprocessors())
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    if (!fake_default_stream_is_done())
        return CUDA_ERROR_ILLEGAL_STATE;
    if (!fake_is_idle())
        return CUDA_ERROR_NOT_READY; /* it would have to wait, which no caller here intends */
    catch_faults();
    for (uint32_t i = 0; i <= x; i++)
        if (!start_block(f->module, arguments[0], i, x))
            return CUDA_ERROR_OUT_OF_MEMORY;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    static int streams[16], n;
    FAKE_ENTER();
    *stream = (CUstream)&streams[n++ % 16];
    return flags == CU_STREAM_NON_BLOCKING ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuStreamQuery(CUstream stream)
{
    (void)stream;
    FAKE_ENTER();
    return fake_is_idle() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

/* Copies and small kernels finish inside the call that starts them, so there is nothing to wait
 * for. */
CUresult cuStreamSynchronize(CUstream stream)
{
    FAKE_ENTER();
    if (!stream)
        fake_default_stream_writes(false);
    return CUDA_SUCCESS;
}

void tg_target_post(struct tg_engine *e, const struct tg_comm_post *post)
{
    tg_cuda_post(e, &caller, post);
}
